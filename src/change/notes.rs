//! What the lines of a change cannot show: line ends, encodings, sizes.

use super::Change;
use super::compare;
use super::compare::Compared;
use crate::workspace::text;
use crate::workspace::text::{Encoding, LineEnd};

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// Too few lines to tell.
    None,
    Lf,
    CrLf,
    Mixed,
}

impl LineEnds {
    pub(super) fn of(content: &str) -> LineEnds {
        let mut ends = LineEnds::None;
        for line in text::lines(content) {
            ends = match (ends, line.end) {
                (ends, LineEnd::None) => ends,
                (LineEnds::None | LineEnds::Lf, LineEnd::Lf) => LineEnds::Lf,
                (LineEnds::None | LineEnds::CrLf, LineEnd::CrLf) => LineEnds::CrLf,
                _ => return LineEnds::Mixed,
            };
        }
        ends
    }

    fn name(self) -> &'static str {
        match self {
            LineEnds::None => "none",
            LineEnds::Lf => "LF",
            LineEnds::CrLf => "CRLF",
            LineEnds::Mixed => "LF and CRLF, mixed",
        }
    }
}

/// Returns remarks on `change` that belong above its lines.
pub(super) fn about(change: &Change) -> Vec<String> {
    let (before, after) = (change.before_bytes(), change.after.as_deref());
    if !Compared::is_text(before, after) {
        let size = |bytes: Option<&[u8]>| {
            bytes.map_or("absent".to_owned(), |bytes| format!("{} bytes", bytes.len()))
        };
        return vec![format!("not shown as text: {} before, {} after", size(before), size(after))];
    }
    let facts = |bytes: &[u8]| {
        let text = compare::decoded(bytes)?;
        let ends = LineEnds::of(&text.content);
        Some((if text.content.is_empty() { None } else { Some(text.encoding) }, ends))
    };
    let unknown = (None, LineEnds::None);
    let (old_encoding, old_ends) = before.and_then(facts).unwrap_or(unknown);
    let (new_encoding, new_ends) = after.and_then(facts).unwrap_or(unknown);
    let mut notes = Vec::new();
    match (old_encoding, new_encoding) {
        (Some(old), Some(new)) if old.name() != new.name() => {
            notes.push(format!("encoding changes from {} to {}", old.name(), new.name()));
        }
        (Some(encoding), _) | (None, Some(encoding)) if encoding != Encoding::Utf8 => {
            notes.push(format!("encoding: {}", encoding.name()));
        }
        _ => {}
    }
    match (old_ends, new_ends) {
        (LineEnds::None, LineEnds::None | LineEnds::Lf) | (LineEnds::Lf, LineEnds::None) => {}
        (LineEnds::None, ends) | (ends, LineEnds::None) => {
            notes.push(format!("line ends: {}", ends.name()));
        }
        (old, new) if old != new => {
            notes.push(format!("line ends change from {} to {}", old.name(), new.name()));
        }
        (LineEnds::Lf, _) => {}
        (ends, _) => notes.push(format!("line ends: {}", ends.name())),
    }
    notes
}
