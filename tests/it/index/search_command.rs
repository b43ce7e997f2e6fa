//! `snick index search` as a person types it: ripgrep's lines and exit codes, also while others write and die.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use expect_test::expect;

use super::git;
use crate::cli::Place;

/// Searches; returns the exit code and what is printed, or the first line of what is wrong.
fn search(place: &Place, arguments: &[&str]) -> (i32, String) {
    let output = place.command(&[&["index", "search"], arguments].concat()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let first = err.lines().next().unwrap_or_default();
    let shown = if first.is_empty() { out } else { format!("{out}{first}\n") };
    (output.status.code().unwrap(), shown)
}

/// A repository of two branches that differ in one file, and in whether there is another.
fn place() -> Place {
    let files = [
        (".gitignore", "*.o\n"),
        ("a.txt", "one\ntwo words\n"),
        ("src/b.rs", "fn two() {}\n"),
        ("src/c.o", "two\n"),
        (".hidden", "two\n"),
    ];
    let place = Place::new(&files);
    let top = place.workspace();
    git(&top, "init -q -b main");
    git(&top, "add .");
    git(&top, "commit -q -m 1");
    git(&top, "checkout -q -b side");
    std::fs::write(top.join("a.txt"), "one\nother\n").unwrap();
    std::fs::write(top.join("src/d.rs"), "fn two_more() {}\n").unwrap();
    git(&top, "add .");
    git(&top, "commit -q -m 2");
    git(&top, "checkout -q main");
    place
}

#[test]
fn exit_codes_are_those_of_ripgrep() {
    let place = place();
    let check = |arguments: &[&str], code: i32, shown: &str| {
        assert_eq!(search(&place, arguments), (code, shown.to_owned()), "{arguments:?}");
    };
    check(&["two"], 0, "a.txt:2:two words\nsrc/b.rs:1:fn two() {}\n");
    check(&["--literal", "two()"], 0, "src/b.rs:1:fn two() {}\n");
    check(&["--word", "TWO", "--ignore-case", "--glob", "*.txt"], 0, "a.txt:2:two words\n");
    check(&["--limit", "1", "two"], 0, "a.txt:2:two words\n");
    check(&["--no-ignore", "^two$"], 0, "src/c.o:1:two\n");
    check(&["--hidden", "^two$"], 0, ".hidden:1:two\n");
    check(&["no such text"], 1, "");
    assert_eq!(search(&place, &["two("]).0, 2);
    assert_eq!(search(&place, &["two", "nowhere"]).0, 2);
}

#[test]
fn json_lines_are_those_of_ripgrep() {
    let (code, text) = search(&place(), &["--json", "two", "src"]);
    assert_eq!(code, 0);
    let lines = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(stats) = line["data"].as_object_mut() {
            stats.retain(|name, _| !name.starts_with("elapsed") && name != "stats");
        }
        line.to_string() + "\n"
    });
    let expected = expect![[r#"
        {"type":"begin","data":{"path":{"text":"src/b.rs"}}}
        {"type":"match","data":{"path":{"text":"src/b.rs"},"lines":{"text":"fn two() {}\n"},"line_number":1,"absolute_offset":0,"submatches":[{"match":{"text":"two"},"start":3,"end":6}]}}
        {"type":"end","data":{"path":{"text":"src/b.rs"},"binary_offset":null}}
        {"data":{},"type":"summary"}
    "#]];
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn another_branch_and_back_give_what_stands_there() {
    let place = place();
    let top = place.workspace();
    let main = "a.txt:2:two words\nsrc/b.rs:1:fn two() {}\n";
    let side = "src/b.rs:1:fn two() {}\nsrc/d.rs:1:fn two_more() {}\n";
    place.command(&["index", "rebuild"]).output().unwrap();
    for _ in 0..3 {
        for (branch, shown) in [("side", side), ("main", main)] {
            git(&top, &format!("checkout -q {branch}"));
            assert_eq!(search(&place, &["two"]), (0, shown.to_owned()), "{branch}");
        }
        place.command(&["index", "rebuild"]).output().unwrap();
    }
}

/// Starts to build anew.
fn builder(place: &Place) -> Child {
    let mut command = place.command(&["index", "rebuild"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_builder_that_is_killed_and_two_at_once_change_no_answer() {
    let place = place();
    let right = (0, "a.txt:2:two words\nsrc/b.rs:1:fn two() {}\n".to_owned());
    for _ in 0..5 {
        let mut builder = builder(&place);
        // Its first line comes between the list of files and all else.
        let mut line = String::new();
        BufReader::new(builder.stderr.take().unwrap()).read_line(&mut line).unwrap();
        builder.kill().unwrap();
        builder.wait().unwrap();
        assert_eq!(search(&place, &["two"]), right);
    }
    let mut both = [builder(&place), builder(&place)];
    assert_eq!(search(&place, &["two"]), right);
    let mut n_done = 0;
    for builder in &mut both {
        n_done += usize::from(builder.wait().unwrap().success());
    }
    // One may find that the other is at it, and says so.
    assert!(n_done >= 1);
    assert_eq!(search(&place, &["two"]), right);
}
