//! The tool `symbols` as the model uses it, what an edit that breaks a file says, and the map in the prompt.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::approval::Mode;
use snick::message::ToolCall;
use snick::prompt;

use crate::world::{World, call, reply};

const FILES: &[(&str, &str)] = &[
    (
        "src/shape.rs",
        "//! Shapes.\n\npub struct Square {\n    side: u32,\n}\n\nimpl Square {\n    /// Gives the area.\n    pub fn area(&self) -> u32 {\n        self.side * self.side\n    }\n\n    fn border(&self) {}\n}\n",
    ),
    ("src/main.py", "def area(a):\n    return (\n        a\n    )\n\n\nclass Square:\n    pass\n"),
    (".snickignore", "secret.py\n"),
    ("secret.py", "def area_of_secrets():\n    pass\n"),
    ("notes.txt", "fn area\n"),
];

/// Runs calls of one reply and compares their outcomes.
async fn check(calls: Vec<ToolCall>, expected: Expect) {
    let replies = vec![reply("", calls), reply("done", vec![])];
    let mut world = World::new(Mode::Auto, FILES, replies);
    world.turn("go").await.unwrap();
    let log = world.log();
    let lines = log.lines().skip_while(|line| line.starts_with("  ") || !line.starts_with("a "));
    let kept: Vec<&str> = lines.filter(|line| !line.ends_with(" started")).collect();
    expected.assert_eq(&(kept.join("\n") + "\n"));
}

fn symbols(arguments: &Value) -> ToolCall {
    call("symbols", arguments)
}

#[tokio::test]
async fn a_name_is_found_with_its_text_if_asked() {
    let calls = [
        json!({"query": "area"}),
        json!({"query": "Square.area", "body": true}),
        json!({"query": "area", "path": "src/main.py", "body": "true"}),
        json!({"query": "Square", "kind": "class"}),
    ];
    check(
        calls.iter().map(symbols).collect(),
        expect![[r#"
        a done: src/main.py:1-4 function area
        src/shape.rs:9-11 method area in Square
        b done: src/shape.rs:8-11 method area in Square
            /// Gives the area.
            pub fn area(&self) -> u32 {
                self.side * self.side
            }
        c done: src/main.py:1-4 function area
        def area(a):
            return (
                a
            )
        d done: src/main.py:7-8 class Square
        src/shape.rs:3-5 struct Square
        model: done
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_name_that_is_not_there_gives_the_nearest_or_says_so() {
    let calls = [
        json!({"query": "squ"}),
        json!({"query": "brdr"}),
        json!({"query": "secrets"}),
        json!({"query": "zebra", "kind": "function", "path": "src"}),
    ];
    check(calls.iter().map(symbols).collect(), expect![[r#"
        a done: [no definition is named `squ` exactly; the nearest:]
        src/main.py:7-8 class Square
        src/shape.rs:3-5 struct Square
        b done: [no definition is named `brdr` exactly; the nearest:]
        src/shape.rs:13 method border in Square
        c done: [no definition named `secrets`, and none with a name like it; search finds text that is not a definition]
        d done: [no function named `zebra` in `src`, and none with a name like it; search finds text that is not a definition]
        model: done
    "#]]).await;
}

#[tokio::test]
async fn a_file_is_outlined() {
    let calls = [
        json!({"path": "src/shape.rs"}),
        json!({"path": "src/main.py", "kind": "class"}),
        json!({"path": "notes.txt"}),
        json!({"path": "src/none.rs"}),
        json!({"path": "secret.py"}),
        json!({}),
        json!({"query": "a", "kind": "thing"}),
        json!({"name": "area"}),
        json!({"path": "src"}),
    ];
    check(calls.iter().map(symbols).collect(), expect![[r#"
        a done: src/shape.rs (Rust, 14 lines)
        3-5 struct Square
        9-11 method area in Square
        13 method border in Square
        b done: src/main.py (Python, 8 lines)
        7-8 class Square
        c failed: the language of `notes.txt` is not one whose definitions are known; use search or read_file
        d failed: `src/none.rs` does not exist
        e failed: `secret.py` is shut away by `.snickignore`: no tool uses it
        f failed: give `query`, a name to find, or `path`, a file to outline
        g failed: there is no kind `thing`; kinds are function, method, class, struct, enum, union, trait, interface, module, type, constant, variable, macro
        h failed: there is no parameter `name`; use `query`; `symbols` takes `query?`, `path?`, `kind?`, `body?`
        i done: src/main.py:1-4 function area
        src/main.py:7-8 class Square
        src/shape.rs:3-5 struct Square
        src/shape.rs:9-11 method area in Square
        src/shape.rs:13 method border in Square
        model: done
    "#]]).await;
}

#[cfg(feature = "grammars")]
#[tokio::test]
async fn an_edit_that_breaks_a_file_says_where() {
    let edit = |old: &str, new: &str| {
        let arguments = json!({"path": "src/main.py", "old_string": old, "new_string": new});
        call("edit_file", &arguments)
    };
    // The second edit says nothing: the file did not parse before it either.
    let calls = vec![edit("        a\n    )", "        a\n"), edit("pass", "...")];
    check(calls, expect![[r#"
        a allow by mode `auto`
        a done: Changed `src/main.py`: +1 -1 lines
        lines 2-6 are now:
            return (
                a
        [the file parsed as Python before this change and no longer does: line 2, column 12: `(` is never closed]
        b allow by mode `auto`
        b done: Changed `src/main.py`: +1 -1 lines
        lines 6-8 are now:

        class Square:
            ...
        model: done
    "#]]).await;
}

#[test]
fn the_map_stands_between_orientation_and_instructions() {
    let text = prompt::system_text("system\n", "where\n", "a.py:\n  1 class A\n", "words\n");
    expect![[r#"
        system

        where

        Repository map: the definitions that the rest refers to most, with their lines
        a.py:
          1 class A

        words
    "#]]
    .assert_eq(&text);
    assert_eq!(prompt::system_text("system", "where", "", ""), "system\n\nwhere\n");
}
