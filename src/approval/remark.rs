//! What the model is told of a change that was not accepted just as it was proposed.

use similar::{ChangeTag, TextDiff};

use crate::change::{Change, Hunk};

/// Characters of a quoted line, and lines of a quoted edit.
const QUOTED: usize = 120;
const QUOTED_LINES: usize = 20;

/// Says what became of `hunk`; nothing of one that was accepted without a word.
pub fn decided(hunk: &Hunk, accepted: bool, comment: &str) -> Option<String> {
    let what = match (accepted, comment.is_empty()) {
        (true, true) => return None,
        (true, false) => "accepted and written",
        (false, _) => "refused by the person and not written",
    };
    let said = if comment.is_empty() { String::new() } else { format!("; they say: {comment}") };
    Some(format!("the part {} was {what}{said}", place(hunk)))
}

/// Says what the person's words are about; nothing where there are none.
pub fn comment(hunk: &Hunk, words: &str) -> Option<String> {
    (!words.is_empty()).then(|| format!("of the part {}: {words}", place(hunk)))
}

/// Says what the person edited in the text of `proposal` before it became `edited`.
pub fn edited(proposal: &Change, edited: &Change) -> String {
    let (Some(old), Some(new)) = (proposal.text(), edited.text()) else {
        return "the person replaced the text before it was written".to_owned();
    };
    let mut lines: Vec<String> = Vec::new();
    let mut left_out = 0;
    let compared = TextDiff::configure()
        .timeout(std::time::Duration::from_millis(200))
        .diff_lines(old.as_str(), new.as_str());
    for change in compared.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        if lines.len() < QUOTED_LINES {
            lines.push(format!("{sign}{}", quoted(change.value())));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        lines.push(format!("... {left_out} more lines"));
    }
    let lines = lines.join("\n");
    format!("the person edited your text before it was written; from yours to theirs:\n{lines}")
}

/// Names a hunk by what the model knows: lines of the file before the change, and their text.
fn place(hunk: &Hunk) -> String {
    let Some((first, last)) = hunk.runs.first().zip(hunk.runs.last()) else {
        return "without lines".to_owned();
    };
    let end = last.old_start + last.old.len();
    let lines = match end.saturating_sub(first.old_start) {
        0 => format!("before line {}", first.old_start),
        1 => format!("at line {}", first.old_start),
        _ => format!("at lines {}-{}", first.old_start, end - 1),
    };
    let old = hunk.runs.iter().flat_map(|run| &run.old).next().map(|line| ('-', line));
    let new = hunk.runs.iter().flat_map(|run| &run.new).next().map(|line| ('+', line));
    let quotes: Vec<String> = old
        .into_iter()
        .chain(new)
        .map(|(sign, line)| format!("`{sign}{}`", quoted(&String::from_utf8_lossy(line))))
        .collect();
    format!("{lines} ({})", quotes.join(" "))
}

fn quoted(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}
