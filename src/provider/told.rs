//! A server's own words about a failure, read in all the shapes that servers use.

use serde_json::Value;

/// The longest message that is passed on, in characters.
const LONGEST_MESSAGE: usize = 600;

/// A server's own words about a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) message: String,
    /// `code` and `type`, in small letters, joined by a blank.
    pub(super) kind: String,
    /// The parameter of the request that is to blame.
    pub(super) parameter: Option<String>,
    /// An HTTP status given as `code`.
    pub(super) status: Option<u16>,
    /// The model's limit in tokens, given as a number beside the message.
    pub(super) window: Option<u64>,
    /// What the model wrote where its server could not read a call in it.
    pub(super) written: Option<String>,
}

impl Told {
    /// Reads an error out of a body that came with a failing status.
    pub(super) fn from_body(body: &[u8]) -> Told {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        let told = serde_json::from_str(text).ok().and_then(|value| Told::from_value(&value));
        told.unwrap_or_else(|| Told { message: plain(text), ..Told::default() })
    }

    /// Reads an error out of a document; `None` where there is none in it.
    pub(super) fn from_value(value: &Value) -> Option<Told> {
        match value {
            Value::Array(items) => items.iter().find_map(Told::from_value),
            Value::Object(object) => match object.get("error").or_else(|| object.get("errors")) {
                Some(error @ Value::Object(_)) => Some(Told::from_fields(error)),
                Some(Value::String(message)) if !message.is_empty() => {
                    let told = Told::from_fields(value);
                    Some(Told { message: clip(message), ..told })
                }
                Some(Value::Array(errors)) => errors.first().map(Told::from_fields),
                _ if is_error_like(value) => Some(Told::from_fields(value)),
                _ => None,
            },
            Value::String(message) => Some(Told { message: clip(message), ..Told::default() }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn from_fields(error: &Value) -> Told {
        let text = |key: &str| match &error[key] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let code = text("code");
        let status = [&code, &text("status"), &text("status_code")]
            .iter()
            .find_map(|text| text.parse().ok().filter(|status| (400..600).contains(status)));
        Told {
            message: clip(&message_of(error)),
            kind: format!("{code} {}", text("type")).trim().to_lowercase(),
            parameter: error["param"].as_str().map(str::to_owned),
            status,
            window: error["n_ctx"].as_u64(),
            written: error["failed_generation"].as_str().map(str::to_owned),
        }
    }

    /// Whether the server blames the parameter `name` of the request.
    pub(super) fn blames(&self, name: &str) -> bool {
        match &self.parameter {
            Some(parameter) => parameter == name || parameter.starts_with(&format!("{name}.")),
            None => first_word(&self.message, name),
        }
    }

    /// Whether the message or the code holds any of `words`, which are in small letters.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|word| message.contains(word) || self.kind.contains(word))
    }
}

/// Whether an object without `error` is one all the same.
fn is_error_like(value: &Value) -> bool {
    let says = value["message"].is_string() || !value["detail"].is_null();
    let kind = value["object"] == "error" || value["type"] == "error";
    kind || (says && value.get("choices").is_none())
}

fn message_of(error: &Value) -> String {
    let message = match (&error["message"], &error["detail"]) {
        (Value::String(message), _) => message.clone(),
        (Value::Null, detail) => detail_text(detail),
        (message, _) => message.to_string(),
    };
    // A router's own message says little; what the model's host said is beside it.
    match &error["metadata"]["raw"] {
        Value::String(raw) if !raw.is_empty() => format!("{message} ({raw})"),
        _ => message,
    }
}

/// Reads `detail`: a text, or a list of faults with the place of each.
fn detail_text(detail: &Value) -> String {
    match detail {
        Value::Null => "no reason given".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(faults) => {
            let texts = faults.iter().map(|fault| match (&fault["msg"], fault["loc"].as_array()) {
                (Value::String(message), Some(place)) => {
                    let place = place.iter().filter_map(Value::as_str).collect::<Vec<&str>>();
                    format!("{}: {message}", place.join("."))
                }
                _ => fault.to_string(),
            });
            texts.collect::<Vec<String>>().join("; ")
        }
        other => match other["message"].as_str().or_else(|| other["error"].as_str()) {
            Some(text) => text.to_owned(),
            None => other.to_string(),
        },
    }
}

/// Describes a body that is not JSON.
fn plain(text: &str) -> String {
    if text.is_empty() {
        return "no reason given".to_owned();
    }
    if !text.starts_with('<') {
        return clip(text);
    }
    match title(text) {
        Some(title) => format!("a web page titled \"{}\"", clip(title)),
        None => "a web page".to_owned(),
    }
}

/// Returns the title of a web page.
pub(super) fn title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(page[start..end].trim()).filter(|title| !title.is_empty())
}

/// Puts `text` on one line and keeps its beginning, saying so.
pub(super) fn clip(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{} [cut]", &line[..end]),
        None => line,
    }
}

/// Whether `name` is the first of the words of `message` that look like a parameter.
///
/// A message such as "`max_tokens` is not supported, use `max_completion_tokens`" blames one.
fn first_word(message: &str, name: &str) -> bool {
    let part = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
    let mut words = message.split(part);
    words.find(|word| word.contains('_') || *word == name) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_every_shape_are_read() {
        let rows = [
            (r#"{"error":{"message":"no","type":"T","code":"C","param":"p"}}"#, "no"),
            (r#"{"error":"plain"}"#, "plain"),
            (r#"{"object":"error","message":"vllm","code":400}"#, "vllm"),
            (r#"{"detail":"fast"}"#, "fast"),
            (r#"{"detail":[{"loc":["body","stream"],"msg":"bad"}]}"#, "body.stream: bad"),
            (r#"{"message":"gateway"}"#, "gateway"),
            (r#"[{"error":{"message":"array","code":400}}]"#, "array"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"deep"}}}"#,
                "Provider returned error (deep)",
            ),
            ("", "no reason given"),
            (
                "<html><head><TITLE>502 Bad\nGateway</title>",
                "a web page titled \"502 Bad Gateway\"",
            ),
            ("<p>", "a web page"),
            ("upstream died", "upstream died"),
        ];
        for (body, message) in rows {
            assert_eq!(Told::from_body(body.as_bytes()).message, message, "{body}");
        }
    }

    #[test]
    fn the_blamed_parameter_is_named_or_comes_first() {
        let told = Told {
            message: "Unsupported parameter: 'max_tokens', use 'max_completion_tokens'".into(),
            ..Told::default()
        };
        assert!(told.blames("max_tokens") && !told.blames("max_completion_tokens"));
        let told = Told { parameter: Some("stream_options.x".into()), ..Told::default() };
        assert!(told.blames("stream_options") && !told.blames("stream"));
    }
}
