//! What is cut, where, and what is said about it.

use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use snick::tools::clip::{self, Budget, Ends};

use super::World;

const SMALL: Budget = Budget { lines: 8, bytes: 80, line_characters: 20 };

#[track_caller]
fn check_ends(text: &str, expected: &Expect) {
    let mut ends = Ends::new(SMALL);
    ends.push(text);
    expected.assert_eq(&ends.finish("WHERE"));
}

#[track_caller]
fn check_head(text: &str, expected: &Expect) {
    let head = clip::head(text, SMALL);
    expected.assert_eq(&format!(
        "{}\n{} shown, {} left, {} cut",
        head.text, head.lines, head.lines_left, head.lines_cut
    ));
}

fn numbered(lines: u32) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect::<Vec<String>>().concat()
}

#[test]
fn what_fits_is_whole() {
    check_ends("", &expect![[""]]);
    check_ends(
        "a\nb",
        &expect![[r#"
        a
        b"#]],
    );
    check_ends(
        &numbered(8),
        &expect![[r#"
        line 1
        line 2
        line 3
        line 4
        line 5
        line 6
        line 7
        line 8
    "#]],
    );
    check_head(
        "a\nb",
        &expect![[r#"
        a
        b
        2 shown, 0 left, 0 cut"#]],
    );
}

#[test]
fn the_beginning_and_more_of_the_end_are_kept() {
    check_ends(
        &numbered(9),
        &expect![[r#"
            line 1
            line 2
            [... 1 line, 7 bytes left out here; WHERE ...]
            line 4
            line 5
            line 6
            line 7
            line 8
            line 9
        "#]],
    );
    check_ends(
        &numbered(5000),
        &expect![[r#"
            line 1
            line 2
            [... 4,992 lines, 48,819 bytes left out here; WHERE ...]
            line 4995
            line 4996
            line 4997
            line 4998
            line 4999
            line 5000
        "#]],
    );
    check_head(
        &numbered(9),
        &expect![[r#"
        line 1
        line 2
        line 3
        line 4
        line 5
        line 6
        line 7
        line 8

        8 shown, 1 left, 0 cut"#]],
    );
    check_head(
        &"0123456789\n".repeat(8),
        &expect![[r#"
        0123456789
        0123456789
        0123456789
        0123456789
        0123456789
        0123456789
        0123456789

        7 shown, 1 left, 0 cut"#]],
    );
}

#[test]
fn long_lines_are_cut_between_characters() {
    check_ends(
        "short\n\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\n",
        &expect![[r#"
            short
            éééééééééééé
        "#]],
    );
    check_ends(
        &format!("a\n{}\nb\n", "\u{4e2d}".repeat(25)),
        &expect![[r#"
            a
            [... 1 line, 98 bytes left out here; WHERE ...]
            b
        "#]],
    );
    check_ends(
        &"x".repeat(1_234_567),
        &expect![[r#"
        xxxxxxxxxxxxxxxxxxxx [... 1,234,547 more characters in this line]
        [1 line cut; WHERE]
    "#]],
    );
    check_head(
        &format!("a\n{}\nb\n", "\u{4e2d}".repeat(25)),
        &expect![[r#"
        a

        1 shown, 2 left, 0 cut"#]],
    );
    check_head(
        &"\u{1f980}".repeat(40),
        &expect![[r#"
        🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀 [... 20 more characters in this line]
        1 shown, 0 left, 1 cut"#]],
    );
}

#[test]
fn lines_longer_than_the_whole_budget_are_shown_in_part() {
    let wide = Budget { lines: 8, bytes: 40, line_characters: 1000 };
    let mut ends = Ends::new(wide);
    ends.push(&"\u{e9}".repeat(100));
    expect![[r#"
        ééééé
        [... 160 bytes left out here; WHERE ...]
        ééééééééééééééé"#]]
    .assert_eq(&ends.finish("WHERE"));
}

proptest! {
    #[test]
    fn pieces_do_not_matter_and_the_budget_holds(
        lines in proptest::collection::vec("[a\u{e9}\u{4e2d}]{0,30}", 0..40),
        cut in 1usize..9,
    ) {
        let text = lines.join("\n");
        let (mut whole, mut pieces) = (Ends::new(SMALL), Ends::new(SMALL));
        whole.push(&text);
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(cut) {
            pieces.push(&piece.iter().collect::<String>());
        }
        let is_whole = whole.is_whole();
        prop_assert_eq!(is_whole, pieces.is_whole());
        let whole = whole.finish("WHERE");
        prop_assert_eq!(&whole, &pieces.finish("WHERE"));
        if is_whole {
            prop_assert_eq!(&whole, &text);
        }
        prop_assert!(whole.len() <= SMALL.bytes + 120, "{}", whole);
        let head = clip::head(&text, SMALL);
        prop_assert_eq!(head.lines + head.lines_left, text.split_inclusive('\n').count());
    }
}

#[tokio::test]
async fn a_long_output_is_saved_whole_and_the_note_says_where() {
    let world = World::new();
    let text =
        world.bash("echo 'error: first cause'; seq -f %020g 1 100000; echo end; exit 5").await;
    let (head, tail) = text.split_once("[...").unwrap();
    let (note, tail) = tail.split_once("...]\n").unwrap();
    assert!(text.len() < 16_300 && head.len() > 3_900 && tail.len() > 11_900, "{}", text.len());
    assert!(
        head.starts_with("error: first cause\n00000000000000000001\n") && head.ends_with('\n'),
        "{head}"
    );
    assert!(
        tail.ends_with("00000000000000099999\n00000000000000100000\nend\n[exit code: 5]"),
        "{tail}"
    );
    expect![" 99,240 lines, 2,084,040 bytes left out here; all of it is in `FOLDER/outputs/0001-bash.txt`, for read_file and search "].assert_eq(note);
    let saved = std::fs::read_to_string(world.outputs().join("0001-bash.txt")).unwrap();
    let all: Vec<String> = (1..=100_000).map(|n| format!("{n:020}\n")).collect();
    let all = all.concat();
    assert_eq!(saved, format!("error: first cause\n{all}end\n"));
    assert_eq!(mode(&world.outputs()), 0o700);
    assert_eq!(mode(&world.outputs().join("0001-bash.txt")), 0o600);
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_long_line_is_cut_and_saved_too() {
    let world = World::new();
    let text = world.bash("head -c 3000000 /dev/zero | tr '\\0' z; echo; echo tail-mark").await;
    assert_eq!(text.matches('z').count(), 2000);
    expect![[r#"
         [... 2,998,000 more characters in this line]
        tail-mark
        [1 line cut; all of it is in `FOLDER/outputs/0001-bash.txt`, for read_file and search]
        [exit code: 0]"#]]
    .assert_eq(text.trim_start_matches('z'));
    let saved = std::fs::metadata(world.outputs().join("0001-bash.txt")).unwrap().len();
    assert_eq!(saved, 3_000_011);
}

#[tokio::test]
async fn saved_outputs_are_numbered_and_short_ones_are_not_saved() {
    let world = World::new();
    for command in ["seq 1 20000", "echo short", "seq 1 30000"] {
        world.bash(command).await;
    }
    let mut names: Vec<String> = std::fs::read_dir(world.outputs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["0001-bash.txt", "0002-bash.txt"]);
}

#[tokio::test]
async fn an_output_that_cannot_be_saved_is_said() {
    let mut world = World::new();
    std::fs::write(world.outputs(), "no folder").unwrap();
    let text = world.bash("seq 1 20000").await;
    expect!["[... 18,000 lines, 98,002 bytes left out here; the rest is lost: `FOLDER/outputs` could not be written: File exists (os error 17) ...]"].assert_eq(text.lines().find(|line| line.starts_with("[...")).unwrap());
    world.saves_outputs = false;
    let text = world.bash("seq 1 20000").await;
    expect!["[... 18,000 lines, 98,002 bytes left out here; this session saves no output; send it to a file to read all of it ...]"].assert_eq(text.lines().find(|line| line.starts_with("[...")).unwrap());
}

#[tokio::test]
async fn of_a_huge_output_the_file_keeps_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut spill = snick::sandbox::Spill::new(folder.path(), "bash");
    let block = [vec![b'x'; (1 << 20) - 1], vec![b'\n']].concat();
    spill.push(b"first\n").await;
    for _ in 0..80 {
        spill.push(&block).await;
    }
    spill.push(b"last\n").await;
    let spilled = spill.finish().await.unwrap();
    let saved = std::fs::read(&spilled.path).unwrap();
    assert!(saved.len() <= (64 << 20) + 100, "{}", saved.len());
    assert!(saved.starts_with(b"first\n") && saved.ends_with(b"x\nlast\n"));
    let note = format!("\n[{} bytes left out here]\n", spilled.left_out);
    assert!(memchr::memmem::find(&saved, note.as_bytes()).is_some());
    assert_eq!(saved.len() as u64 - note.len() as u64 + spilled.left_out, (80 << 20) + 11);
}
