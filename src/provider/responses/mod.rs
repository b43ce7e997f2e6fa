//! Responses, the wire format that new models of `OpenAI` want for calling tools.

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
const PATH: &str = "/responses";

/// A model behind a server that speaks Responses. Nothing is stored there.
pub(super) struct Responses {
    connection: Connection,
    wire: String,
    dialect: Mutex<Dialect>,
    prefix: Written<Prefix>,
}

impl Responses {
    /// Prepares to ask. Nothing is connected yet.
    pub(super) fn new(options: Options) -> Result<Responses, ProviderError> {
        let connection = Connection::new(options, PATH)?;
        let wire = connection.wire(encode::WIRE);
        let dialect = Mutex::new(Dialect { learned: BTreeSet::new() });
        Ok(Responses { connection, wire, dialect, prefix: Written::default() })
    }
}

impl Protocol for Responses {
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
        let write = || Prefix::new(options, request);
        self.prefix.with(request, write, |prefix| prefix.body(options, request.messages, &dialect))
    }

    fn reply(&self) -> Assembler {
        Assembler::new(self.wire.clone())
    }

    fn learn(&self, told: &Told, _has_tools: bool) -> Option<String> {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.learn(told, &self.connection.options).map(|lesson| lesson.to_string())
    }

    fn outcome_start(id: &str) -> String {
        format!("{OUTCOME_START}{},", quoted(id))
    }
}
