//! What a server says when it fails, in all the shapes that servers use, and what it means.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::error::ProviderError;
use super::http::Server;

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
fn clip(text: &str) -> String {
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

/// What the request was, as far as an error depends on it.
pub(super) struct Asked<'a> {
    pub(super) server: &'a Server,
    pub(super) model: &'a str,
}

impl Asked<'_> {
    /// Turns a failing status and the server's words into an error.
    pub(super) fn failed(&self, status: u16, told: &Told, headers: &HeaderMap) -> ProviderError {
        let (host, model) = (self.server.host.clone(), self.model.to_owned());
        let mut message = self.server.redact(told.message.clone());
        if let Some(place) = header(headers, "location").filter(|_| (300..400).contains(&status)) {
            message = format!("the address has moved to {}", self.server.redact(clip(place)));
        } else if let Some(id) = header(headers, "x-request-id") {
            message = format!("{message} (request {})", clip(id));
        }
        match meaning(status, told) {
            Meaning::Key => ProviderError::Key { host, status, message, sent: self.server.keyed },
            Meaning::Quota => ProviderError::Quota { host, status, message },
            Meaning::Model => ProviderError::ModelNotFound { host, model, message },
            Meaning::Overflow => {
                let window = told.window.or_else(|| window(&told.message));
                ProviderError::Overflow { host, model, message, window }
            }
            Meaning::Other => {
                let again = header(headers, "x-should-retry").and_then(|text| text.parse().ok());
                let wait = asked_wait(headers, jiff::Timestamp::now());
                ProviderError::Status { host, status, message, wait, again }
            }
        }
    }

    /// Turns an error inside an answer that began as a success into an error.
    pub(super) fn reported(&self, told: &Told) -> ProviderError {
        if let Some(status) = told.status {
            return self.failed(status, told, &HeaderMap::new());
        }
        // The codes in words stand for statuses; 0 is one that none of them has.
        let status = if told.says(&["insufficient_quota"]) { 429 } else { 0 };
        if meaning(status, told) != Meaning::Other {
            return self.failed(status.max(400), told, &HeaderMap::new());
        }
        let lasting = ["invalid", "authentication", "permission", "not_found", "badrequest"];
        ProviderError::Reported {
            host: self.server.host.clone(),
            message: self.server.redact(told.message.clone()),
            lasting: lasting.iter().any(|word| told.kind.contains(word)),
        }
    }
}

/// What a failing answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Key,
    Quota,
    Model,
    Overflow,
    Other,
}

fn meaning(status: u16, told: &Told) -> Meaning {
    const QUOTA: &[&str] =
        &["quota", "billing", "balance", "credit", "monthly", "usage limit", "usage_limit"];
    const BUSY: &[&str] =
        &["rate limit", "rate_limit", "too many requests", "please wait", "throttl"];
    const NO_MODEL: &[&str] =
        &["model_not_found", "not a valid model", "unknown model", "no such model"];
    match status {
        402 => return Meaning::Quota,
        429 if told.says(QUOTA) => return Meaning::Quota,
        401 | 403 => return Meaning::Key,
        429 | 500.. => return Meaning::Other,
        _ => {}
    }
    let missing = told.says(&["model"]) && told.says(&["not found", "does not exist", "not_found"]);
    if told.says(NO_MODEL) || (status == 404 && missing) {
        Meaning::Model
    } else if is_overflow(told) && !told.says(BUSY) {
        Meaning::Overflow
    } else {
        Meaning::Other
    }
}

/// Whether the server says that the conversation is too long, in the words of many servers.
fn is_overflow(told: &Told) -> bool {
    told.says(&[
        "context_length_exceeded",
        "exceed_context_size",
        "request_too_large",
        "context window",
        "context length",
        "context size",
        "model token limit",
        "prompt is too long",
        "prompt too long",
        "maximum prompt length",
        "reduce the length of the messages",
    ]) || (told.says(&["token count"]) && told.says(&["exceeds the maximum"]))
        || (told.says(&["prompt", "input"]) && told.says(&["exceeds the limit of"]))
}

/// Finds the model's limit in a message such as "maximum context length is 8192 tokens".
fn window(message: &str) -> Option<u64> {
    const BEFORE: &[&str] = &[
        "context length is ",
        "context length of ",
        "context window of ",
        "prompt length is ",
        "number of tokens allowed ",
        "the limit of ",
        "> ",
    ];
    let lower = message.to_lowercase();
    BEFORE.iter().find_map(|before| {
        let after = &lower[lower.find(before)? + before.len()..];
        let digits: String = after
            .chars()
            .skip_while(|letter| *letter == '(')
            .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    })
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().filter(|text| !text.is_empty())
}

/// Reads the wait that the headers ask for: milliseconds, seconds or a date.
fn asked_wait(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    if let Some(milliseconds) = header(headers, "retry-after-ms").and_then(|text| text.parse().ok())
    {
        return Some(Duration::from_millis(milliseconds));
    }
    let text = header(headers, "retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

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

    #[test]
    fn a_wait_is_read_in_every_form() {
        let now: jiff::Timestamp = "2026-11-30T00:00:00Z".parse().unwrap();
        let rows = [
            ("retry-after", "2", Some(2_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Mon, 30 Nov 2026 00:00:30 GMT", Some(30_000)),
            ("retry-after", "Sun, 29 Nov 2026 00:00:00 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
        ];
        for (name, value, expected) in rows {
            let headers = [(name.parse().unwrap(), HeaderValue::from_static(value))];
            let wait = asked_wait(&headers.into_iter().collect(), now);
            assert_eq!(wait, expected.map(Duration::from_millis), "{name}: {value}");
        }
    }

    #[test]
    fn statuses_and_words_have_meanings() {
        let rows = [
            (400, "This model's maximum context length is 8,192 tokens", Meaning::Overflow),
            (400, "prompt is too long: 210000 tokens > 200000 maximum", Meaning::Overflow),
            (
                400,
                "input token count (9) exceeds the maximum number of tokens allowed (8)",
                Meaning::Overflow,
            ),
            (400, "Too many tokens in the context window, please wait", Meaning::Other),
            (404, "model \"x\" not found, try pulling it first", Meaning::Model),
            (400, "x is not a valid model ID", Meaning::Model),
            (404, "page not found", Meaning::Other),
            (429, "You exceeded your current quota", Meaning::Quota),
            (429, "slow down", Meaning::Other),
            (402, "pay", Meaning::Quota),
            (401, "who are you", Meaning::Key),
            (500, "context window", Meaning::Other),
        ];
        for (status, message, expected) in rows {
            let told = Told { message: message.into(), ..Told::default() };
            assert_eq!(meaning(status, &told), expected, "{status} {message}");
        }
    }

    #[test]
    fn the_window_is_found_in_the_message() {
        let rows = [
            ("maximum context length is 8,192 tokens", Some(8_192)),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("the maximum number of tokens allowed (1048576).", Some(1_048_576)),
            ("too long", None),
        ];
        for (message, expected) in rows {
            assert_eq!(window(message), expected, "{message}");
        }
    }
}
