//! Anthropic Messages, the wire format of Claude and of servers that copy it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::message::Message;

use super::connection::Connection;
use super::error::ProviderError;
use super::exchange::Protocol;
use super::options::Options;
use super::sendable::quoted;
use super::told::Told;
use super::written::Written;
use super::{Encoded, Request};

mod assembler;
mod encode;
mod request;

use assembler::Assembler;
use encode::OUTCOME_START;
use request::{Dialect, Prefix};

/// What ends the path of the address.
const PATH: &str = "/messages";

/// The version of the interface that is spoken.
const VERSION: &str = "2023-06-01";

/// A model behind a server that speaks Anthropic Messages.
pub(super) struct Anthropic {
    connection: Connection,
    wire: String,
    dialect: Mutex<Dialect>,
    prefix: Written<Prefix>,
}

impl Anthropic {
    /// Prepares to ask. Nothing is connected yet.
    pub(super) fn new(mut options: Options) -> Result<Anthropic, ProviderError> {
        let key = options.key.take().map(|key| key.trim().to_owned());
        let key = key.filter(|key| !key.is_empty());
        options.headers.extend(key.map(|key| ("x-api-key".to_owned(), key)));
        let limit = options.max_tokens;
        let mut connection = Connection::new(options, PATH)?;
        connection.server.add_header("anthropic-version", VERSION);
        let wire = connection.wire(encode::WIRE);
        let dialect = Mutex::new(Dialect { limit, learned: BTreeSet::new() });
        Ok(Anthropic { connection, wire, dialect, prefix: Written::default() })
    }
}

impl Protocol for Anthropic {
    type Reply = Assembler;

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn encode(&self, message: &Message) -> Encoded {
        Encoded(encode::encode(message, &self.wire))
    }

    fn body(&self, request: &Request<'_>) -> Vec<u8> {
        let options = &self.connection.options;
        let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let write = || Prefix::new(options, request, &dialect);
        self.prefix.with(request, write, |prefix| prefix.body(options, request.messages, &dialect))
    }

    fn reply(&self) -> Assembler {
        Assembler::new(self.wire.clone())
    }

    fn learn(&self, told: &Told, _has_tools: bool) -> Option<String> {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let lesson = dialect.learn(told, &self.connection.options)?;
        self.prefix.forget();
        Some(lesson.to_string())
    }

    fn outcome_start(id: &str) -> String {
        format!("{OUTCOME_START}{},", quoted(id))
    }
}
