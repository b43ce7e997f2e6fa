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
    /// Where the key comes from, or should.
    pub key_from: KeySource,
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

/// Where a key comes from, so that a refusal can name what to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A variable of this name.
    Variable(String),
    /// The `key_command` of the provider of this name.
    Command(String),
    /// Nothing yet: the settings of the provider of this name have no key.
    Settings(String),
}

impl Default for KeySource {
    fn default() -> KeySource {
        KeySource::Variable("AGENT_API_KEY".to_owned())
    }
}

impl KeySource {
    /// Says what to do where no key was sent.
    pub(super) fn to_set(&self) -> String {
        match self {
            KeySource::Variable(name) => format!("set {name} to the key of this server"),
            KeySource::Command(provider) | KeySource::Settings(provider) => format!(
                "name the variable that holds it as `key_env` in `[providers.{provider}]` of the \
                 settings file"
            ),
        }
    }

    /// Says what to do where the key was not accepted.
    pub(super) fn to_check(&self) -> String {
        match self {
            KeySource::Variable(name) => format!("check that {name} belongs to this server"),
            KeySource::Command(provider) => {
                format!("check what the `key_command` of `[providers.{provider}]` prints")
            }
            KeySource::Settings(provider) => {
                format!("check the headers in `[providers.{provider}]` of the settings file")
            }
        }
    }
}

impl Options {
    /// Returns what is usual for `model` at `url`.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Options {
        Options {
            url: url.into(),
            key: None,
            key_from: KeySource::default(),
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
