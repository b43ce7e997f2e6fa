//! What becomes of the arguments a model sends.

use expect_test::{Expect, expect};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use snick::message::ToolSpec;
use snick::tools::arguments;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "shown by Debug")]
struct Edit {
    path: String,
    old_string: String,
    #[serde(default)]
    replace_all: bool,
    offset: Option<u64>,
    list: Option<Vec<u8>>,
    access: Option<String>,
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: "edit_file".to_owned(),
        description: String::new(),
        parameters: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "old_string": { "type": "string" },
                "replace_all": { "type": "boolean" },
                "offset": { "type": "integer", "minimum": 1, "maximum": 1000 },
                "list": { "type": "array" },
                "access": { "type": "string", "enum": ["network", "unsandboxed"] },
            },
            "required": ["path", "old_string"],
            "additionalProperties": false,
        }),
    }
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a row of a table")]
fn check(given: Value, expected: Expect) {
    let given: Map<String, Value> = given.as_object().unwrap().clone();
    let text = match arguments::parse::<Edit>(&spec(), given) {
        Ok(edit) => format!("{edit:?}"),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&text);
}

#[test]
fn plain_arguments_pass() {
    check(
        json!({ "path": "a", "old_string": "x" }),
        expect![[
            r#"Edit { path: "a", old_string: "x", replace_all: false, offset: None, list: None, access: None }"#
        ]],
    );
}

#[test]
fn null_counts_as_not_given() {
    check(
        json!({ "path": "a", "old_string": "x", "offset": null }),
        expect![[
            r#"Edit { path: "a", old_string: "x", replace_all: false, offset: None, list: None, access: None }"#
        ]],
    );
    check(
        json!({ "path": "a", "old_string": null }),
        expect![
            "error: `old_string` is missing; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
}

#[test]
fn values_that_come_as_strings_or_floats_are_taken() {
    check(
        json!({ "path": "1", "old_string": "true", "replace_all": "True", "offset": " 12 ", "list": "[1, 2]" }),
        expect![[
            r#"Edit { path: "1", old_string: "true", replace_all: true, offset: Some(12), list: Some([1, 2]), access: None }"#
        ]],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": 12.0 }),
        expect![[
            r#"Edit { path: "a", old_string: "x", replace_all: false, offset: Some(12), list: None, access: None }"#
        ]],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": "12.0" }),
        expect![[
            r#"Edit { path: "a", old_string: "x", replace_all: false, offset: Some(12), list: None, access: None }"#
        ]],
    );
}

#[test]
fn wrong_values_are_said_without_being_repeated() {
    check(
        json!({ "path": "a", "old_string": { "secret": 1 } }),
        expect!["error: `old_string` must be a string, not an object"],
    );
    check(
        json!({ "path": ["a", "b"], "old_string": "x" }),
        expect!["error: `path` must be a string, not a list; make one call for each"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": 1.5 }),
        expect!["error: `offset` must be a whole number, not a number with a fraction"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": "ten" }),
        expect!["error: `offset` must be a whole number, not a string"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": 0 }),
        expect!["error: `offset` must be at least 1"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": 4000 }),
        expect!["error: `offset` must be at most 1000"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "offset": 1e300 }),
        expect!["error: `offset` must be a whole number, not a number with a fraction"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "access": "internet" }),
        expect!["error: `access` must be `network` or `unsandboxed`"],
    );
    check(
        json!({ "path": "a", "old_string": "x", "list": "[1, 900]" }),
        expect![
            "error: the arguments of `edit_file` do not fit: invalid value: integer `900`, expected u8"
        ],
    );
}

#[test]
fn names_of_other_agents_are_answered_with_ours() {
    check(
        json!({ "file_path": "a", "oldText": "x" }),
        expect![
            "error: there is no parameter `file_path`; use `path`; there is no parameter `oldText`; use `old_string`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
    check(
        json!({ "filename": "a", "old_str": "x", "replaceAll": true }),
        expect![
            "error: there is no parameter `filename`; use `path`; there is no parameter `old_str`; use `old_string`; there is no parameter `replaceAll`; use `replace_all`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
    check(
        json!({ "path": "a", "old_strng": "x" }),
        expect![
            "error: there is no parameter `old_strng`; use `old_string`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
    check(
        json!({ "path": "a", "old_string": "x", "search": "y" }),
        expect![
            "error: there is no parameter `search`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
    check(
        json!({ "path": "a", "old_string": "x", "zebra": 1 }),
        expect![
            "error: there is no parameter `zebra`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
}

#[test]
fn what_is_missing_is_named() {
    check(
        json!({}),
        expect![
            "error: `path` is missing; `old_string` is missing; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
    check(
        json!({ "arguments": { "path": "a", "old_string": "x" } }),
        expect![
            "error: there is no parameter `arguments`; `path` is missing; `old_string` is missing; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
}

#[test]
fn hostile_names_stay_short() {
    check(
        json!({ "path": "a", "old_string": "x", ("\u{1b}[31m".repeat(60)): 1 }),
        expect![
            "error: there is no parameter `[31m[31m[31m[31m[31m[31m[31m[31m…`; `edit_file` takes `path`, `old_string`, `replace_all?`, `offset?`, `list?`, `access?`"
        ],
    );
}
