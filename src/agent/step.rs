//! What comes next, read off the log: the loop keeps no state of its own.

use crate::message::{Message, ToolCall};
use crate::session::Record;

/// What the loop does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<'a> {
    /// Ask the model.
    Ask,
    /// Perform these calls of the last reply, in order.
    Perform(Vec<&'a ToolCall>),
    /// Nothing: the turn is over.
    Done,
}

/// Reads the next step off `records`, so that a session that broke off anywhere, even between
/// two calls of one reply, goes on from its log.
pub fn next_step(records: &[Record]) -> Step<'_> {
    let mut answered = Vec::new();
    for record in records.iter().rev() {
        let Record::Message { message } = record else { continue };
        match message {
            Message::User(_) => return Step::Ask,
            Message::Tool(result) => answered.push(&result.call),
            Message::Assistant(reply) => {
                let open = reply.calls.iter().filter(|call| !answered.contains(&&call.id));
                let open: Vec<&ToolCall> = open.collect();
                return match (open.is_empty(), reply.calls.is_empty()) {
                    (false, _) => Step::Perform(open),
                    (true, true) => Step::Done,
                    (true, false) => Step::Ask,
                };
            }
        }
    }
    Step::Done
}
