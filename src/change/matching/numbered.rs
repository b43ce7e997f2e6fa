//! Text that was copied together with line numbers, as `cat -n` and `grep -n` print them.

use std::borrow::Cow;

use super::Found;
use super::Wanted;
use super::error::Refusal;
use super::source::Source;
use super::splice;

/// What stands between a number and its line.
const SEPARATORS: [&str; 7] = ["\t", "\u{2192}", " | ", "| ", "|", ": ", ":"];

/// A line taken apart: its number and the rest.
type Numbered<'a> = (usize, &'a str);

/// Finds text whose every line has a number before it, and stands at exactly those lines.
pub(super) fn find(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    let (old_lines, terminated) = whole(&wanted.old_lines);
    let file = source.lines();
    for separator in SEPARATORS {
        let Some(numbered) = stripped(old_lines, separator) else { continue };
        let first = numbered[0].0;
        let runs_on = numbered.iter().zip(first..).all(|(line, number)| line.0 == number);
        let standing = file.get(first.wrapping_sub(1)..first.wrapping_sub(1) + numbered.len());
        let stands = standing
            .is_some_and(|lines| lines.iter().zip(&numbered).all(|(line, (_, text))| line == text));
        if !runs_on || !stands {
            continue;
        }
        let start: usize = file[..first - 1].iter().map(|line| line.len() + 1).sum();
        let length: usize = numbered.iter().map(|(_, text)| text.len() + 1).sum();
        let end = start + length - usize::from(!terminated);
        if end > source.text().len() {
            continue;
        }
        let new = bare_new(wanted, separator)?;
        let old = source.text()[start..end].to_owned();
        let text = splice::exact(source, &(start..end), &Wanted::new(&old, &new));
        return Ok(Some(Found { at: start..end, text }));
    }
    Ok(None)
}

/// Whether every line begins with a number and the same separator.
pub(super) fn looks_numbered(lines: &[&str]) -> bool {
    let (lines, _) = whole(lines);
    SEPARATORS.iter().any(|separator| stripped(lines, separator).is_some())
}

/// Returns the lines without the empty one after a final line end, and whether there was one.
fn whole<'s, 'a>(lines: &'s [&'a str]) -> (&'s [&'a str], bool) {
    match lines {
        [lines @ .., ""] if !lines.is_empty() => (lines, true),
        lines => (lines, false),
    }
}

/// Returns `new_string` without numbers, if all its lines have one, or as it is, if none has.
fn bare_new<'a>(wanted: &Wanted<'a>, separator: &str) -> Result<Cow<'a, str>, Refusal> {
    let (lines, terminated) = whole(&wanted.new_lines);
    if let Some(numbered) = stripped(lines, separator) {
        let texts: Vec<&str> = numbered.iter().map(|(_, text)| *text).collect();
        let last_end = if terminated { "\n" } else { "" };
        return Ok(Cow::Owned(texts.join("\n") + last_end));
    }
    if lines.iter().any(|line| number(line, separator).is_some()) {
        return Err(Refusal::Doubtful(
            "some lines of new_string have a line number before them and some have none; send \
             both strings without line numbers"
                .to_owned(),
        ));
    }
    Ok(Cow::Borrowed(wanted.new))
}

fn stripped<'a>(lines: &[&'a str], separator: &str) -> Option<Vec<Numbered<'a>>> {
    lines.iter().map(|line| number(line, separator)).collect()
}

/// Takes the number off `line`. Before an empty line, the separator's blanks may be missing.
fn number<'a>(line: &'a str, separator: &str) -> Option<Numbered<'a>> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line[..digits].parse().ok().filter(|&number| number > 0)?;
    let rest = &line[digits..];
    match rest.strip_prefix(separator) {
        Some(text) => Some((number, text)),
        None => (rest == separator.trim_end()).then_some((number, "")),
    }
}
