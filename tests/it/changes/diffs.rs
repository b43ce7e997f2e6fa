//! What a change looks like: hunks, diffs, excerpts.

use std::fmt::Write as _;
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
    Change {
        at,
        before: before.map(image),
        after: after.map(Arc::from),
        mode: None,
        notes: Vec::new(),
    }
}

/// Draws a diff with all its model knows: numbers, signs, emphasis in brackets, notes.
#[track_caller]
fn check(before: &str, after: &str, expected: &Expect) {
    let diff = diff::diff(&change(Some(before.as_bytes()), Some(after.as_bytes())));
    let mut told = format!("{:?} +{} -{}\n", diff.kind, diff.added, diff.removed);
    for note in &diff.notes {
        writeln!(told, "note: {note}").unwrap();
    }
    for hunk in &diff.hunks {
        writeln!(told, "@ {} {}", hunk.old_start, hunk.new_start).unwrap();
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
        &expect![[r"
            Edited +2 -1
            @ 1 1
                1 +0
             1  2  1
             2  3  2
             3  4  3
             4  5  4
             5    -let a = [one](x);
                6 +let a = [two](x);
             6  7  6
             7  8  7
             8  9  8
        "]],
    );
}

#[test]
fn distant_changes_are_hunks_of_their_own() {
    check(
        "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
        "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
        &expect![[r"
        Edited +2 -2
        @ 1 1
         1    -a
            1 +A
         2  2  1
         3  3  2
         4  4  3
        @ 6 6
         6  6  5
         7  7  6
         8  8  7
         9    -b
            9 +B
    "]],
    );
}

#[test]
fn line_ends_are_told_once_and_shown_only_where_nothing_else_changes() {
    check(
        "a\r\nb\r\nc\r\n",
        "a\r\nB\r\nc\r\n",
        &expect![[r"
        Edited +1 -1
        note: line ends: CRLF
        @ 1 1
         1  1  a
         2    -b
            2 +B
         3  3  c
    "]],
    );
    check(
        "a\r\nb\r\n",
        "a\nb\n",
        &expect![[r"
        Edited +2 -2
        note: line ends change from CRLF to LF
        @ 1 1
         1    -a[\r]
         2    -b[\r]
            1 +a
            2 +b
    "]],
    );
}

#[test]
fn a_final_line_end_that_comes_is_seen() {
    check(
        "a\nb",
        "a\nb\n",
        &expect![[r"
        Edited +1 -1
        @ 1 1
         1  1  a
         2    -b (no newline)
            2 +b
    "]],
    );
}

#[test]
fn a_unified_diff_holds_nothing_a_terminal_acts_on() {
    let before = b"k \x1b[2J\x07\nv=1\nx\n";
    let after = "k \x1b[2J\x07\nv=2 \u{202e}\nx\n";
    expect![[r"
        --- a/a.txt
        +++ b/a.txt
        @@ -1,3 +1,3 @@
         k <U+001B>[2J<U+0007>
        -v=1
        +v=2 <U+202E>
         x
    "]]
    .assert_eq(&diff::unified(&change(Some(before), Some(after.as_bytes()))));
    expect![[r"
        --- /dev/null
        +++ b/a.txt
        @@ -0,0 +1,1 @@
        +new
    "]]
    .assert_eq(&diff::unified(&change(None, Some(b"new\n"))));
    expect![[r"
        --- a/a.txt
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -old
        \ No newline at end of file
    "]]
    .assert_eq(&diff::unified(&change(Some(b"old"), None)));
    expect![[r"
        --- a/a.txt
        +++ b/a.txt
        [not shown as text: 2 bytes before, 3 bytes after]
    "]]
    .assert_eq(&diff::unified(&change(Some(b"\x00\xff"), Some(b"\x00\xff\xfe"))));
}

#[test]
fn utf16_is_shown_as_text_line_by_line() {
    let utf16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xFF, 0xFE].into_iter().chain(units).collect()
    };
    let (before, after) = (utf16("a\r\n\u{a0a}b\r\n"), utf16("a\r\n\u{a0a}c\r\n"));
    expect![[r"
        --- a/a.txt
        +++ b/a.txt
        @@ -1,2 +1,2 @@
         a
        -ਊb
        +ਊc
    "]]
    .assert_eq(&diff::unified(&change(Some(&before), Some(&after))));
}

#[test]
fn an_excerpt_shows_new_lines_and_beyond_some_only_ranges() {
    let excerpt = |before: &str, after: &str| {
        diff::outcome_excerpt(&change(Some(before.as_bytes()), Some(after.as_bytes())))
    };
    expect![[r"
        Changed `a.txt`: +2 -1 lines
        lines 2-7 are now:
        2
        3
        X
        Y
        5
        6"]]
    .assert_eq(&excerpt("1\n2\n3\n4\n5\n6\n", "1\n2\n3\nX\nY\n5\n6\n"));
    expect![[r"
        Changed `a.txt`: +0 -2 lines
        lines 2-4 are now:
        2
        3
        6"]]
    .assert_eq(&excerpt("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n6\n"));
    let numbers: Vec<String> = (0..100).map(|number: u8| number.to_string()).collect();
    let long = numbers.join("\n") + "\n";
    expect![[r"
        Changed `a.txt`: +19 -19 lines
        lines 4-8 are now:
        3
        4
        five
        6
        7
        lines 14-18 are now:
        13
        14
        1five
        16
        17
        lines 24-28 are now:
        23
        24
        2five
        26
        27
        lines 34-38 are now:
        33
        34
        3five
        36
        37
        changed, not shown here: lines 44-62, 64-68, 74-78, 84-88, 94-98"]]
    .assert_eq(&excerpt(&long, &long.replace('5', "five")));
    let wide = "x".repeat(100_000);
    let told = excerpt(&format!("{wide}1\n"), &format!("{wide}2\n"));
    assert!(told.len() < 1000 && told.ends_with('2'), "{} bytes", told.len());
    expect!["Created `a.txt`: 2 lines"]
        .assert_eq(&diff::outcome_excerpt(&change(None, Some(b"a\nb\n"))));
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
    let lines: Vec<String> = shown.lines.iter().map(|line| format!("|{}", drawn(line))).collect();
    expect![[r"
        | 1  1  a
        | 2  2  1
        | 3  3  2
        | 4    -b
        |    4 +B
    "]]
    .assert_eq(&lines.concat());
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
        (0..20_000).map(|index| format!("{}\n", index * step % 20_011)).collect()
    };
    let (before, after) = (lines(7).concat(), lines(11).concat());
    let change = change(Some(before.as_bytes()), Some(after.as_bytes()));
    let all = vec![true; change.hunks().len()];
    assert_eq!(change.with_hunks(&all).after, change.after);
    assert!(diff::unified(&change).len() < 300_000);
}

#[test]
fn a_nul_hides_nothing_of_a_change() {
    check(
        "one\n",
        "\0\nrm -rf\n",
        &expect![[r#"
        Edited +2 -1
        @ 1 1
         1    -one
            1 +\0
            2 +rm -rf
    "#]],
    );
}
