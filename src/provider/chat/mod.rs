//! Chat completions, the wire format that most servers speak.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, Url};

use crate::message::{Message, Reply, ToolSpec};

use super::address;
use super::error::ProviderError;
use super::exchange::{self, Protocol};
use super::http::Server;
pub use super::options::{Options, Timeouts};
use super::sendable::quoted;
use super::told::Told;
use super::{Chunk, Encoded, ModelInfo, Provider, Request};
use super::{models, window};

mod assembler;
mod calls;
mod encode;
mod merge;
mod request;
mod spoken;
mod think;

pub(super) use encode::encode;

use assembler::Assembler;
use encode::TOOL_START;
use request::{Dialect, Prefix};

/// What ends the path of the address.
const PATH: &str = "/chat/completions";

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
        options.check()?;
        let endpoint = address::endpoint(&options.url, PATH)?;
        let server = Server::new(&endpoint, &options)?;
        let dialect = Mutex::new(Dialect::new(&options));
        let (prefix, calls_properly) = (Mutex::new(None), AtomicBool::new(false));
        Ok(Chat { server, endpoint, options, dialect, prefix, calls_properly })
    }

    /// Returns host and port of the server, as people say them.
    pub fn host(&self) -> &str {
        &self.server.host
    }

    /// Asks the server for its models. It also proves that the server is there and takes the key.
    ///
    /// # Errors
    /// As for any request; a server without such a list gives [`ProviderError::Status`].
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        models::list(self, &self.endpoint).await
    }

    /// Asks the server how many tokens the model reads. `models` is what it lists.
    pub async fn window(&self, models: &[ModelInfo]) -> Option<u64> {
        window::ask(self, &self.endpoint, models).await
    }

    /// Assembles the body of `request`.
    fn body(&self, request: &Request<'_>) -> Vec<u8> {
        let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut prefix = self.prefix.lock().unwrap_or_else(PoisonError::into_inner);
        let known = prefix.take().filter(|prefix| prefix.is_of(request));
        let known = prefix.insert(known.unwrap_or_else(|| Prefix::new(&self.options, request)));
        known.body(request.messages, &dialect)
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
}

impl Protocol for Chat {
    type Reply = Assembler;

    fn server(&self) -> &Server {
        &self.server
    }

    fn model(&self) -> &str {
        &self.options.model
    }

    fn post(&self, request: &Request<'_>) -> RequestBuilder {
        self.server.post(self.endpoint.clone(), self.body(request))
    }

    fn reply(&self) -> Assembler {
        Assembler::default()
    }

    fn learn(&self, told: &Told, has_tools: bool) -> Option<String> {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.learn(told, has_tools).map(|lesson| lesson.to_string())
    }

    fn outcome_start(id: &str) -> String {
        format!("{TOOL_START}{},", quoted(id))
    }

    fn take_spoken_calls(&self, reply: &mut Reply, tools: &[ToolSpec]) -> Vec<String> {
        if self.takes_spoken_calls(reply) { spoken::recover(reply, tools) } else { Vec::new() }
    }

    fn take_written_calls(&self, reply: &mut Reply, tools: &[ToolSpec]) -> Vec<String> {
        if self.options.spoken_calls { spoken::recover(reply, tools) } else { Vec::new() }
    }
}

impl Provider for Chat {
    fn model(&self) -> &str {
        &self.options.model
    }

    fn encode(&self, message: &Message) -> Encoded {
        if let Message::Assistant(reply) = message
            && let Some(raw) = &reply.raw
            && !raw.origin.is_empty()
            && raw.origin != exchange::origin(&self.options.model, &self.server.host)
        {
            let reply = Reply { raw: None, ..reply.clone() };
            return Encoded(encode(&Message::Assistant(reply)));
        }
        Encoded(encode(message))
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        exchange::stream(self, request)
    }
}

#[cfg(test)]
mod tests {
    use crate::message::{CallId, ToolCall};

    use super::*;

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
