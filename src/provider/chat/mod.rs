//! Chat completions, the wire format that most servers speak.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::message::{Message, Reply, ToolSpec};

use super::connection::Connection;
use super::error::ProviderError;
use super::exchange::Protocol;
use super::options::Options;
use super::sendable::quoted;
use super::told::Told;
use super::written::Written;
use super::{Encoded, Request};

mod assembler;
mod calls;
mod effort;
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
pub(super) struct Chat {
    connection: Connection,
    dialect: Mutex<Dialect>,
    prefix: Written<Prefix>,
    /// A proper call has come from this server.
    calls_properly: AtomicBool,
}

impl Chat {
    /// Prepares to ask. Nothing is connected yet.
    pub(super) fn new(options: Options) -> Result<Chat, ProviderError> {
        let connection = Connection::new(options, PATH)?;
        let dialect = Mutex::new(Dialect::new(&connection));
        let (prefix, calls_properly) = (Written::default(), AtomicBool::new(false));
        Ok(Chat { connection, dialect, prefix, calls_properly })
    }

    /// Whether a call written as text counts.
    ///
    /// From a server that has shown that it knows proper calls, such a text is more likely a
    /// quotation. Local servers are believed all the same: they read calls only most of the time.
    fn takes_spoken_calls(&self, reply: &Reply) -> bool {
        if !reply.calls.is_empty() {
            self.calls_properly.store(true, Ordering::Relaxed);
        }
        let believed =
            self.connection.server.loopback || !self.calls_properly.load(Ordering::Relaxed);
        self.connection.options.spoken_calls && believed
    }
}

impl Protocol for Chat {
    type Reply = Assembler;

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn encode(&self, message: &Message) -> Encoded {
        if let Message::Assistant(reply) = message
            && let Some(raw) = &reply.raw
            && !raw.origin.is_empty()
            && raw.origin != self.connection.origin()
        {
            let reply = Reply { raw: None, ..reply.clone() };
            return Encoded(encode(&Message::Assistant(reply)));
        }
        Encoded(encode(message))
    }

    fn body(&self, request: &Request<'_>) -> Vec<u8> {
        let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let write = || Prefix::new(&self.connection.options, request);
        self.prefix.with(request, write, |prefix| prefix.body(request.messages, &dialect))
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
        if self.connection.options.spoken_calls {
            spoken::recover(reply, tools)
        } else {
            Vec::new()
        }
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
