//! `list_files` as the model uses it.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Tree, odd};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot")]
fn check(tree: &Tree, arguments: Value, expected: Expect) {
    expected.assert_eq(&tree.list(&arguments));
}

#[test]
fn ignore_rules_hold_from_the_root_down() {
    let tree = Tree::repository()
        .file(".gitignore", "# note\r\n\r\n*.log\r\n/dist/\r\n*.env\n!sample.env\n[broken\n")
        .file(".git/info/exclude", "mine.txt\n")
        .file(".git/HEAD", "x")
        .file(".ignore", "vendor/\n")
        .file(".snickignore", "shut/\n")
        .file("p/.gitignore", "gen\n!keep.log\n")
        .file("a.ts", "12345")
        .file("b.log", "")
        .file("dist/x.js", "")
        .file("src/dist/y.js", "")
        .file("prod.env", "")
        .file("sample.env", "")
        .file("mine.txt", "")
        .file("vendor/v.go", "")
        .file("shut/s.txt", "")
        .file("p/gen/a.c", "")
        .file("p/keep.log", "")
        .file("gen/b.c", "")
        .file(".github/workflows/ci.yml", "");
    check(
        &tree,
        json!({}),
        expect![[r"
        .github/workflows/ci.yml (0 B)
        .gitignore (51 B)
        .ignore (8 B)
        .snickignore (6 B)
        a.ts (5 B)
        gen/b.c (0 B)
        p/.gitignore (14 B)
        p/keep.log (0 B)
        sample.env (0 B)
        src/dist/y.js (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "path": "p" }),
        expect![[r"
        p/.gitignore (14 B)
        p/keep.log (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "no_ignore": "true" }),
        expect![[r"
        .github/workflows/ci.yml (0 B)
        .gitignore (51 B)
        .ignore (8 B)
        .snickignore (6 B)
        a.ts (5 B)
        b.log (0 B)
        dist/x.js (0 B)
        gen/b.c (0 B)
        mine.txt (0 B)
        p/.gitignore (14 B)
        p/gen/a.c (0 B)
        p/keep.log (0 B)
        prod.env (0 B)
        sample.env (0 B)
        src/dist/y.js (0 B)
        vendor/v.go (0 B)
    "]],
    );
}

#[test]
fn rules_above_the_workspace_say_nothing() {
    let tree = Tree::new().file("a.txt", "").file("sub/b.txt", "");
    std::fs::write(tree.top.join(".gitignore"), "*\n").unwrap();
    check(
        &tree,
        json!({}),
        expect![[r"
        a.txt (0 B)
        sub/b.txt (0 B)
    "]],
    );
}

#[test]
fn an_ignored_folder_is_shown_when_it_is_named() {
    let tree = Tree::repository()
        .file(".gitignore", "node_modules/\n")
        .file(".snickignore", "shut\n")
        .file("shut/x", "")
        .file("node_modules/effect/package.json", "{}");
    check(
        &tree,
        json!({ "path": "node_modules/effect" }),
        expect![[r"
        node_modules/effect/package.json (2 B)
        [`node_modules/effect` is itself ignored; it is shown since it was named]"]],
    );
    check(
        &tree,
        json!({ "path": "shut" }),
        expect!["error: `shut` is shut away by `.snickignore`: no tool uses it"],
    );
    check(
        &tree,
        json!({ "path": ".", "glob": "package.json" }),
        expect!["[all files asked for in `.` are ignored (1); no_ignore=true shows them]"],
    );
}

#[test]
fn a_glob_filters_and_never_unignores() {
    let tree = Tree::repository()
        .file(".gitignore", "*.log\n")
        .file("a.rs", "")
        .file("s/b.rs", "")
        .file("s/t/c.rs", "")
        .file("s/c.txt", "")
        .file("s/[id].tsx", "")
        .file("x.log", "");
    check(
        &tree,
        json!({ "glob": "**/*.rs" }),
        expect![[r"
        a.rs (0 B)
        s/b.rs (0 B)
        s/t/c.rs (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "glob": "*.{rs,log}" }),
        expect![[r"
        a.rs (0 B)
        s/b.rs (0 B)
        s/t/c.rs (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "glob": "s/*.rs" }),
        expect![[r"
        s/b.rs (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "path": "s", "glob": "s/*.rs" }),
        expect![[r"
        s/b.rs (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "path": "s", "glob": "t/" }),
        expect![[r"
        s/t/c.rs (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "glob": "[id].tsx" }),
        expect![[r"
        s/[id].tsx (0 B)
    "]],
    );
    check(
        &tree,
        json!({ "glob": "*.log" }),
        expect!["[all files asked for in `.` are ignored (1); no_ignore=true shows them]"],
    );
    check(&tree, json!({ "glob": "*.none" }), expect!["[no file in `.` matches `*.none`]"]);
    check(
        &tree,
        json!({ "glob": "[a" }),
        expect!["error: `[a` is not a glob: unclosed character class; missing ']'"],
    );
    check(
        &tree,
        json!({ "glob": "!*.rs" }),
        expect![
            "error: `!*.rs` is not a glob: it can only say what to show, not what to leave out"
        ],
    );
}

#[test]
fn odd_entries_are_shown_on_one_line_each() {
    let tree = Tree::new()
        .file("a b.txt", "")
        .file("n\nl.txt", "")
        .file("\u{1b}]52;c;eA==\u{7}.txt", "")
        .file(odd(b"caf\xE9.txt"), "")
        .file("rtl\u{202e}gpj.exe", "")
        .fifo("pipe")
        .link("up", "..")
        .link("gone", "no/where");
    check(
        &tree,
        json!({}),
        expect![[r#"
        "\u{1b}]52;c;eA==\u{7}.txt" (0 B)
        a b.txt (0 B)
        "caf\xe9.txt" (0 B)
        gone -> no/where
        "n\nl.txt" (0 B)
        pipe (not a regular file)
        "rtl\u{202e}gpj.exe" (0 B)
        up -> ..
    "#]],
    );
}

#[test]
fn a_large_tree_is_folded_and_every_file_counted() {
    let mut tree = Tree::new().file("Cargo.toml", "").file("README.md", "");
    for file in 0..30 {
        tree = tree.file(format!("src/parser/{file:03}.rs"), "");
    }
    for file in 0..3 {
        tree = tree.file(format!("src/{file}.rs"), "").file(format!("docs/en/{file}.md"), "");
    }
    for file in 0..7 {
        tree = tree.file(format!("tests/cases/deep/{file}.txt"), "");
    }
    check(
        &tree,
        json!({ "limit": 12 }),
        expect![[r"
        Cargo.toml (0 B)
        README.md (0 B)
        docs/en/0.md (0 B)
        docs/en/1.md (0 B)
        docs/en/2.md (0 B)
        src/0.rs (0 B)
        src/1.rs (0 B)
        src/2.rs (0 B)
        src/parser/ (30 files)
        tests/cases/deep/ (7 files)
        [45 files; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]"]],
    );
    check(
        &tree,
        json!({ "path": "src/parser", "limit": 4 }),
        expect![[r"
            src/parser/000.rs (0 B)
            src/parser/001.rs (0 B)
            src/parser/002.rs (0 B)
            src/parser/ (27 files not shown)
            [30 files; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]"]],
    );
    check(
        &tree,
        json!({ "glob": "*.rs", "limit": 5 }),
        expect![[r"
        src/0.rs (0 B)
        src/1.rs (0 B)
        src/2.rs (0 B)
        src/parser/ (30 files)
        [33 files that match `*.rs`; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]"]],
    );
    check(
        &tree,
        json!({ "limit": 2 }),
        expect![[r"
            ./ (2 files not shown)
            docs/en/ (3 files)
            tests/cases/ (1 folder with 7 files not shown)
            ./ (1 folder with 33 files not shown)
            [45 files; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]"]],
    );
}

#[test]
fn many_files_stay_within_bounds() {
    let tree = Tree::new().folder("many");
    for file in 0..6_000 {
        std::fs::write(tree.path().join(format!("many/part{file:05}.txt")), "").unwrap();
    }
    let text = tree.list(&json!({ "path": "many" }));
    let end: Vec<&str> = text.lines().rev().take(2).collect();
    assert_eq!(text.lines().count(), 301);
    expect![[r#"
        [
            "[6,000 files; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]",
            "many/ (5,701 files not shown)",
        ]"#]].assert_eq(&format!("{end:#?}"));
    let text = tree.list(&json!({ "limit": 2000 }));
    assert!(text.len() < 41_000, "{}", text.len());
}

#[test]
fn what_is_no_folder_is_said() {
    let tree = Tree::new().file("a.txt", "abc").folder("empty").fifo("pipe");
    check(&tree, json!({ "path": "nope" }), expect!["error: `nope` does not exist"]);
    check(
        &tree,
        json!({ "path": "a.txt" }),
        expect!["[`a.txt` is a file (3 B); read_file shows it]"],
    );
    check(&tree, json!({ "path": "empty" }), expect!["[there are no files in `empty`]"]);
    check(
        &tree,
        json!({ "path": "pipe" }),
        expect!["error: `pipe` is neither a folder nor a file"],
    );
}

#[test]
fn rules_that_are_no_file_do_not_hold_the_walk_up() {
    let tree = Tree::new().file("a.txt", "").file("sub/b.txt", "").fifo("sub/.gitignore");
    check(
        &tree,
        json!({}),
        expect![[r"
        a.txt (0 B)
        [1 folder could not be read]"]],
    );
    let tree = Tree::new().file("a.txt", "").fifo(".ignore");
    check(
        &tree,
        json!({}),
        expect![[r"
        [there are no files in `.`]
        [1 folder could not be read]"]],
    );
}

#[test]
fn a_folder_that_may_not_be_read_is_counted() {
    let tree = Tree::new().file("a.txt", "").file("locked/b.txt", "");
    let locked = tree.path().join("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads it all the same.
    let expected = match std::fs::read_dir(&locked) {
        Ok(_) => "a.txt (0 B)\nlocked/b.txt (0 B)\n",
        Err(_) => "a.txt (0 B)\n[1 folder could not be read]",
    };
    let text = tree.list(&json!({}));
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(text, expected);
}
