//! Where a model is and how it is asked, whatever its wire format.

use serde_json::{Map, Value};

use super::error::ProviderError;
pub use super::http::Timeouts;

/// Where the model is and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// A base such as `http://localhost:11434/v1`, or the full path such as one that ends in
    /// `/chat/completions`.
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
    /// Certificates in PEM form that are trusted beside the system's.
    pub certificates: Option<String>,
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
            certificates: None,
        }
    }

    /// Refuses what names no server or no model.
    pub(super) fn check(&self) -> Result<(), ProviderError> {
        if self.url.trim().is_empty() {
            return Err(ProviderError::NoUrl);
        }
        if self.model.trim().is_empty() { Err(ProviderError::NoModel) } else { Ok(()) }
    }
}
