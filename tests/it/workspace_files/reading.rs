//! `read_file` as the model uses it.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::tools::ReadFile;

use super::{Tree, odd};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot")]
fn check(tree: &Tree, arguments: Value, expected: Expect) {
    expected.assert_eq(&tree.read(&arguments));
}

fn numbered(lines: usize) -> String {
    (1..=lines).fold(String::new(), |mut text, line| {
        writeln!(text, "line-{line:05}").unwrap();
        text
    })
}

#[test]
fn a_small_file_comes_as_it_is() {
    let tree = Tree::new().file("a.txt", "one\n\ttwo\n\n").file("b.txt", "no end");
    check(
        &tree,
        json!({ "path": "a.txt" }),
        expect![[r"
        one
        	two

    "]],
    );
    check(&tree, json!({ "path": "b.txt", "limit": 99 }), expect!["no end"]);
}

#[test]
fn a_page_says_what_it_leaves_out() {
    let tree = Tree::new().file("p.txt", numbered(12)).file("b.txt", "one\ntwo");
    check(
        &tree,
        json!({ "path": "p.txt", "offset": 10, "limit": 2 }),
        expect![[r"
        line-00010
        line-00011
        [lines 10-11 of 12; go on with offset=12]"]],
    );
    check(
        &tree,
        json!({ "path": "p.txt", "offset": 11 }),
        expect![[r"
        line-00011
        line-00012
        [lines 11-12 of 12]"]],
    );
    check(
        &tree,
        json!({ "path": "p.txt", "offset": 0, "limit": 1 }),
        expect![[r"
        line-00001
        [lines 1-1 of 12; go on with offset=2]"]],
    );
    check(
        &tree,
        json!({ "path": "b.txt", "offset": 2 }),
        expect![[r"
        two
        [lines 2-2 of 2]"]],
    );
    check(
        &tree,
        json!({ "path": "p.txt", "offset": 100 }),
        expect!["[`p.txt` has 12 lines; offset 100 is past its end]"],
    );
}

#[test]
fn a_long_file_is_shown_up_to_the_budget() {
    let tree =
        Tree::new().file("lines.txt", "x\n".repeat(2_500)).file("bytes.txt", numbered(3_700));
    let last = |arguments: &Value| tree.read(arguments).lines().last().unwrap().to_owned();
    assert_eq!(
        last(&json!({ "path": "lines.txt" })),
        "[lines 1-2,000 of 2,500; go on with offset=2001]"
    );
    assert_eq!(
        last(&json!({ "path": "lines.txt", "offset": 2001 })),
        "[lines 2,001-2,500 of 2,500]"
    );
    let wide = format!("{}\n", "y".repeat(99)).repeat(700);
    let tree = tree.file("wide.txt", wide);
    let text = tree.read(&json!({ "path": "wide.txt" }));
    assert!(
        text.ends_with("[lines 1-400 of 700; go on with offset=401]"),
        "{}",
        text.lines().last().unwrap()
    );
}

#[test]
fn a_huge_line_is_cut_and_the_way_to_the_rest_is_told() {
    let tree = Tree::new().file("my file.json", format!("{}\nsecond\n", "[0,é],".repeat(50_000)));
    let text = tree.read(&json!({ "path": "my file.json" }));
    assert_eq!(
        text.lines().next().unwrap().chars().count(),
        2_000 + " …[298,000 more characters]".chars().count()
    );
    let rest = text.split_once('\n').unwrap().1;
    expect![[r"
        second
        [cut after 2,000 characters: line 1 (300,000 characters); to see more use bash, as in: sed -n 1p 'my file.json' | cut -c 2001-8000]"]].assert_eq(rest);
}

#[test]
fn a_file_too_large_to_hold_is_paged_all_the_same() {
    let line = format!("{}\n", "z".repeat(999));
    let mut content = line.repeat(9_000);
    content.push_str(&"é".repeat(60_000));
    content.push_str("\r\nlast\r\n");
    let tree = Tree::new().file("big.log", &content);
    check(
        &tree,
        json!({ "path": "big.log", "offset": 9002 }),
        expect![[r"
        last
        [lines 9,002-9,002 of 9,002]"]],
    );
    let text = tree.read(&json!({ "path": "big.log", "offset": 9001 }));
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.starts_with("éé") && first.ends_with("é …[58,000 more characters]"), "{first}");
    expect![[r"
        last
        [lines 9,001-9,002 of 9,002]
        [cut after 2,000 characters: line 9,001 (60,000 characters); to see more use bash, as in: sed -n 9001p big.log | cut -c 2001-8000]"]].assert_eq(rest);
    let text = tree.read(&json!({ "path": "big.log", "limit": 2 }));
    assert_eq!(text, format!("{line}{line}[lines 1-2 of 9,002; go on with offset=3]"));
}

#[test]
fn other_encodings_are_decoded_with_a_remark() {
    let tree = Tree::new()
        .file("bom.txt", b"\xEF\xBB\xBFfirst\nsecond\n")
        .file("dos.txt", "a\r\nb\r\n")
        .file("wide.txt", b"\xFF\xFEh\0i\0\r\0\n\0")
        .file("latin.txt", b"na\xEFve plan\nsecond\n")
        .file("nul.txt", format!("{}\0end\n", "a\n".repeat(5_000)));
    check(
        &tree,
        json!({ "path": "bom.txt" }),
        expect![[r"
        first
        second
    "]],
    );
    check(
        &tree,
        json!({ "path": "dos.txt" }),
        expect![[r"
        a
        b
    "]],
    );
    check(
        &tree,
        json!({ "path": "wide.txt" }),
        expect![[r"
        hi
        [the file is UTF-16LE; edits keep it so]"]],
    );
    check(
        &tree,
        json!({ "path": "latin.txt" }),
        expect![[r"
            naïve plan
            second
            [the file is not UTF-8, probably windows-1252: characters beyond ASCII may be shown wrongly; edits keep their bytes]"]],
    );
    check(
        &tree,
        json!({ "path": "nul.txt", "offset": 5001 }),
        expect![[r"
        ␀end
        [lines 5,001-5,001 of 5,001]
        [NUL characters are shown as ␀]"]],
    );
}

#[test]
fn what_has_no_text_is_described() {
    let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xE0\x08";
    let jpeg = b"\xFF\xD8\xFF\xE0\0\x04ab\xFF\xC0\0\x11\x08\0\x20\0\x10\x03\0";
    let tree = Tree::new()
        .file("e.txt", "")
        .file("a.png", png)
        .file("a.jpg", jpeg)
        .file("p.pdf", "%PDF-1.4 all ascii")
        .file("x.bin", b"\x01\0\x02")
        .file("w.txt", b"\xFF\xFEa");
    check(&tree, json!({ "path": "e.txt" }), expect!["[`e.txt` is empty]"]);
    check(
        &tree,
        json!({ "path": "a.png" }),
        expect!["[`a.png` is a PNG image, 640 x 480 pixels, 25 bytes; it is not shown]"],
    );
    check(
        &tree,
        json!({ "path": "a.jpg" }),
        expect!["[`a.jpg` is a JPEG image, 16 x 32 pixels, 19 bytes; it is not shown]"],
    );
    check(
        &tree,
        json!({ "path": "p.pdf" }),
        expect!["[`p.pdf` is a PDF document, 18 bytes; it is not shown]"],
    );
    check(
        &tree,
        json!({ "path": "x.bin" }),
        expect!["[`x.bin` is a binary file, 3 bytes; it is not shown]"],
    );
    check(
        &tree,
        json!({ "path": "w.txt" }),
        expect!["[`w.txt` cannot be shown: it is broken UTF-16LE; 3 bytes]"],
    );
}

#[test]
fn folders_are_listed_and_special_files_refused() {
    let tree = Tree::new().file("d/a.txt", "abc").fifo("pipe").link("a", "b").link("b", "a");
    check(
        &tree,
        json!({ "path": "d" }),
        expect![[r"
        d/a.txt (3 B)
    "]],
    );
    check(
        &tree,
        json!({ "path": "pipe" }),
        expect!["error: `pipe` is not a regular file (a FIFO, socket or device)"],
    );
    check(
        &tree,
        json!({ "path": "/dev/zero" }),
        expect!["error: `/dev/zero` is not a regular file (a FIFO, socket or device)"],
    );
    check(
        &tree,
        json!({ "path": "a" }),
        expect!["error: `a` leads through a loop of symbolic links"],
    );
}

#[test]
fn a_missing_file_is_answered_with_near_names() {
    let tree = Tree::new()
        .file("src/parser.rs", "")
        .file("src/printer.rs", "")
        .file("README.md", "")
        .file("Abscha\u{308}tzung.txt", "")
        .file("lib/deep/only.rs", "")
        .file("config.yaml", "")
        .file(odd(b"caf\xE9.txt"), "");
    check(
        &tree,
        json!({ "path": "src/parsr.rs" }),
        expect!["error: `src/parsr.rs` does not exist; did you mean `src/parser.rs`?"],
    );
    check(
        &tree,
        json!({ "path": "readme.MD" }),
        expect!["error: `readme.MD` does not exist; did you mean `README.md`?"],
    );
    // Not missing: it is there under the other form of its name.
    let text = tree.read(&json!({ "path": "Absch\u{e4}tzung.txt" }));
    assert_eq!(text, "[`Abscha\u{308}tzung.txt` is empty]");
    check(
        &tree,
        json!({ "path": "src/only.rs" }),
        expect!["error: `src/only.rs` does not exist; did you mean `lib/deep/only.rs`?"],
    );
    check(
        &tree,
        json!({ "path": "lib/dep/only.rs" }),
        expect![
            "error: `lib/dep/only.rs` does not exist; there is no folder `lib/dep`; did you mean `lib/deep/only.rs`?"
        ],
    );
    check(
        &tree,
        json!({ "path": "config.yml" }),
        expect!["error: `config.yml` does not exist; did you mean `config.yaml`?"],
    );
    check(
        &tree,
        json!({ "path": "café.txt" }),
        expect![[r#"error: `café.txt` does not exist; did you mean `"caf\xe9.txt"`?"#]],
    );
    check(&tree, json!({ "path": r#""caf\xe9.txt""# }), expect!["[`caf�.txt` is empty]"]);
    check(
        &tree,
        json!({ "path": "README.md/x" }),
        expect!["error: `README.md/x` does not exist; there is no folder `README.md`"],
    );
    check(&tree, json!({ "path": "zebra.txt" }), expect!["error: `zebra.txt` does not exist"]);
}

#[test]
fn odd_names_are_read_as_written() {
    for name in [
        "my file (1).txt",
        "-rf",
        "two\nlines.txt",
        "[id].tsx",
        "$HOME `id`;'\".txt",
        "cafe\u{301}.txt",
    ] {
        let tree = Tree::new().file(name, "a\n");
        assert_eq!(tree.read(&json!({ "path": name })), "a\n", "{name:?}");
    }
}

#[test]
fn what_snickignore_shuts_away_is_not_read() {
    let tree = Tree::repository()
        .file(".snickignore", "secret/\n*.key\n")
        .file("secret/a.txt", "hidden")
        .file("deep/x.key", "hidden");
    check(
        &tree,
        json!({ "path": "secret/a.txt" }),
        expect!["error: `secret/a.txt` is shut away by `.snickignore`: no tool uses it"],
    );
    check(
        &tree,
        json!({ "path": "deep/x.key" }),
        expect!["error: `deep/x.key` is shut away by `.snickignore`: no tool uses it"],
    );
}

#[test]
fn the_outcome_notes_the_hash_of_the_whole_file() {
    let tree = Tree::new().file("real.txt", numbered(5)).link("l.txt", "real.txt");
    let spec = include_str!("../../../tools/read_file.json");
    let arguments = json!({ "path": "l.txt", "limit": 1 });
    let (_, files) = tree.outcome(&ReadFile, spec, &arguments);
    let note = tree.hide(&serde_json::to_string(&files).unwrap());
    let hash = snick::message::ContentHash::of(numbered(5).as_bytes());
    assert_eq!(note, format!(r#"[{{"path":"/top/w/real.txt","hash":"{hash}","touch":"read"}}]"#));
}
