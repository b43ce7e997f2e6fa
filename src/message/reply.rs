//! What the model answered: text, calls, usage, and its own message kept as it came.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::mend::{self, Found};

/// The id of a call, unique within its reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One tool call inside a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    /// The arguments as the model wrote them: usually a JSON object, possibly anything.
    pub arguments: String,
}

/// Why the arguments of a call cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentsError {
    #[error("the arguments are not valid JSON ({why}); they begin with `{start}`")]
    Malformed { why: String, start: String },
    #[error("the arguments end in the middle; the call was cut off, so use smaller steps")]
    CutOff,
    #[error("the arguments are {found}, not a JSON object")]
    NotAnObject { found: &'static str },
}

impl ToolCall {
    /// Returns the arguments. Nothing at all counts as an object without members, and what is
    /// nearly JSON is mended where only one thing can be meant.
    ///
    /// # Errors
    /// Text that is not JSON, JSON that stops early, and JSON that is not an object.
    pub fn object(&self) -> Result<Map<String, Value>, ArgumentsError> {
        match self.strictly() {
            Ok(object) => Ok(object),
            Err(error) => match mend::object(&self.arguments) {
                Found::Object(object) => Ok(object),
                Found::Cut => Err(ArgumentsError::CutOff),
                Found::Nothing => Err(error),
            },
        }
    }

    /// Returns the arguments as JSON: as they came, mended, or an empty object where they are none.
    ///
    /// Servers that parse the history would refuse every later request; the log keeps the text.
    pub fn json(&self) -> Cow<'_, str> {
        if !self.arguments.trim().is_empty() && self.strictly().is_ok() {
            return Cow::Borrowed(&self.arguments);
        }
        self.object().map_or("{}".into(), |object| Value::Object(object).to_string().into())
    }

    fn strictly(&self) -> Result<Map<String, Value>, ArgumentsError> {
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        let found = match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(object)) => return Ok(object),
            Ok(Value::Null) => "null",
            Ok(Value::Bool(_)) => "a boolean",
            Ok(Value::Number(_)) => "a number",
            Ok(Value::String(_)) => "a string",
            Ok(Value::Array(_)) => "a list",
            Err(error) if error.is_eof() => return Err(ArgumentsError::CutOff),
            Err(error) => {
                let start = self.arguments.chars().take(80).collect();
                return Err(ArgumentsError::Malformed { why: error.to_string(), start });
            }
        };
        Err(ArgumentsError::NotAnObject { found })
    }
}

/// How a reply ended, judged by its content and not only by what the server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The reply is whole.
    Complete,
    /// The token limit cut it.
    Length,
    /// The model or a filter declined to answer.
    Refused,
    /// The person stopped it; only the text that had come is kept.
    Cancelled,
}

/// Tokens and money of one request. Absent figures are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All tokens of the request, cached ones included.
    pub input: u64,
    /// Those of `input` that the server read from its cache.
    pub cached: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
    /// US dollars, where the server tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Returns the figures of both.
    #[must_use]
    pub fn plus(&self, more: &Usage) -> Usage {
        Usage {
            input: self.input + more.input,
            cached: self.cached + more.cached,
            output: self.output + more.output,
            cost: match (self.cost, more.cost) {
                (None, None) => None,
                (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
            },
        }
    }
}

/// What tokens cost, in US dollars for a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    /// Of input that the server reads from its cache; as `input` where it is not given.
    pub cached: Option<f64>,
    pub output: f64,
}

impl Price {
    /// Returns what `usage` costs in US dollars.
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        // No request has as many tokens as 32 bits count.
        let count = |tokens: u64| f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
        let part = |tokens: u64, price: f64| count(tokens) * price / 1e6;
        part(usage.input - cached, self.input)
            + part(cached, self.cached.unwrap_or(self.input))
            + part(usage.output, self.output)
    }
}

/// The provider's own assistant message, serialised once, tagged with its wire format.
///
/// On the same wire it goes back byte for byte, unknown fields included, since several
/// providers answer 400 when a field of theirs is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawMessage {
    /// Name of the wire format, such as `chat`.
    pub wire: String,
    /// One JSON object.
    pub json: String,
    /// The model and the server that wrote it; empty where nobody noted it. Signatures and sealed
    /// reasoning are of use to nobody else, and some servers refuse those of others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

/// One complete answer of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    pub finish: Finish,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawMessage>,
}

impl Reply {
    /// Returns a whole reply of text and calls, without anything of a provider's.
    pub fn new(text: impl Into<String>, calls: Vec<ToolCall>) -> Reply {
        let (reasoning, usage, raw) = (String::new(), None, None);
        Reply { text: text.into(), reasoning, calls, finish: Finish::Complete, usage, raw }
    }
}
