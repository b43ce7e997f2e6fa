//! Arguments of a call, checked against the tool's own schema and forgiving where nothing is in doubt.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolError;
use crate::message::ToolSpec;
use crate::workspace::nearest::distance;

/// What other agents call the parameters of ours: folded names, then what they may mean.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &[
            "file",
            "filename",
            "filepath",
            "targetfile",
            "absolutepath",
            "relativepath",
            "uri",
            "pathname",
            "dir",
            "directory",
            "folder",
            "dirpath",
            "directorypath",
            "basepath",
            "root",
            "searchpath",
            "in",
            "paths",
            "files",
        ],
        &["path"],
    ),
    (&["oldtext", "oldstr", "old", "search", "find", "oldcontent", "target"], &["old_string"]),
    (
        &["newtext", "newstr", "new", "replace", "replacement", "newcontent", "replacewith"],
        &["new_string"],
    ),
    (&["all", "global", "multiple", "expectedreplacements"], &["replace_all"]),
    (
        &["contents", "text", "filetext", "data", "body", "newcontent", "filecontent", "code"],
        &["content", "new_string"],
    ),
    (&["cmd", "script", "shell", "bash", "code", "input", "commandline"], &["command"]),
    (&["timeoutms", "timeoutseconds", "timeoutsec", "timelimit", "maxtime"], &["timeout"]),
    (&["description", "reason", "justification", "explanation"], &["why"]),
    (&["permission", "permissions", "sandbox", "sandboxpermissions"], &["access"]),
    (
        &["startline", "start", "from", "line", "linestart", "skip", "firstline", "lineoffset"],
        &["offset"],
    ),
    (
        &[
            "maxlines",
            "numlines",
            "lines",
            "linecount",
            "count",
            "max",
            "maxresults",
            "headlimit",
            "endline",
            "end",
            "to",
            "maxcount",
            "n",
            "length",
        ],
        &["limit"],
    ),
    (
        &["query", "regex", "regexp", "q", "needle", "search", "text", "searchterm", "string"],
        &["pattern", "query"],
    ),
    (
        &[
            "include",
            "filepattern",
            "globpattern",
            "pattern",
            "filter",
            "includes",
            "type",
            "match",
        ],
        &["glob"],
    ),
    (&["caseinsensitive", "i", "nocase"], &["ignore_case"]),
    (&["casesensitive"], &["ignore_case"]),
    (&["wholeword", "words", "w"], &["word"]),
    (&["fixedstrings", "isliteral", "fixed", "f"], &["literal"]),
    (&["contextlines", "c", "a", "b", "beforecontext", "aftercontext", "around"], &["context"]),
    (
        &["includeignored", "ignored", "hidden", "respectgitignore", "gitignore", "noignorevcs"],
        &["no_ignore"],
    ),
    (&["name", "symbol"], &["query"]),
];

/// Most bytes of a message that comes from elsewhere.
const MAX_WHY: usize = 200;

/// Reads the arguments of a call to `spec`'s tool.
///
/// A parameter that is `null` counts as not given. Numbers, booleans, lists and objects that
/// come as strings are taken, and whole numbers that come as floats.
///
/// # Errors
/// Parameters that the tool does not have, each with the one that is probably meant; required
/// ones that are missing; values of a wrong type or outside what the schema allows. The
/// arguments themselves are never repeated.
pub fn parse<T: DeserializeOwned>(
    spec: &ToolSpec,
    mut arguments: Map<String, Value>,
) -> Result<T, ToolError> {
    let none = Map::new();
    let properties = spec.parameters["properties"].as_object().unwrap_or(&none);
    arguments.retain(|_, value| !value.is_null());
    check_names(spec, properties, &arguments).map_err(ToolError::Failed)?;
    for (name, value) in &mut arguments {
        let Some(schema) = properties.get(name) else { continue };
        coerce(schema, value);
        check_value(name, schema, value).map_err(ToolError::Failed)?;
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let why: String = error.to_string().chars().take(MAX_WHY).collect();
        ToolError::Failed(format!("the arguments of `{}` do not fit: {why}", spec.name))
    })
}

/// Complains of every name at once, so that one more call puts all of them right.
fn check_names(
    spec: &ToolSpec,
    properties: &Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<(), String> {
    let mut complaints = Vec::new();
    let mut meant = Vec::new();
    for name in given.keys().filter(|name| !properties.contains_key(*name)) {
        let shown = shortened(name);
        match best_match(name, properties, given) {
            Some(known) => {
                complaints.push(format!("there is no parameter `{shown}`; use `{known}`"));
                meant.push(known);
            }
            None => complaints.push(format!("there is no parameter `{shown}`")),
        }
    }
    let required = spec.parameters["required"].as_array().map_or(&[][..], Vec::as_slice);
    for name in required.iter().filter_map(Value::as_str) {
        if !given.contains_key(name) && !meant.contains(&name) {
            complaints.push(format!("`{name}` is missing"));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    complaints.push(format!("`{}` takes {}", spec.name, parameters(properties, required)));
    Err(complaints.join("; "))
}

/// Lists the parameters of a tool, the optional ones marked.
fn parameters(properties: &Map<String, Value>, required: &[Value]) -> String {
    let is_required = |name: &str| required.iter().any(|other| other == name);
    let shown = |name: &String| {
        let mark = if is_required(name) { "" } else { "?" };
        format!("`{name}{mark}`")
    };
    properties.keys().map(shown).collect::<Vec<String>>().join(", ")
}

/// Returns the parameter that somebody who wrote `name` probably means.
fn best_match<'a>(
    name: &str,
    properties: &'a Map<String, Value>,
    given: &Map<String, Value>,
) -> Option<&'a str> {
    let folded = fold(name);
    let free = |known: &&String| !given.contains_key(*known);
    let same = properties.keys().filter(free).find(|known| fold(known) == folded);
    let synonyms = SYNONYMS.iter().filter(|(others, _)| others.contains(&folded.as_str()));
    let synonym = || {
        synonyms
            .flat_map(|(_, meant)| *meant)
            .find_map(|meant| properties.keys().filter(free).find(|known| known == meant))
    };
    let near = || {
        let far = |known: &&String| distance(&folded, &fold(known));
        let nearest = properties.keys().filter(free).min_by_key(far)?;
        (far(&nearest) <= nearest.len().min(folded.len()) / 3).then_some(nearest)
    };
    same.or_else(synonym).or_else(near).map(String::as_str)
}

/// Takes away what differs between `oldString`, `old-string` and `old_string`.
fn fold(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric).take(40);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Turns a string into what the schema wants, and a whole float into an integer.
fn coerce(schema: &Value, value: &mut Value) {
    let wants = |kind: &str| is_type(schema, kind);
    match value {
        Value::String(text) if !wants("string") => {
            let text = text.trim();
            let taken = match text.to_ascii_lowercase().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => serde_json::from_str(text).ok(),
            };
            if let Some(mut taken) = taken.filter(|taken| !taken.is_string()) {
                coerce(schema, &mut taken);
                *value = taken;
            }
        }
        Value::Number(number) if wants("integer") && !number.is_i64() && !number.is_u64() => {
            if let Some(whole) = number.as_f64().and_then(whole) {
                *value = Value::from(whole);
            }
        }
        _ => {}
    }
}

/// Returns the integer that a float stands for, where it does so exactly.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole and within what a float holds exactly"
    )]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

fn is_type(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(wanted) => wanted == kind,
        Value::Array(wanted) => wanted.iter().any(|wanted| wanted == kind),
        _ => true,
    }
}

fn check_value(name: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let (kinds, found): (&[&str], &str) = match value {
        Value::Null => (&["null"], "null"),
        Value::Bool(_) => (&["boolean"], "a boolean"),
        Value::Number(number) if number.is_f64() => (&["number"], "a number with a fraction"),
        Value::Number(_) => (&["integer", "number"], "a number"),
        Value::String(_) => (&["string"], "a string"),
        Value::Array(_) => (&["array"], "a list"),
        Value::Object(_) => (&["object"], "an object"),
    };
    if !kinds.iter().any(|kind| is_type(schema, kind)) {
        let wanted = wanted(schema);
        let advice = if matches!(value, Value::Array(_)) && is_type(schema, "string") {
            "; make one call for each"
        } else {
            ""
        };
        return Err(format!("`{name}` must be {wanted}, not {found}{advice}"));
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        let choices = choices.iter().map(|choice| format!("`{}`", plain(choice)));
        let choices = choices.collect::<Vec<String>>().join(" or ");
        return Err(format!("`{name}` must be {choices}"));
    }
    let below = |limit: &Value| Some(value.as_f64()? < limit.as_f64()?);
    if below(&schema["minimum"]) == Some(true) {
        return Err(format!("`{name}` must be at least {}", schema["minimum"]));
    }
    let above = |limit: &Value| Some(value.as_f64()? > limit.as_f64()?);
    if above(&schema["maximum"]) == Some(true) {
        return Err(format!("`{name}` must be at most {}", schema["maximum"]));
    }
    Ok(())
}

/// Says what the schema wants, in words.
fn wanted(schema: &Value) -> String {
    let word = |kind: &Value| match plain(kind).as_str() {
        "array" => "a list".to_owned(),
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        kind => format!("a {kind}"),
    };
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(word).collect::<Vec<String>>().join(" or "),
        kind => word(kind),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shortened(name: &str) -> String {
    let mut short: String = name.chars().take(40).filter(|letter| !letter.is_control()).collect();
    if name.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}
