//! Which server and model are used, and where that was said.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::providers::{self, ModelSettings};
use super::{Environment, Layer};
use crate::cli::GlobalOptions;
use crate::provider::{KeySource, Wire};

/// Where Ollama listens when nothing else is said.
const LOCAL_URL: &str = "http://localhost:11434/v1";

/// The server and the model in force.
#[derive(Clone, PartialEq)]
pub struct ServerChoice {
    /// The provider's name, where it has one.
    pub provider: Option<String>,
    pub url: String,
    pub wire: Wire,
    pub key: Key,
    /// Where the key comes from, or should.
    pub key_from: KeySource,
    /// The header that the key goes into instead of the usual one.
    pub key_header: Option<&'static str>,
    /// Extra headers, some of them secret.
    pub headers: Vec<(String, String)>,
    /// Extra fields of every request.
    pub body: Map<String, Value>,
    /// Certificates in PEM form that are trusted beside the system's.
    pub certificates: Option<String>,
    /// Whether replies arrive piece by piece, where the provider's settings say so.
    pub stream: Option<bool>,
    /// Whether calls that a model writes as text count, where the provider's settings say so.
    pub spoken_calls: Option<bool>,
    /// What is particular to single models.
    pub models: BTreeMap<String, ModelSettings>,
    /// `None` when the server must be asked what it offers.
    pub model: Option<String>,
    pub source: ModelSource,
}

impl std::fmt::Debug for ServerChoice {
    /// Leaves out all that may be secret: keys, headers, fields.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerChoice")
            .field("provider", &self.provider)
            .field("url", &self.url)
            .field("wire", &self.wire)
            .field("key", &self.key)
            .field("model", &self.model)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A key, or how to get it. It is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Key {
    #[default]
    None,
    Text(String),
    /// A command of the person's settings that prints it.
    Command(String),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Key::None { "none" } else { "(hidden)" })
    }
}

/// What selected the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSource {
    /// A flag, a variable or a setting, named.
    Named(&'static str),
    /// A known key's variable.
    Key(&'static str),
    /// A model alone: the local server is tried.
    ModelAlone,
    /// A server that was found on this machine, and that the person chose.
    Found,
}

/// Why there is no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error(
        "no model is set. Set `AGENT_API_URL` (such as http://localhost:11434/v1), `AGENT_MODEL` \
         and, where the server wants one, `AGENT_API_KEY`; or export a key such as \
         `OPENROUTER_API_KEY` and name a model with `-m`; or try `snick demo`, which needs nothing"
    )]
    Nothing,
    #[error(
        "the variable `{name}` that the settings name is not set; export it, or take it out of \
             the settings file"
    )]
    NoKey { name: String },
    #[error("the provider `{provider}` wants a key: export it as `{name}`")]
    NoProviderKey { provider: String, name: String },
    #[error(
        "there is no provider `{name}`; there are {known}, and what `[providers.NAME]` in the \
             settings file adds"
    )]
    UnknownProvider { name: String, known: String },
    #[error("the address of the provider `{name}` is not known: set `base_url` in \
             `[providers.{name}]` of the settings file{}", or_variable(*variable))]
    NoAddress { name: String, variable: Option<&'static str> },
    #[error("the certificates in `{path}` cannot be read: {why}")]
    Certificates { path: String, why: String },
}

fn or_variable(variable: Option<&'static str>) -> String {
    variable.map(|name| format!(", or export `{name}`")).unwrap_or_default()
}

impl ServerChoice {
    /// Returns a server that is known by its address only.
    pub fn at(url: &str, key: Option<&str>, model: Option<&str>, source: ModelSource) -> Self {
        ServerChoice {
            provider: None,
            url: url.to_owned(),
            wire: Wire::of_address(url),
            key: key.map_or(Key::None, |key| Key::Text(key.to_owned())),
            key_from: KeySource::default(),
            key_header: None,
            headers: Vec::new(),
            body: Map::new(),
            certificates: None,
            stream: None,
            spoken_calls: None,
            models: BTreeMap::new(),
            model: model.map(str::to_owned),
            source,
        }
    }
}

/// Chooses the server and the model: a flag, a variable, a setting, a known key, a model alone.
pub(super) fn choose(
    options: &GlobalOptions,
    environment: &Environment,
    settings: &Layer,
) -> Result<ServerChoice, ModelError> {
    let said = options.model.as_deref().or(environment.get("AGENT_MODEL"));
    let model = said.or(settings.model.as_deref());
    let own_key = environment.get("AGENT_API_KEY");
    let provider = |name: &str, source| {
        // The model of the settings file may belong to another provider's table.
        let own = settings.providers.get(name).and_then(|own| own.model.as_deref());
        let choice =
            providers::named(name, environment, &settings.providers, said.or(own).or(model));
        choice.map(|choice| ServerChoice { source: ModelSource::Named(source), ..choice })
    };
    if let Some(url) = options.api_url.as_deref() {
        return Ok(ServerChoice::at(url, own_key, model, ModelSource::Named("--api-url")));
    }
    if let Some(name) = options.provider.as_deref() {
        return provider(name, "--provider");
    }
    if let Some(url) = environment.get("AGENT_API_URL") {
        return Ok(ServerChoice::at(url, own_key, model, ModelSource::Named("AGENT_API_URL")));
    }
    if let Some(name) = settings.provider.as_deref() {
        return provider(name, "the settings file");
    }
    if let Some(url) = &settings.api_url {
        let source = ModelSource::Named("the settings file");
        let Some(name) = &settings.api_key_env else {
            return Ok(ServerChoice::at(url, None, model, source));
        };
        let Some(key) = environment.get(name) else {
            return Err(ModelError::NoKey { name: name.clone() });
        };
        let choice = ServerChoice::at(url, Some(key), model, source);
        return Ok(ServerChoice { key_from: KeySource::Variable(name.clone()), ..choice });
    }
    if let Some(choice) = providers::by_key(environment, &settings.providers, model) {
        return choice;
    }
    if model.is_some() {
        return Ok(ServerChoice::at(LOCAL_URL, own_key, model, ModelSource::ModelAlone));
    }
    Err(ModelError::Nothing)
}
