//! `symbols` within its bounds: what a step has room for, and folders of which nothing is kept.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::index::{Index, Options};
use snick::tools::Symbols;

use super::Tree;

/// Asks in a tree that is a home if nothing is kept of it.
#[track_caller]
fn check(arguments: &Value, is_bounded: bool, allowance: Option<usize>, expected: &Expect) {
    let mut tree = Tree::new();
    for number in 0..4 {
        let text = format!("def area_{number}(a):\n    return a\n\n\ndef area(a):\n    return 1\n");
        tree = tree.file(format!("src/part_{number}.py"), text);
    }
    let options = Options { background: false, is_bounded, ..Options::default() };
    let index = Index::open(tree.open("").root(), None, options);
    let spec = include_str!("../../../tools/symbols.json");
    let (text, _) = tree.outcome_within(&Symbols, spec, arguments, index, allowance);
    expected.assert_eq(&(text + "\n"));
}

#[test]
fn no_more_is_shown_than_the_step_has_room_for() {
    check(
        &json!({"query": "area"}),
        false,
        Some(80),
        &expect![[r#"
            src/part_0.py:5-6 function area
            src/part_1.py:5-6 function area
            [2 more lines; path or kind narrows it, read_file shows text]
        "#]],
    );
    check(
        &json!({"path": "src/part_0.py"}),
        false,
        Some(60),
        &expect![[r#"
            src/part_0.py (Python, 6 lines)
            1-2 function area_0
            [1 more lines; path or kind narrows it, read_file shows text]
        "#]],
    );
}

#[test]
fn of_a_home_it_is_said_that_nothing_is_kept() {
    check(
        &json!({"query": "area_2"}),
        true,
        None,
        &expect![[r#"
            src/part_2.py:1-2 function area_2
            [symbols of a home and of `/` are not kept: these files were read for this answer; start in a project to have its symbols at hand]
        "#]],
    );
    check(
        &json!({"query": "area_2", "path": "src/part_2.py"}),
        true,
        None,
        &expect![[r#"
            src/part_2.py:1-2 function area_2
        "#]],
    );
}
