//! Which server and model are used, and where that was said.

use super::{Environment, Layer};
use crate::cli::GlobalOptions;

/// Where Ollama listens when nothing else is said.
const LOCAL_URL: &str = "http://localhost:11434/v1";

/// Keys that select their provider when nothing else does: variable, variable of the base URL, URL.
const KNOWN_KEYS: &[(&str, Option<&str>, &str)] = &[
    ("OPENROUTER_API_KEY", None, "https://openrouter.ai/api/v1"),
    ("OPENAI_API_KEY", Some("OPENAI_BASE_URL"), "https://api.openai.com/v1"),
    ("ANTHROPIC_API_KEY", None, "https://api.anthropic.com/v1"),
    ("GEMINI_API_KEY", None, "https://generativelanguage.googleapis.com/v1beta/openai"),
    ("DEEPSEEK_API_KEY", None, "https://api.deepseek.com/v1"),
    ("MISTRAL_API_KEY", None, "https://api.mistral.ai/v1"),
    ("GROQ_API_KEY", None, "https://api.groq.com/openai/v1"),
    ("TOGETHER_API_KEY", None, "https://api.together.xyz/v1"),
    ("XAI_API_KEY", None, "https://api.x.ai/v1"),
];

/// The server and the model in force.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerChoice {
    pub url: String,
    /// Never shown: see [`std::fmt::Debug`].
    pub key: Option<String>,
    /// `None` when the server must be asked what it offers.
    pub model: Option<String>,
    pub source: ModelSource,
}

impl std::fmt::Debug for ServerChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.key.as_ref().map(|_| "(hidden)");
        f.debug_struct("ServerChoice")
            .field("url", &self.url)
            .field("key", &key)
            .field("model", &self.model)
            .field("source", &self.source)
            .finish()
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
        "the variable `{name}` that `api_key_env` names is not set; export it, or take the \
         setting out of the settings file"
    )]
    NoKey { name: String },
}

/// Chooses the server and the model.
pub(super) fn choose(
    options: &GlobalOptions,
    environment: &Environment,
    settings: &Layer,
) -> Result<ServerChoice, ModelError> {
    let model = options.model.as_deref().or(environment.get("AGENT_MODEL"));
    let model = model.or(settings.model.as_deref()).map(str::to_owned);
    let named = [
        (options.api_url.as_deref(), "--api-url"),
        (environment.get("AGENT_API_URL"), "AGENT_API_URL"),
    ];
    let named = named.into_iter().find_map(|(url, source)| Some((url?, source)));
    if let Some((url, source)) = named {
        let key = environment.get("AGENT_API_KEY").map(str::to_owned);
        let source = ModelSource::Named(source);
        return Ok(ServerChoice { url: url.to_owned(), key, model, source });
    }
    if let Some(url) = &settings.api_url {
        let key = match &settings.api_key_env {
            Some(name) => match environment.get(name) {
                Some(key) => Some(key.to_owned()),
                None => return Err(ModelError::NoKey { name: name.clone() }),
            },
            None => None,
        };
        let source = ModelSource::Named("the settings file");
        return Ok(ServerChoice { url: url.clone(), key, model, source });
    }
    for (variable, base, url) in KNOWN_KEYS {
        let Some(key) = environment.get(variable) else { continue };
        let url = base.and_then(|base| environment.get(base)).unwrap_or(url);
        let (url, key) = (url.to_owned(), Some(key.to_owned()));
        return Ok(ServerChoice { url, key, model, source: ModelSource::Key(variable) });
    }
    if model.is_some() {
        let (url, source) = (LOCAL_URL.to_owned(), ModelSource::ModelAlone);
        let key = environment.get("AGENT_API_KEY").map(str::to_owned);
        return Ok(ServerChoice { url, key, model, source });
    }
    Err(ModelError::Nothing)
}
