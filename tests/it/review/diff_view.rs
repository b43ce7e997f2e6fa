//! Diffs as they are drawn: everything visible, everything bounded, nothing missing in silence.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::*;
use snick::change::diff::DiffHunk;
use snick::change::diff::DiffKind;
use snick::change::diff::DiffLine;
use snick::change::diff::FileDiff;
use snick::change::diff::LineTag;
use snick::frontend::diff_view;
use snick::frontend::diff_view::ViewOptions;
use snick::frontend::style::Line;

use super::plain;
use super::symbolic;

/// Makes one line of a hunk: a tag, then the text; `‹›` mark the emphasis, a final `∎` says that
/// there is no newline.
fn line(written: &str, old: &mut usize, new: &mut usize) -> DiffLine {
    let tag = match &written[..1] {
        "-" => LineTag::Removed,
        "+" => LineTag::Added,
        _ => LineTag::Same,
    };
    let (mut text, mut emphasis, mut start) = (String::new(), Vec::new(), 0);
    for character in written[1..].chars() {
        match character {
            '‹' => start = text.len(),
            '›' => emphasis.push(start..text.len()),
            '∎' => {}
            other => text.push(other),
        }
    }
    let number = |next: &mut usize, is_in: bool| {
        *next += usize::from(is_in);
        is_in.then_some(*next - 1)
    };
    let old = number(old, tag != LineTag::Added);
    let new = number(new, tag != LineTag::Removed);
    DiffLine { tag, old, new, text, emphasis, no_newline: written.ends_with('∎') }
}

/// Makes a hunk that begins at line `start` on both sides.
fn hunk(start: usize, lines: &[&str]) -> DiffHunk {
    let (mut old, mut new) = (start, start);
    let lines = lines.iter().map(|written| line(written, &mut old, &mut new)).collect();
    DiffHunk { old_start: start, new_start: start, lines }
}

fn diff(path: &str, hunks: Vec<DiffHunk>) -> FileDiff {
    let count = |tag: LineTag| {
        hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.tag == tag).count()
    };
    let (added, removed) = (count(LineTag::Added), count(LineTag::Removed));
    let (path, kind, notes) = (path.to_owned(), DiffKind::Edited, Vec::new());
    FileDiff { path, kind, notes, added, removed, hunks }
}

const PLAIN: ViewOptions = ViewOptions { width: None, colour: false, folded: false };
const FOLDED: ViewOptions = ViewOptions { width: Some(80), colour: false, folded: true };
const FULL: ViewOptions = ViewOptions { width: Some(80), colour: false, folded: false };

#[track_caller]
fn check(diff: &FileDiff, expected: &Expect) {
    expected.assert_eq(&plain(&diff_view::render(diff, PLAIN)));
}

#[test]
fn an_edit_shows_both_numbers_and_its_sign_first() {
    check(
        &diff(
            "src/a.rs",
            vec![
                hunk(9, &[" fn a() {", "-    ‹old›();", "+    ‹new›();", "+    more();", " }"]),
                hunk(120, &["-gone", " kept"]),
            ],
        ),
        &expect![[r#"
            edit src/a.rs  +2 −2
                9   9 │ fn a() {
            -  10     │     old();
            +      10 │     new();
            +      11 │     more();
               11  12 │ }
                     ⋮
            - 120     │ gone
              121 120 │ kept
        "#]],
    );
}

#[test]
fn a_new_file_and_a_deleted_one_say_so() {
    let new = FileDiff { kind: DiffKind::Created, ..diff("b", vec![hunk(1, &["+one", "+two"])]) };
    check(
        &new,
        &expect![[r#"
            new file b  +2
            + 1 │ one
            + 2 │ two
        "#]],
    );
    let deleted = FileDiff { kind: DiffKind::Deleted, ..diff("b", vec![hunk(1, &["-one"])]) };
    check(
        &deleted,
        &expect![[r#"
            delete b  −1
            - 1 │ one
        "#]],
    );
    let empty = FileDiff { kind: DiffKind::Created, ..diff("b", Vec::new()) };
    check(
        &empty,
        &expect![[r#"
        new file b
          an empty file
    "#]],
    );
}

#[test]
fn what_lines_cannot_show_is_said_above_them() {
    let notes = vec!["line ends: CRLF".to_owned(), "matched without\x1b[2J blanks".to_owned()];
    let edit = FileDiff { notes, ..diff("c\u{202e}.txt", vec![hunk(1, &["-a", "+b"])]) };
    check(
        &edit,
        &expect![[r#"
            edit c<U+202E>.txt  +1 −1
              line ends: CRLF
              matched without␛[2J blanks
            - 1   │ a
            +   1 │ b
        "#]],
    );
}

#[test]
fn terminal_commands_and_reordering_characters_are_seen_and_do_nothing() {
    check(
        &diff(
            "e.txt",
            vec![hunk(1, &[" k \x1b[2J\x1b]52;c;eA==\x07", "-v=1", "+v=2 \u{202e}x\u{2066}"])],
        ),
        &expect![[r#"
            edit e.txt  +1 −1
              warning: added lines hold characters that act or hide: <U+202E> <U+2066>
              1 1 │ k ␛[2J␛]52;c;eA==␇
            - 2   │ v=1
            +   2 │ v=2 <U+202E>x<U+2066>
        "#]],
    );
}

#[test]
fn tabs_and_trailing_blanks_of_changed_lines_are_seen() {
    check(
        &diff("w.py", vec![hunk(1, &[" if\ta:", "-\tb()", "+    b()  ", "+\t ", "+"])]),
        &expect![[r#"
            edit w.py  +3 −1
              1 1 │ if  a:
            - 2   │ →   b()
            +   2 │     b()··
            +   3 │ →   ·
            +   4 │ 
        "#]],
    );
}

#[test]
fn a_missing_final_newline_is_said() {
    check(
        &diff("n.txt", vec![hunk(1, &[" a", "-b∎", "+b"])]),
        &expect![[r#"
            edit n.txt  +1 −1
              1 1 │ a
            - 2   │ b
                  │ \ no newline at end of file
            +   2 │ b
        "#]],
    );
}

#[test]
fn a_carriage_return_that_changes_is_seen() {
    check(
        &diff("n.txt", vec![hunk(1, &["-b\r", "+b"])]),
        &expect![[r#"
            edit n.txt  +1 −1
            - 1   │ b␍
            +   1 │ b
        "#]],
    );
}

#[test]
fn colours_tell_signs_parts_and_syntax() {
    let edit = diff(
        "a.rs",
        vec![hunk(
            9,
            &[
                " /* open",
                " let x */ let y = 'a';",
                "-let ‹b› = \"s\"; // c",
                "+let ‹long› = 1.5; ",
            ],
        )],
    );
    let options = ViewOptions { colour: true, ..FULL };
    expect![[r#"
        {faint:edit} {accent+bold:a.rs}{added:  +1} {removed:−1}
        {faint:   9  9 │ }{comment:/* open}
        {faint:  10 10 │ }{comment:let x */} {keyword:let} y = {literal:'a'};
        {removed+on-removed:-}{faint: 11    │ }{keyword+on-removed:let}{on-removed: }{on-removedpart:b}{on-removed: = }{literal+on-removed:"s"}{on-removed:; }{comment+on-removed:// c}
        {added+on-added:+}{faint:    11 │ }{keyword+on-added:let}{on-added: }{on-addedpart:long}{on-added: = }{number+on-added:1.5}{on-added:;·}
    "#]].assert_eq(&symbolic(&diff_view::render(&edit, options)));
}

#[test]
fn a_long_line_is_wrapped_beside_its_numbers() {
    let edit = diff("a", vec![hunk(9, &["+one two three four five six seven eight nine ten"])]);
    let options = ViewOptions { width: Some(30), ..FULL };
    expect![[r#"
        edit a  +1
        +  9 │ one two three four five
             ┊  six seven eight nine t
             ┊ en
    "#]]
    .assert_eq(&plain(&diff_view::render(&edit, options)));
    let options = ViewOptions { width: Some(12), ..FULL };
    expect![[r#"
        edit a  +1
        +│ one two t
         ┊ hree four
         ┊  five six
         ┊  seven ei
         ┊ ght nine 
         ┊ ten
    "#]]
    .assert_eq(&plain(&diff_view::render(&edit, options)));
}

#[test]
fn a_huge_line_shows_the_place_that_changes() {
    let body = "0123456789".repeat(30_000);
    let (old, new) = (format!("-{body}‹END1›"), format!("+{body}‹END2›"));
    check(
        &diff("l.min.js", vec![hunk(1, &[&old, &new])]),
        &expect![[r#"
            edit l.min.js  +1 −1
            - 1   │ 01234567890123456789012345678901234567890123456789012345678901234567890123456789… 299,840 characters …01234567890123456789012345678901234567890123456789012345678901234567890123456789END1
            +   1 │ 01234567890123456789012345678901234567890123456789012345678901234567890123456789… 299,840 characters …01234567890123456789012345678901234567890123456789012345678901234567890123456789END2
        "#]],
    );
}

#[test]
fn a_huge_line_that_was_not_compared_shows_the_place_too() {
    let body = "0123456789".repeat(3_000);
    let (old, new) = (format!("-{body}{body}"), format!("+{body}é inserted{body}"));
    check(
        &diff("l.min.js", vec![hunk(1, &[&old, &new])]),
        &expect![[r#"
            edit l.min.js  +1 −1
            - 1   │ 01234567890123456789012345678901234567890123456789012345678901234567890123456789… 29,840 characters …0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789… 29,720 characters …01234567890123456789012345678901234567890123456789012345678901234567890123456789
            +   1 │ 01234567890123456789012345678901234567890123456789012345678901234567890123456789… 29,840 characters …01234567890123456789012345678901234567890123456789012345678901234567890123456789é inserted0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789… 29,730 characters …01234567890123456789012345678901234567890123456789012345678901234567890123456789
        "#]],
    );
}

#[test]
fn a_huge_new_line_shows_both_ends() {
    let line = format!("+begin{}end", "漢".repeat(100_000));
    check(
        &diff("l.min.js", vec![hunk(1, &[&line])]),
        &expect![[r#"
            edit l.min.js  +1
            + 1 │ begin漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢… 99,848 characters …漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢end
        "#]],
    );
}

fn many(n_hunks: usize, each: usize) -> FileDiff {
    let lines = ["-old", "+new"].repeat(each / 2);
    diff("m.txt", (0..n_hunks).map(|index| hunk(1 + index * 100, &lines)).collect())
}

fn ends(lines: &[Line]) -> String {
    let drawn = plain(lines);
    let (first, last) = (drawn.lines().next().unwrap(), drawn.lines().last().unwrap());
    format!("{first}\n{} lines, {} bytes\n{last}\n", drawn.lines().count(), drawn.len())
}

#[test]
fn a_large_diff_is_folded_and_says_what_is_missing() {
    expect![[r#"
        edit m.txt  +1,000 −1,000
        207 lines, 4153 bytes
        … 1,800 more lines in 45 hunks; press f for all
    "#]]
    .assert_eq(&ends(&diff_view::render(&many(50, 40), FOLDED)));
    expect![[r#"
        edit m.txt  +1,000 −1,000
        2050 lines, 40763 bytes
        +      4920 │ new
    "#]]
    .assert_eq(&ends(&diff_view::render(&many(50, 40), FULL)));
}

#[test]
fn without_a_screen_the_whole_is_bounded() {
    expect![[r#"
        edit m.txt  +20,000 −20,000
        2342 lines, 51542 bytes
        … 37,660 more lines in 1 hunk
    "#]]
    .assert_eq(&ends(&diff_view::render(&many(1, 40_000), PLAIN)));
    let wide = format!("+{}", "x".repeat(900));
    let lines = vec![wide.as_str(); 500];
    expect![[r#"
        edit x  +500
        56 lines, 49236 bytes
        … 446 more lines in 1 hunk
    "#]]
    .assert_eq(&ends(&diff_view::render(&diff("x", vec![hunk(1, &lines)]), PLAIN)));
}

proptest! {
    /// No row is wider than the screen, signs in the first column are as many as changed lines,
    /// and nothing that acts is drawn.
    #[test]
    fn rows_fit_and_signs_count(
        lines in prop::collection::vec("[-+ ](\\PC|[\\t\\x00-\\x1f\u{202e}]){0,60}", 1..8),
        columns in 8..100u16,
    ) {
        let written: Vec<String> = lines.iter().map(|line| line.replace(['‹', '›', '∎'], "")).collect();
        let written: Vec<&str> = written.iter().map(String::as_str).collect();
        let edit = diff("x.rs", vec![hunk(5, &written)]);
        for options in [PLAIN, ViewOptions { width: Some(columns), colour: true, folded: true }] {
            let rows = diff_view::render(&edit, options);
            let drawn = plain(&rows);
            let signs = drawn.lines().filter(|row| row.starts_with(['+', '-'])).count();
            prop_assert_eq!(signs, edit.added + edit.removed);
            let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            prop_assert!(!drawn.contains(acts), "{:?}", drawn);
            if let Some(columns) = options.width {
                for row in &rows {
                    prop_assert!(row.width() <= usize::from(columns), "{:?}", row);
                }
            }
        }
    }
}
