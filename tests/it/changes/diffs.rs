//! What a change looks like: hunks, diffs, excerpts.

use std::sync::Arc;

use expect_test::{Expect, expect};
use snick::change::diff::{DiffLine, LineTag};
use snick::change::{Change, diff};
use snick::message::ContentHash;
use snick::workspace::{FileImage, Options, Workspace};

pub(super) fn change(before: Option<&[u8]>, after: Option<&[u8]>) -> Change {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { start: folder.path().to_owned(), ..Options::default() };
    let at = Workspace::open(options).unwrap().locate("a.txt").unwrap();
    let image = |bytes: &[u8]| FileImage {
        bytes: bytes.into(),
        hash: ContentHash::of(bytes),
        mode: 0o644,
        links: 1,
    };
    Change { at, before: before.map(image), after: after.map(Arc::from), notes: Vec::new() }
}

/// Draws a diff with all its model knows: numbers, signs, emphasis in brackets, notes.
#[track_caller]
fn check(before: &str, after: &str, expected: &Expect) {
    let diff = diff::diff(&change(Some(before.as_bytes()), Some(after.as_bytes())));
    let mut told = format!("{:?} +{} -{}\n", diff.kind, diff.added, diff.removed);
    for note in &diff.notes {
        told += &format!("note: {note}\n");
    }
    for hunk in &diff.hunks {
        told += &format!("@ {} {}\n", hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            told += &drawn(line);
        }
    }
    expected.assert_eq(&told);
}

fn drawn(line: &DiffLine) -> String {
    let number = |number: Option<usize>| number.map_or(String::new(), |number| number.to_string());
    let sign = match line.tag {
        LineTag::Same => ' ',
        LineTag::Removed => '-',
        LineTag::Added => '+',
    };
    let mut text = line.text.clone();
    for range in line.emphasis.iter().rev() {
        text.insert(range.end, ']');
        text.insert(range.start, '[');
    }
    let end = if line.no_newline { " (no newline)" } else { "" };
    let text = text.escape_debug();
    format!("{:>2} {:>2} {sign}{text}{end}\n", number(line.old), number(line.new))
}

#[test]
fn changed_words_are_marked_and_lines_numbered_on_both_sides() {
    check(
        "1\n2\n3\n4\nlet a = one(x);\n6\n7\n8\n9\n",
        "0\n1\n2\n3\n4\nlet a = two(x);\n6\n7\n8\n9\n",
        &expect![""],
    );
}

#[test]
fn distant_changes_are_hunks_of_their_own() {
    check("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", &expect![""]);
}

#[test]
fn line_ends_are_told_once_and_shown_only_where_nothing_else_changes() {
    check("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", &expect![""]);
    check("a\r\nb\r\n", "a\nb\n", &expect![""]);
}

#[test]
fn a_final_line_end_that_comes_is_seen() {
    check("a\nb", "a\nb\n", &expect![""]);
}

#[test]
fn a_unified_diff_holds_nothing_a_terminal_acts_on() {
    let before = b"k \x1b[2J\x07\nv=1\nx\n";
    let after = "k \x1b[2J\x07\nv=2 \u{202e}\nx\n";
    expect![""].assert_eq(&diff::unified(&change(Some(before), Some(after.as_bytes()))));
    expect![""].assert_eq(&diff::unified(&change(None, Some(b"new\n"))));
    expect![""].assert_eq(&diff::unified(&change(Some(b"old"), None)));
    expect![""].assert_eq(&diff::unified(&change(Some(b"\x00\x01"), Some(b"\x00\x02\x03"))));
}

#[test]
fn utf16_is_shown_as_text_line_by_line() {
    let utf16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xFF, 0xFE].into_iter().chain(units).collect()
    };
    let (before, after) = (utf16("a\r\n\u{a0a}b\r\n"), utf16("a\r\n\u{a0a}c\r\n"));
    expect![""].assert_eq(&diff::unified(&change(Some(&before), Some(&after))));
}

#[test]
fn an_excerpt_shows_new_lines_and_beyond_some_only_ranges() {
    let excerpt = |before: &str, after: &str| {
        diff::outcome_excerpt(&change(Some(before.as_bytes()), Some(after.as_bytes())))
    };
    expect![""].assert_eq(&excerpt("1\n2\n3\n4\n5\n6\n", "1\n2\n3\nX\nY\n5\n6\n"));
    expect![""].assert_eq(&excerpt("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n6\n"));
    let long: String = (0..100).map(|number| format!("{number}\n")).collect();
    expect![""].assert_eq(&excerpt(&long, &long.replace('5', "five")));
    let wide = "x".repeat(100_000);
    let told = excerpt(&format!("{wide}1\n"), &format!("{wide}2\n"));
    assert!(told.len() < 1000 && told.ends_with('2'), "{} bytes", told.len());
    expect![""].assert_eq(&diff::outcome_excerpt(&change(None, Some(b"a\nb\n"))));
}

#[test]
fn a_hunk_splits_into_its_runs() {
    let change = change(Some(b"a\n1\n2\nb\n"), Some(b"A\n1\n2\nB\n"));
    let hunks = change.hunks();
    assert_eq!(hunks.len(), 1);
    let parts = hunks[0].clone().split();
    let only = |index: usize| change.with_only(&parts[index..=index]).after.unwrap().to_vec();
    assert_eq!((only(0), only(1)), (b"A\n1\n2\nb\n".to_vec(), b"a\n1\n2\nB\n".to_vec()));
    let shown = diff::hunk(&change, &parts[1]);
    let lines: Vec<String> = shown.lines.iter().map(drawn).collect();
    expect![""].assert_eq(&lines.concat());
}

#[test]
fn creation_and_deletion_are_one_piece() {
    let created = change(None, Some(b"a\n"));
    assert_eq!(created.with_hunks(&[true]), created);
    assert_eq!(created.with_hunks(&[false]).after, None);
    let deleted = change(Some(b"a\n"), None);
    assert_eq!(deleted.with_hunks(&[true]), deleted);
    assert_eq!(deleted.with_hunks(&[false]).after.as_deref(), Some(&b"a\n"[..]));
    assert_eq!(change(None, Some(b"")).hunks().len(), 1);
}

#[test]
fn an_amended_text_keeps_the_encoding() {
    let text = [&b"\xEF\xBB\xBF"[..], b"a\r\n"].concat();
    let amended = change(None, Some(&text)).amended("b\r\n").unwrap();
    assert_eq!(amended.after.as_deref(), Some(&b"\xEF\xBB\xBFb\r\n"[..]));
    let error = change(Some(b"a"), None).amended("b").unwrap_err();
    assert_eq!(error.to_string(), "`a.txt` is deleted by this change; there is no text to edit");
}

#[test]
fn a_rewritten_file_is_compared_in_bounded_time() {
    let lines = |step: usize| -> Vec<String> {
        (0..60_000).map(|index| format!("{}\n", index * step % 60_007)).collect()
    };
    let (before, after) = (lines(7).concat(), lines(11).concat());
    let change = change(Some(before.as_bytes()), Some(after.as_bytes()));
    let all = vec![true; change.hunks().len()];
    assert_eq!(change.with_hunks(&all).after, change.after);
    assert!(diff::unified(&change).len() < 300_000);
}
