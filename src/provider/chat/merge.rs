//! Fields that have no meaning here, put together from deltas so that they can go back.

use serde_json::{Map, Value};

/// Merges one field of a delta into what has come before it.
///
/// Null says nothing. Lists grow, objects merge field by field. Text is continued where the name
/// of the field speaks of prose, and replaced elsewhere.
pub(super) fn merge(into: &mut Map<String, Value>, key: String, value: Value) {
    if value.is_null() {
        return;
    }
    let continued = is_prose(&key);
    match (into.get_mut(&key), value) {
        (None, Value::Array(items)) => {
            let mut list = Vec::new();
            for item in items {
                add_detail(&mut list, item);
            }
            into.insert(key, Value::Array(list));
        }
        (None, value) => {
            into.insert(key, value);
        }
        (Some(Value::String(text)), Value::String(more)) if continued => text.push_str(&more),
        (Some(Value::Array(list)), Value::Array(items)) => {
            for item in items {
                add_detail(list, item);
            }
        }
        (Some(Value::Object(object)), Value::Object(fields)) => {
            for (key, value) in fields {
                merge(object, key, value);
            }
        }
        (Some(old), value) => *old = value,
    }
}

fn is_prose(key: &str) -> bool {
    ["reason", "think", "content", "text", "summary"].iter().any(|part| key.contains(part))
}

/// Adds an element to a list; a piece of the text that the last element holds is joined to it.
fn add_detail(details: &mut Vec<Value>, item: Value) {
    match (details.last_mut(), item) {
        (Some(Value::Object(last)), Value::Object(item)) if continues(last, &item) => {
            for (key, value) in item {
                let is_new = last.get(&key).is_none_or(Value::is_null);
                match key.as_str() {
                    // A signature comes with the last piece, the other fields with the first.
                    "text" | "summary" | "signature" => merge(last, key, value),
                    _ if is_new => merge(last, key, value),
                    _ => {}
                }
            }
        }
        (_, item) => details.push(item),
    }
}

/// Whether `item` is more of the same reasoning text as `last`. Encrypted pieces never are.
fn continues(last: &Map<String, Value>, item: &Map<String, Value>) -> bool {
    let same = |key: &str| last.get(key) == item.get(key);
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "reasoning.text" | "reasoning.summary") && same("type") && same("index")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(deltas: &[&str], expected: &Expect) {
        let mut merged = Map::new();
        for delta in deltas {
            let fields: Map<String, Value> = serde_json::from_str(delta).unwrap();
            for (key, value) in fields {
                merge(&mut merged, key, value);
            }
        }
        expected.assert_eq(&Value::Object(merged).to_string());
    }

    #[test]
    fn pieces_of_reasoning_are_joined_and_sealed_ones_kept_in_order() {
        check(
            &[
                r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"a","id":"r"}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"b","id":null}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"S"}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"x"}]}"#,
                r#"{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"y"}]}"#,
            ],
            &expect![[
                r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"ab","id":"r","signature":"S"},{"type":"reasoning.encrypted","index":1,"data":"x"},{"type":"reasoning.encrypted","index":1,"data":"y"}]}"#
            ]],
        );
    }

    #[test]
    fn prose_is_continued_and_labels_are_replaced() {
        check(
            &[
                r#"{"reasoning_content":"a","channel":"x","n":null}"#,
                r#"{"reasoning_content":"a","channel":"x","o":{"p":1}}"#,
                r#"{"o":{"q":2}}"#,
            ],
            &expect![[r#"{"reasoning_content":"aa","channel":"x","o":{"p":1,"q":2}}"#]],
        );
    }
}
