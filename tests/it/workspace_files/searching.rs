//! `search` as the model uses it.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::Tree;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot")]
fn check(tree: &Tree, arguments: Value, expected: Expect) {
    expected.assert_eq(&tree.search(&arguments));
}

fn project() -> Tree {
    Tree::repository()
        .file(".gitignore", "target/\n")
        .file("src/config.rs", "use x;\n\n/// Loads.\npub fn load_config() {\n    parse(1);\n}\n")
        .file(
            "src/main.rs",
            "fn main() {\n    load_config();\n    load_config();\n    foo(bar[0]);\n}\n",
        )
        .file("tests/config_test.rs", "#[test]\nfn loads() {\n    load_config();\n}\n")
        .file("README.md", "Call `load_config` first.\n")
        .file("Cargo.lock", "name = \"load_config\"\n")
        .file("target/out.rs", "load_config\n")
        .file("data.bin", b"load_config\0")
        .file("notes/windows.txt", "one\r\nload_config\r\n")
}

#[test]
fn best_files_come_first_and_what_programs_write_is_counted() {
    check(
        &project(),
        json!({ "pattern": "load_config" }),
        expect![[r#"
        src/config.rs:4: pub fn load_config() {
        src/main.rs:2:     load_config();
        src/main.rs:3:     load_config();
        tests/config_test.rs:3:     load_config();
        README.md:1: Call `load_config` first.
        notes/windows.txt:2: load_config
        [7 matching lines in 6 files; 6 shown; to see others give a `path`, a `glob` or a narrower pattern]
        [also in (locks, translations and what is generated come last): Cargo.lock (1)]
        [binary, not searched: 1 file]"#]],
    );
}

#[test]
fn options_are_those_of_a_search() {
    let tree = project();
    check(
        &tree,
        json!({ "pattern": "foo(bar[0])", "literal": true }),
        expect![[r#"
        src/main.rs:4:     foo(bar[0]);
        [1 matching line in 1 file]
        [binary, not searched: 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "LOADS|main", "ignore_case": true, "glob": "*.rs" }),
        expect![[r#"
            src/main.rs:1: fn main() {
            tests/config_test.rs:2: fn loads() {
            src/config.rs:3: /// Loads.
            [3 matching lines in 3 files]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "load", "word": true }),
        expect![[r#"
        [no line matches `load` in `.`: 8 files searched]
        [word=false finds 8 lines in 6 files]
        [binary, not searched: 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "parse", "context": 1, "path": "src/config.rs" }),
        expect![[r#"
            src/config.rs-4- pub fn load_config() {
            src/config.rs:5:     parse(1);
            src/config.rs-6- }
            [1 matching line in 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "load_config", "path": "target", "no_ignore": true }),
        expect![[r#"
            target/out.rs:1: load_config
            [1 matching line in 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "config$", "path": "notes" }),
        expect![[r#"
        notes/windows.txt:2: load_config
        [1 matching line in 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "main\\(\\) \\{\\n +load" }),
        expect![[r#"
        src/main.rs:1: fn main() {
        src/main.rs:2:     load_config();
        [2 matching lines in 1 file]
        [binary, not searched: 1 file]"#]],
    );
}

#[test]
fn what_finds_nothing_says_what_would() {
    let tree = project();
    check(
        &tree,
        json!({ "pattern": "LOAD_CONFIG" }),
        expect![[r#"
        [no line matches `LOAD_CONFIG` in `.`: 8 files searched]
        [ignore_case=true finds 7 lines in 6 files]
        [binary, not searched: 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "foo(bar[0])" }),
        expect![[r#"
        [no line matches `foo(bar[0])` in `.`: 8 files searched]
        [literal=true finds 1 line in 1 file]
        [binary, not searched: 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "nothing like this" }),
        expect![[r#"
        [no line matches `nothing like this` in `.`: 8 files searched]
        [binary, not searched: 1 file]"#]],
    );
    check(
        &tree,
        json!({ "pattern": "x", "glob": "*.zig" }),
        expect!["[no file in `.` matches the glob `*.zig`]"],
    );
}

#[test]
fn wrong_calls_are_answered_with_the_right_one() {
    let tree = project();
    check(
        &tree,
        json!({ "pattern": "foo(" }),
        expect![[r#"
        error: `pattern` cannot be used: regex parse error:
            foo(
               ^
        error: unclosed group
        If it is meant as plain text, set literal=true; else escape ( ) [ ] { } . * + ? | with a backslash."#]],
    );
    check(
        &tree,
        json!({ "query": "foo" }),
        expect![
            "error: there is no parameter `query`; use `pattern`; `search` takes `pattern`, `path?`, `glob?`, `literal?`, `word?`, `ignore_case?`, `context?`, `limit?`, `no_ignore?`"
        ],
    );
    check(
        &tree,
        json!({ "pattern": "" }),
        expect!["error: `pattern` is empty; list_files lists files"],
    );
    check(&tree, json!({ "pattern": "x", "path": "scr" }), expect!["error: `scr` does not exist"]);
}

#[test]
fn much_is_shared_out_among_files_and_the_rest_is_named() {
    let mut tree = Tree::new();
    for number in 0..30 {
        tree = tree.file(format!("{number:02}.c"), "call();\n".repeat(number + 1));
    }
    check(
        &tree,
        json!({ "pattern": "call", "limit": 12 }),
        expect![[r#"
        29.c:1: call();
        29.c:2: call();
        29.c:3: call();
        29.c:4: call();
        29.c:5: call();
        [29.c: 25 more]
        28.c:1: call();
        28.c:2: call();
        28.c:3: call();
        28.c:4: call();
        28.c:5: call();
        [28.c: 24 more]
        27.c:1: call();
        27.c:2: call();
        [27.c: 26 more]
        [465 matching lines in 30 files; 12 shown; to see others give a `path`, a `glob` or a narrower pattern]
        [also in: 26.c (27), 25.c (26), 24.c (25), 23.c (24), 22.c (23), 21.c (22), 20.c (21), 19.c (20), 18.c (19), 17.c (18), 16.c (17), 15.c (16), and 15 more files]"#]],
    );
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = format!("{}needle{}\n", "a ".repeat(400), " b".repeat(400));
    check(
        &Tree::new().file("long.js", line),
        json!({ "pattern": "needle" }),
        expect![[r#"
        long.js:1: …a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a needle b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b…
        [1 matching line in 1 file]"#]],
    );
}
