//! Remarks that stand for text left out: a model means them, a file must not get them.

/// What such a remark says.
const PHRASES: [&str; 14] = [
    "rest of",
    "unchanged",
    "existing code",
    "existing content",
    "remaining",
    "previous code",
    "same as before",
    "as before",
    "omitted",
    "no changes",
    "truncated",
    "other code",
    "code here",
    "content here",
];

/// What a line may begin or end with around the remark.
const SIGNS: [char; 15] =
    ['/', '#', '-', '*', ';', '<', '>', '!', '%', '{', '}', '(', ')', '[', ']'];

/// Returns the first line of `text` that only says that something is left out, and is not in
/// `known`, where it would be text like any other.
pub(super) fn find<'a>(text: &'a str, known: &str) -> Option<&'a str> {
    let lines = text.lines().filter(|line| is_placeholder(line) || is_own_notice(line));
    lines.map(str::trim).find(|line| !known.contains(line))
}

fn is_placeholder(line: &str) -> bool {
    let outer = |c: char| c.is_whitespace() || SIGNS.contains(&c);
    let bare = line.trim_matches(outer);
    let is_remark = bare.len() < line.trim().len();
    let dots = |text: &str| text.starts_with("...") || text.starts_with('\u{2026}');
    let ends = bare.ends_with("...") || bare.ends_with('\u{2026}');
    let words = bare.trim_matches(['.', '\u{2026}', ' ']).to_lowercase();
    let short = words.split_whitespace().count() <= 8;
    (dots(bare) || (is_remark && ends))
        && short
        && PHRASES.iter().any(|phrase| words.contains(phrase))
}

/// Whether the line is a note that `read_file` puts under a part of a file.
fn is_own_notice(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("[lines ") && line.contains(" of ") && line.contains("offset=")
}
