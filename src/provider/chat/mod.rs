//! Chat completions, the wire format that most servers speak.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::Url;
use serde_json::{Map, Value};

use crate::message::{Message, Reply};

use super::error::ProviderError;
use super::failure::Asked;
use super::http::Server;
pub use super::http::Timeouts;
use super::told::Told;
use super::{Chunk, Encoded, Provider, Request};

mod assembler;
mod calls;
mod encode;
mod exchange;
mod merge;
mod models;
mod request;
mod spoken;
mod think;

pub(super) use encode::encode;
pub use models::ModelInfo;

use exchange::Exchange;
use request::{Dialect, Lesson, Prefix};

/// Where the model is and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// A base such as `http://localhost:11434/v1`, or the full path ending in `/chat/completions`.
    pub url: String,
    pub key: Option<String>,
    pub model: String,
    /// Whether replies arrive piece by piece.
    pub stream: bool,
    /// Headers that go with every request, as some gateways want them.
    pub headers: Vec<(String, String)>,
    pub timeouts: Timeouts,
    /// How much the model should reason, in the server's words.
    pub effort: Option<String>,
    /// The most tokens of a reply; the server's own limit where there is none.
    pub max_tokens: Option<u64>,
    /// Whether a text that is nothing but a call counts as one, as small local models write it.
    pub spoken_calls: bool,
    /// Fields that are added to every request as they are.
    pub extra: Map<String, Value>,
}

impl Options {
    /// Returns what is usual for `model` at `url`.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Options {
        Options {
            url: url.into(),
            key: None,
            model: model.into(),
            stream: true,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            effort: None,
            max_tokens: None,
            spoken_calls: true,
            extra: Map::new(),
        }
    }
}

/// A model behind a server that speaks chat completions.
pub struct Chat {
    server: Server,
    endpoint: Url,
    options: Options,
    dialect: Mutex<Dialect>,
    prefix: Mutex<Option<Prefix>>,
    /// A proper call has come from this server.
    calls_properly: AtomicBool,
}

impl Chat {
    /// Prepares to ask. Nothing is connected yet.
    ///
    /// # Errors
    /// No address or model, an address that is none, a key or header that cannot be sent.
    pub fn new(options: Options) -> Result<Chat, ProviderError> {
        if options.url.trim().is_empty() {
            return Err(ProviderError::NoUrl);
        }
        if options.model.trim().is_empty() {
            return Err(ProviderError::NoModel);
        }
        let endpoint = endpoint(&options.url)?;
        let server =
            Server::new(&endpoint, options.key.as_deref(), &options.headers, options.timeouts)?;
        let dialect = Mutex::new(Dialect::new(&options));
        let (prefix, calls_properly) = (Mutex::new(None), AtomicBool::new(false));
        Ok(Chat { server, endpoint, options, dialect, prefix, calls_properly })
    }

    /// Returns host and port of the server, as people say them.
    pub fn host(&self) -> &str {
        &self.server.host
    }

    /// Assembles the body of `request`.
    fn body(&self, request: &Request<'_>) -> Vec<u8> {
        let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut prefix = self.prefix.lock().unwrap_or_else(PoisonError::into_inner);
        let known = prefix.take().filter(|prefix| prefix.is_of(request));
        let known = prefix.insert(known.unwrap_or_else(|| Prefix::new(&self.options, request)));
        known.body(request.messages, &dialect)
    }

    /// Learns from a refusal; says what changes where the request is worth repeating.
    fn learn(&self, told: &Told, has_tools: bool) -> Option<Lesson> {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner).learn(told, has_tools)
    }

    /// Whether a call written as text counts.
    ///
    /// From a server that has shown that it knows proper calls, such a text is more likely a
    /// quotation. Local servers are believed all the same: they read calls only most of the time.
    fn takes_spoken_calls(&self, reply: &Reply) -> bool {
        if !reply.calls.is_empty() {
            self.calls_properly.store(true, Ordering::Relaxed);
        }
        let believed = self.server.loopback || !self.calls_properly.load(Ordering::Relaxed);
        self.options.spoken_calls && believed
    }

    fn asked(&self) -> Asked<'_> {
        Asked { server: &self.server, model: &self.options.model }
    }
}

impl Provider for Chat {
    fn model(&self) -> &str {
        &self.options.model
    }

    fn encode(&self, message: &Message) -> Encoded {
        Encoded(encode(message))
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let exchange = Exchange::new(self, request);
        let next = |mut exchange: Exchange<'a>| async {
            let item = exchange.next().await?;
            Some((item, exchange))
        };
        stream::unfold(exchange, next).boxed()
    }
}

/// Reads the address of chat completions out of a base or a full one; a query string stays.
fn endpoint(text: &str) -> Result<Url, ProviderError> {
    let text = text.trim();
    let shown = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match shown.split_once("://") {
        // What stands before an @ may be a password.
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, rest)) => format!("{scheme}://{rest}"),
            None => shown.to_owned(),
        },
        None => shown.to_owned(),
    };
    let refused = |why: &str| ProviderError::Url { url: shown.clone(), why: why.to_owned() };
    if !text.contains("://") {
        return Err(refused("it does not begin with http:// or https://"));
    }
    let mut url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("only http and https are possible"));
    }
    let path = url.path().trim_end_matches('/');
    if !path.ends_with("/chat/completions") {
        let path = format!("{path}/chat/completions");
        url.set_path(&path);
    } else if path.len() < url.path().len() {
        let path = path.to_owned();
        url.set_path(&path);
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use crate::message::{CallId, ToolCall};

    use super::*;

    #[test]
    fn a_base_and_a_full_address_lead_to_the_same_place() {
        let rows = [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            (" https://h/v1/ ", "https://h/v1/chat/completions"),
            ("http://h", "http://h/chat/completions"),
            ("http://h/v1/chat/completions/", "http://h/v1/chat/completions"),
            ("https://h/d/x?api-version=1", "https://h/d/x/chat/completions?api-version=1"),
            (
                "h:1/v1",
                "`h:1/v1` is not the address of a model server: it does not begin with http:// or https://",
            ),
            (
                "ftp://h",
                "`ftp://h` is not the address of a model server: only http and https are possible",
            ),
            ("http://u:pw@?k=secret", "`http://` is not the address of a model server: empty host"),
        ];
        for (text, expected) in rows {
            let found =
                endpoint(text).map_or_else(|error| error.to_string(), |url| url.to_string());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn calls_as_text_count_until_a_distant_server_has_made_a_proper_one() {
        let call = ToolCall { id: CallId("1".into()), name: "n".into(), arguments: "{}".into() };
        let (text, proper) = (Reply::new("t", vec![]), Reply::new("", vec![call]));
        for (url, afterwards) in [("http://h/v1", false), ("http://localhost/v1", true)] {
            let chat = Chat::new(Options::new(url, "m")).unwrap();
            let taken = [&text, &proper, &text].map(|reply| chat.takes_spoken_calls(reply));
            assert_eq!(taken, [true, afterwards, afterwards], "{url}");
        }
    }
}
