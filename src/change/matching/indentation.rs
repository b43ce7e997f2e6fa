//! Text whose lines are indented otherwise than the file's, by one rule for all of them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Found;
use super::Wanted;
use super::align::Origin;
use super::error::Refusal;
use super::search;
use super::source::Source;
use super::splice;
use super::{is_blank, trimmed};

/// Word characters that one line must have, so that a lone bracket is never enough.
const WORD_CHARACTERS: usize = 3;

/// Widths of one level of spaces that are looked for.
const WIDTHS: [usize; 4] = [2, 3, 4, 8];

/// How the file's indentation follows from the one that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// The file's lines have this before the sent indentation.
    Add(String),
    /// The sent lines have this before the file's indentation.
    Remove(String),
    /// Each level is written with another unit.
    Units { sent: Unit, file: Unit },
}

/// What one level of indentation is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Tab,
    Spaces(usize),
}

/// The indentation of one line as it was sent and as the file has it.
type Pair<'a> = (&'a str, &'a str);

/// Finds the lines of an edit where they stand with another indentation.
pub(super) fn find(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    let Some(lines) = wanted.whole_lines() else { return Ok(None) };
    if !lines.iter().any(|line| says_something(line)) {
        return Ok(None);
    }
    let Some(at) = search::only_lines(source, lines, wanted.old.ends_with('\n'), trimmed)? else {
        return Ok(None);
    };
    if wanted.joins_lines() {
        return Err(Refusal::joins_lines());
    }
    let file = source.text()[at.clone()].split('\n');
    let pairs: Vec<Pair<'_>> = lines
        .iter()
        .zip(file)
        .filter(|(line, _)| !is_blank(line))
        .map(|(sent, file)| (indentation(sent), indentation(file)))
        .collect();
    let rules = rules(&pairs);
    if rules.is_empty() {
        return Err(Refusal::Doubtful(
            "the lines stand there with another indentation, and no one rule leads from that of \
             old_string to the file's"
                .to_owned(),
        ));
    }
    let fitted = Fitted { pairs, rules };
    let text = splice::lines(source, &at, wanted, |line, _: Origin| fitted.line(line))?;
    Ok(Some(Found { at, text }))
}

/// Every rule that leads from the sent indentation to the file's, for all lines.
struct Fitted<'a> {
    pairs: Vec<Pair<'a>>,
    rules: Vec<Rule>,
}

impl Fitted<'_> {
    /// Returns a new line with the file's kind of indentation, where that is certain.
    fn line<'l>(&self, line: &'l str) -> Result<Cow<'l, str>, Refusal> {
        if is_blank(line) {
            return Ok(Cow::Borrowed(line));
        }
        let sent = indentation(line);
        let seen = self.pairs.iter().find(|pair| pair.0 == sent).map(|pair| pair.1.to_owned());
        let mut ways = match seen {
            Some(file) => vec![file],
            None => self.rules.iter().filter_map(|rule| rule.apply(sent, &self.pairs)).collect(),
        };
        ways.dedup();
        match &ways[..] {
            [way] => Ok(Cow::Owned(way.clone() + &line[sent.len()..])),
            _ => Err(Refusal::Doubtful(format!(
                "the lines stand there with another indentation, and that of the new line `{}` \
                 does not follow from it",
                trimmed(line).chars().take(60).collect::<String>()
            ))),
        }
    }
}

fn rules(pairs: &[Pair<'_>]) -> Vec<Rule> {
    let Some((sent, file)) = pairs.first() else { return Vec::new() };
    let mut rules = Vec::new();
    if let Some(prefix) = file.strip_suffix(sent) {
        rules.push(Rule::Add(prefix.to_owned()));
    }
    if let Some(prefix) = sent.strip_suffix(file) {
        rules.push(Rule::Remove(prefix.to_owned()));
    }
    let units = || std::iter::once(Unit::Tab).chain(WIDTHS.into_iter().map(Unit::Spaces));
    for sent in units() {
        let others = units().filter(|&file| file != sent);
        rules.extend(others.map(|file| Rule::Units { sent, file }));
    }
    let one_to_one = is_one_to_one(pairs);
    rules.retain(|rule| {
        let shift = !matches!(rule, Rule::Units { .. });
        (shift || one_to_one) && pairs.iter().all(|pair| rule.explains(*pair))
    });
    rules
}

fn is_one_to_one(pairs: &[Pair<'_>]) -> bool {
    let mut there = HashMap::new();
    let mut back = HashMap::new();
    pairs.iter().all(|&(sent, file)| {
        *there.entry(sent).or_insert(file) == file && *back.entry(file).or_insert(sent) == sent
    })
}

impl Rule {
    /// Whether the rule leads from the sent indentation of a line to the file's.
    fn explains(&self, (sent, file): Pair<'_>) -> bool {
        match self {
            Rule::Add(prefix) => file.strip_prefix(prefix.as_str()) == Some(sent),
            Rule::Remove(prefix) => sent.strip_prefix(prefix.as_str()) == Some(file),
            Rule::Units { sent: from, file: to } => {
                let levels = match (from, to) {
                    (Unit::Tab, _) => levels(sent, *from),
                    (Unit::Spaces(_), _) => levels(file, *to),
                };
                levels.is_some_and(|(levels, rest)| {
                    let whole = rest == 0 || *from == Unit::Tab || *to == Unit::Tab;
                    whole && sent == from.times(levels, rest) && file == to.times(levels, rest)
                })
            }
        }
    }

    /// Returns the file's form of an indentation that no line of the place has.
    fn apply(&self, sent: &str, pairs: &[Pair<'_>]) -> Option<String> {
        match self {
            Rule::Add(prefix) => {
                // A kind of blank that neither the file nor the sent lines use here would be mixed in.
                let known = |blank: char| {
                    prefix.contains(blank) || pairs.iter().any(|(sent, _)| sent.contains(blank))
                };
                sent.chars().all(known).then(|| format!("{prefix}{sent}"))
            }
            Rule::Remove(prefix) => sent.strip_prefix(prefix.as_str()).map(str::to_owned),
            Rule::Units { sent: from, file: to } => {
                let (levels, rest) = levels(sent, *from)?;
                // Spaces that fill no level may be alignment; only a tab tells where levels end.
                (rest == 0 || *from == Unit::Tab).then(|| to.times(levels, rest))
            }
        }
    }
}

impl Unit {
    fn times(self, levels: usize, rest: usize) -> String {
        match self {
            Unit::Tab => "\t".repeat(levels) + &" ".repeat(rest),
            Unit::Spaces(width) => " ".repeat(levels * width + rest),
        }
    }
}

/// Returns the levels of an indentation and the spaces after them; `None` for another kind.
fn levels(indentation: &str, unit: Unit) -> Option<(usize, usize)> {
    let spaces = indentation.trim_start_matches('\t');
    let tabs = indentation.len() - spaces.len();
    if spaces.contains('\t') {
        return None;
    }
    match unit {
        Unit::Tab => Some((tabs, spaces.len())),
        Unit::Spaces(width) => (tabs == 0).then_some((spaces.len() / width, spaces.len() % width)),
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn says_something(line: &str) -> bool {
    line.chars().filter(|&c| c.is_alphanumeric() || c == '_').count() >= WORD_CHARACTERS
}
