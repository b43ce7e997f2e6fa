//! Responses, the wire format that new models of `OpenAI` want for calling tools.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, Url};

use crate::message::Message;

use super::error::ProviderError;
use super::exchange::{self, Protocol};
use super::http::{Server, spoken_host};
use super::options::Options;
use super::sendable::quoted;
use super::told::Told;
use super::{Chunk, Encoded, ModelInfo, Provider, Request};
use super::{address, models, window};

mod assembler;
mod encode;
mod request;

use assembler::Assembler;
use encode::OUTCOME_START;
use request::{Dialect, Prefix};

/// What ends the path of the address.
const PATH: &str = "/responses";

/// A model behind a server that speaks Responses. Nothing is stored there.
pub struct Responses {
    server: Server,
    endpoint: Url,
    options: Options,
    /// The name of the wire and its host: only that host reads the sealed parts of a reply.
    wire: String,
    dialect: Mutex<Dialect>,
    prefix: Mutex<Option<Prefix>>,
}

impl Responses {
    /// Prepares to ask. Nothing is connected yet.
    ///
    /// # Errors
    /// No address or model, an address that is none, a key or header that cannot be sent.
    pub fn new(options: Options) -> Result<Responses, ProviderError> {
        options.check()?;
        let endpoint = address::endpoint(&options.url, PATH)?;
        let server = Server::new(&endpoint, &options)?;
        let wire = format!("{} {}", encode::WIRE, spoken_host(&endpoint));
        let dialect = Mutex::new(Dialect { learned: BTreeSet::new() });
        Ok(Responses { server, endpoint, options, wire, dialect, prefix: Mutex::new(None) })
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
        known.body(&self.options, request.messages, &dialect)
    }
}

impl Protocol for Responses {
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
        Assembler::new(self.wire.clone())
    }

    fn learn(&self, told: &Told, _has_tools: bool) -> Option<String> {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.learn(told, &self.options).map(|lesson| lesson.to_string())
    }

    fn outcome_start(id: &str) -> String {
        format!("{OUTCOME_START}{},", quoted(id))
    }
}

impl Provider for Responses {
    fn model(&self) -> &str {
        &self.options.model
    }

    fn encode(&self, message: &Message) -> Encoded {
        Encoded(encode::encode(message, &self.wire))
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        exchange::stream(self, request)
    }
}
