//! What a failing answer means: its status, its headers and the server's words.

use std::time::Duration;

use super::connection::Connection;
use super::error::ProviderError;
use super::http::Server;
use super::told::{Told, clip};
use reqwest::header::HeaderMap;

/// What the request was, as far as an error depends on it.
pub(super) struct Asked<'a> {
    pub(super) server: &'a Server,
    pub(super) model: &'a str,
}

impl<'a> Asked<'a> {
    pub(super) fn of(connection: &'a Connection) -> Asked<'a> {
        Asked { server: &connection.server, model: &connection.options.model }
    }

    /// Turns a failing status and the server's words into an error.
    pub(super) fn failed(&self, status: u16, told: &Told, headers: &HeaderMap) -> ProviderError {
        let (host, model) = (self.server.host.clone(), self.model.to_owned());
        let mut message = self.server.redact(told.message.clone());
        if let Some(place) = header(headers, "location").filter(|_| (300..400).contains(&status)) {
            message = format!("the address has moved to {}", self.words(place));
        } else if let Some(id) = header(headers, "x-request-id") {
            message = format!("{message} (request {})", self.words(id));
        }
        match meaning(status, told) {
            Meaning::Key => {
                let (sent, from) = (self.server.keyed, self.server.key_from.clone());
                ProviderError::Key { host, status, message, sent, from }
            }
            Meaning::Quota => ProviderError::Quota { host, status, message },
            Meaning::Model => ProviderError::ModelNotFound { host, model, message },
            Meaning::Overflow => {
                let window = told.window.or_else(|| window(&told.message));
                ProviderError::Overflow { host, model, message, window }
            }
            Meaning::BadCall => ProviderError::BadCall { host, message },
            Meaning::Other => {
                let again = header(headers, "x-should-retry").and_then(|text| text.parse().ok());
                let wait = asked_wait(headers, jiff::Timestamp::now());
                ProviderError::Status { host, status, message, wait, again }
            }
        }
    }

    /// Returns what a header says, short and without a key.
    fn words(&self, header: &str) -> String {
        clip(&self.server.redact(header.to_owned()))
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
    BadCall,
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
        // A server that fails at the length fails again, whatever it calls that.
        500.. if told.says(OVERFLOW_CODES) => return Meaning::Overflow,
        429 | 500.. => return Meaning::Other,
        _ => {}
    }
    if told.written.is_some() || told.says(&["tool_use_failed"]) {
        return Meaning::BadCall;
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

/// What servers call a conversation that is too long, where they have a code for it.
const OVERFLOW_CODES: &[&str] =
    &["context_length_exceeded", "exceed_context_size", "request_too_large"];

/// Whether the server says that the conversation is too long, in the words of many servers.
fn is_overflow(told: &Told) -> bool {
    told.says(OVERFLOW_CODES)
        || told.says(&[
            "context limit",
            "context window",
            "context length",
            "context size",
            "model token limit",
            "prompt is too long",
            "prompt too long",
            "maximum prompt length",
            "reduce the length of the messages",
        ])
        || (told.says(&["token count"]) && told.says(&["exceeds the maximum"]))
        || (told.says(&["prompt", "input"]) && told.says(&["exceeds the limit of"]))
}

/// Finds the model's limit in a message such as "maximum context length is 8192 tokens".
fn window(message: &str) -> Option<u64> {
    const BEFORE: &[&str] = &[
        "context length is ",
        "context length of ",
        "context length (",
        "context window of ",
        "context size (",
        "prompt length is ",
        "number of tokens allowed ",
        "model token limit: ",
        "the limit of ",
        "> ",
    ];
    const AFTER: &[&str] = &[" maximum context length", " tokens maximum"];
    let lower = message.to_lowercase();
    let before = BEFORE.iter().find_map(|before| {
        let after = &lower[lower.find(before)? + before.len()..];
        let after = after.trim_start_matches(['(', ' ']);
        number(after.strip_prefix("only ").unwrap_or(after))
    });
    before.or_else(|| {
        AFTER.iter().find_map(|after| number(lower[..lower.find(after)?].rsplit(' ').next()?))
    })
}

/// Reads the number that `text` begins with; commas may stand in it.
fn number(text: &str) -> Option<u64> {
    let digits = text.chars().take_while(|letter| letter.is_ascii_digit() || *letter == ',');
    let digits: String = digits.filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|tokens| *tokens >= 256)
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
            (500, "code exceed_context_size_error", Meaning::Overflow),
            (400, "Your input exceeds the context window of this model", Meaning::Overflow),
            (413, "request_too_large", Meaning::Overflow),
            (400, "the request exceeds the available context size", Meaning::Overflow),
            (400, "The number of tokens is greater than the context length", Meaning::Overflow),
            (400, "Please reduce the length of the messages or completion", Meaning::Overflow),
            (
                400,
                "Prompt contains 9 tokens, too large for model with 8 maximum context length",
                Meaning::Overflow,
            ),
            (
                400,
                "This model's maximum prompt length is 8 but the request has 9",
                Meaning::Overflow,
            ),
            (400, "Your request exceeded model token limit: 8", Meaning::Overflow),
            (400, "invalid params, context window exceeds limit", Meaning::Overflow),
            (400, "prompt token count of 9 exceeds the limit of 8", Meaning::Overflow),
            (400, "input is longer than the model's context length", Meaning::Overflow),
            (400, "prompt too long; exceeded max context length by 4 tokens", Meaning::Overflow),
            (
                400,
                "input length and `max_tokens` exceed context limit: 9 + 8 > 8",
                Meaning::Overflow,
            ),
            (400, "Too many tokens, please wait before trying again", Meaning::Other),
            (413, "Request too large: rate_limit_exceeded, tokens per minute", Meaning::Other),
            (400, "tool_use_failed", Meaning::BadCall),
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
            ("too large for model with 32768 maximum context length", Some(32_768)),
            ("the model is loaded with context length of only 4096 tokens", Some(4_096)),
            ("Input length (9000) exceeds model's maximum context length (8192).", Some(8_192)),
            ("Your request exceeded model token limit: 262144 (requested: 3)", Some(262_144)),
            ("This model's maximum prompt length is 131072 but", Some(131_072)),
            ("prompt token count of 150000 exceeds the limit of 128000", Some(128_000)),
            ("exceed context limit: 199000 + 20000 > 200000, decrease", Some(200_000)),
            ("the request exceeds the available context size (4096 tokens)", Some(4_096)),
            ("too long", None),
        ];
        for (message, expected) in rows {
            assert_eq!(window(message), expected, "{message}");
        }
    }
}
