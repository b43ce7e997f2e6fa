//! What was said: messages, calls, outcomes, tool specs; free of any provider's format.

mod mend;
mod outcome;
mod reply;

pub use outcome::{ContentHash, FileNote, FileTouch, Outcome, Status, ToolResult};
pub use reply::{ArgumentsError, CallId, Finish, Price, RawMessage, Reply, ToolCall, Usage};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of the conversation, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the person said, or what Snick tells the model on its own account.
    User(UserMessage),
    /// One complete answer of the model.
    Assistant(Reply),
    /// What became of one call of the reply before it.
    Tool(ToolResult),
}

impl Message {
    /// Returns a message of the person that is only text.
    pub fn user(text: impl Into<String>) -> Message {
        Message::User(UserMessage { parts: vec![Part::Text { text: text.into() }] })
    }
}

/// A message of the person: a list of parts, so that images can join texts later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    pub parts: Vec<Part>,
}

impl UserMessage {
    /// Returns the texts of the parts, joined by blank lines.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text { text } => text.as_str(),
        });
        texts.collect::<Vec<&str>>().join("\n\n")
    }
}

/// One piece of a person's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
}

/// A tool as the model sees it: the content of one `tools/NAME.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A closed JSON schema of type `object`.
    pub parameters: Value,
}
