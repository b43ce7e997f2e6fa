//! What the model sees of each tool: closed schemas, one handler each.

use std::fs;

use expect_test::expect;
use serde_json::{Map, Value, json};
use snick::message::ToolSpec;

use super::{Source, check_rule, check_tree, root, rust, tree};

fn bad_spec(source: &Source) -> Vec<String> {
    let complain = |text: String| vec![source.complaint(1, &text)];
    let spec: ToolSpec = match serde_json::from_str(&source.text) {
        Ok(spec) => spec,
        Err(error) => return complain(format!("no tool: {error}")),
    };
    let mut complaints = Vec::new();
    if source.path != format!("tools/{}.json", spec.name) {
        complaints.extend(complain(format!("the tool in it is named `{}`", spec.name)));
    }
    if spec.description.trim().is_empty() {
        complaints.extend(complain("the tool has no description".to_owned()));
    }
    if spec.parameters["type"] != "object" {
        complaints.extend(complain("the parameters are no object".to_owned()));
    }
    let mut open = Vec::new();
    open_places("parameters", &spec.parameters, &mut open);
    complaints.extend(open.iter().map(|text| source.complaint(1, text)));
    complaints
}

/// Finds where a schema takes what it does not describe.
fn open_places(place: &str, schema: &Value, found: &mut Vec<String>) {
    if schema["type"] == "object" {
        let none = Map::new();
        let properties = schema["properties"].as_object();
        if properties.is_none() {
            found.push(format!("`{place}` has no `properties`"));
        }
        let properties = properties.unwrap_or(&none);
        if schema["additionalProperties"] != json!(false) {
            found.push(format!("`{place}` is not closed: `additionalProperties` must be false"));
        }
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !properties.contains_key(name) {
                found.push(format!("`{place}` requires `{name}`, which it does not have"));
            }
        }
        for (name, property) in properties {
            let place = format!("{place}.{name}");
            if property["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
                found.push(format!("`{place}` has no description"));
            }
            if property["type"].is_null() && property["anyOf"].is_null() {
                found.push(format!("`{place}` has no type"));
            }
            open_places(&place, property, found);
        }
    }
    if !schema["items"].is_null() {
        open_places(&format!("{place}[]"), &schema["items"], found);
    }
}

/// A tool's handler is the file, or the folder, of its name in `src/tools`.
fn unpaired(specs: &[&str], sources: &[Source]) -> Vec<String> {
    let name = |source: &Source| {
        let path = source.path.strip_prefix("src/tools/").unwrap_or(&source.path);
        path.split('/').next().unwrap_or(path).trim_end_matches(".rs").to_owned()
    };
    let is_handler = |source: &&Source| source.code().any(|(_, line)| line.contains(" Tool for "));
    let handled: Vec<String> = sources.iter().filter(is_handler).map(name).collect();
    let without_handler = specs.iter().filter(|spec| !handled.iter().any(|name| name == *spec));
    let without_spec = handled.iter().filter(|name| !specs.contains(&name.as_str()));
    without_handler
        .map(|spec| format!("tools/{spec}.json has no handler in src/tools/{spec}.rs"))
        .chain(without_spec.map(|name| format!("src/tools/{name} handles no tools/{name}.json")))
        .collect()
}

#[test]
fn what_the_model_sees_is_closed_and_described() {
    check_tree(tree("tools").iter().flat_map(bad_spec));
}

#[test]
fn each_tool_has_one_handler() {
    let specs = tree("tools");
    let names = specs
        .iter()
        .map(|source| source.path.trim_start_matches("tools/").trim_end_matches(".json"));
    check_tree(unpaired(&names.collect::<Vec<&str>>(), &rust("src/tools")));
}

#[test]
fn the_tools_folder_holds_nothing_else() {
    let Ok(entries) = fs::read_dir(root().join("tools")) else { return };
    let names = entries.map(|entry| entry.unwrap().path());
    check_tree(
        names
            .filter(|path| path.extension().is_none_or(|ending| ending != "json"))
            .map(|path| format!("{}: only tools live here", path.display())),
    );
}

#[test]
fn an_open_schema_is_seen() {
    let text = r#"{"name": "b", "description": " ", "parameters": {"type": "object",
        "properties": {"x": {"type": "object"}, "y": {"description": "Y",
            "type": "array", "items": {"type": "object", "properties": {}, "required": ["z"]}}}}}"#;
    check_rule(
        bad_spec(&Source::new("tools/a.json", text)),
        &expect![[r"
            tools/a.json:1: the tool in it is named `b`
            tools/a.json:1: the tool has no description
            tools/a.json:1: `parameters` is not closed: `additionalProperties` must be false
            tools/a.json:1: `parameters.x` has no description
            tools/a.json:1: `parameters.x` has no `properties`
            tools/a.json:1: `parameters.x` is not closed: `additionalProperties` must be false
            tools/a.json:1: `parameters.y[]` is not closed: `additionalProperties` must be false
            tools/a.json:1: `parameters.y[]` requires `z`, which it does not have"]],
    );
    let more = r#"{"name": "a", "description": "A", "parameters": {}, "more": 1}"#;
    check_rule(
        bad_spec(&Source::new("tools/a.json", more)),
        &expect![
            "tools/a.json:1: no tool: unknown field `more`, expected one of `name`, `description`, `parameters` at line 1 column 58"
        ],
    );
}

#[test]
fn a_tool_without_its_other_half_is_seen() {
    let sources = [
        Source::new("src/tools/mod.rs", "pub trait Tool {}"),
        Source::new("src/tools/bash/mod.rs", "impl Tool for Bash {}"),
        Source::new("src/tools/more.rs", "impl Tool for More {}"),
    ];
    check_rule(
        unpaired(&["bash", "search"], &sources),
        &expect![[r"
        tools/search.json has no handler in src/tools/search.rs
        src/tools/more handles no tools/more.json"]],
    );
}
