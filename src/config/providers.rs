//! Providers by name: those that are built in, and `[providers.NAME]` of the person's settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Environment;
use super::model::{Key, ModelError, ModelSource, ServerChoice};
use crate::message::Price;
use crate::provider::{KeySource, Wire};

/// `[providers.NAME]`: a new provider, or what differs from the built-in one of that name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    pub base_url: Option<String>,
    pub wire: Option<Wire>,
    /// The variable that holds the key; the key itself is never in a file.
    pub key_env: Option<String>,
    /// A command that prints the key.
    pub key_command: Option<String>,
    /// The model where none is named.
    pub model: Option<String>,
    /// Extra headers; `${NAME}` in a value stands for a variable.
    pub headers: BTreeMap<String, String>,
    /// Extra fields of every request.
    pub body: Map<String, Value>,
    /// A file of certificates that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Ask for streams.
    pub stream: Option<bool>,
    /// Whether calls that a model writes as text count.
    pub spoken_calls: Option<bool>,
    pub models: BTreeMap<String, ModelSettings>,
}

/// `[providers.NAME.models."MODEL"]`: what is particular to one model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// How many tokens it reads.
    pub context: Option<u64>,
    /// The most tokens of a reply.
    pub max_tokens: Option<u64>,
    pub effort: Option<String>,
    pub price: Option<Price>,
    /// Whether calls that it writes as text count.
    pub spoken_calls: Option<bool>,
    /// Extra fields of every request.
    pub body: Map<String, Value>,
}

/// A provider that is built in.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Empty where each customer has an address of their own.
    url: &'static str,
    wire: Wire,
    /// The variable that holds the key; empty where none is wanted.
    pub key: &'static str,
    /// The variable that may hold another address, and what follows that address.
    base: Option<(&'static str, &'static str)>,
    /// The header that the key goes into instead of the usual one.
    header: Option<&'static str>,
    /// Whether it runs on this machine.
    pub is_local: bool,
}

/// Returns a hosted provider of chat completions.
const fn hosted(
    name: &'static str,
    title: &'static str,
    url: &'static str,
    key: &'static str,
) -> Preset {
    let (wire, base, header, is_local) = (Wire::Chat, None, None, false);
    Preset { name, title, url, wire, key, base, header, is_local }
}

/// Returns a server that runs on this machine.
const fn local(name: &'static str, title: &'static str, url: &'static str) -> Preset {
    Preset { is_local: true, ..hosted(name, title, url, "") }
}

/// Every built-in provider. The first whose key is set is used when nothing else is said.
pub const PRESETS: &[Preset] = &[
    hosted("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Preset {
        wire: Wire::Responses,
        base: Some(("OPENAI_BASE_URL", "")),
        ..hosted("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    Preset {
        wire: Wire::Anthropic,
        ..hosted("anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
    },
    hosted(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
    ),
    hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    hosted("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    hosted("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    hosted("together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    hosted("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
    Preset {
        base: Some(("AZURE_OPENAI_ENDPOINT", "/openai/v1")),
        header: Some("api-key"),
        ..hosted("azure", "Azure", "", "AZURE_OPENAI_API_KEY")
    },
    local("ollama", "Ollama", "http://localhost:11434/v1"),
    local("llama.cpp", "llama.cpp", "http://localhost:8080/v1"),
    local("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    local("vllm", "vLLM", "http://localhost:8000/v1"),
];

impl Preset {
    /// Returns the address and the wire format; `None` where the address is not known.
    fn server(&self, environment: &Environment) -> Option<(String, Wire)> {
        let given = self.base.and_then(|(name, rest)| Some((environment.get(name)?, rest)));
        match given {
            // What stands behind another address copies the older format far more often.
            Some((url, rest)) => {
                let url = url.trim_end_matches('/');
                let rest = if url.ends_with(rest) { "" } else { rest };
                let wire = if url == self.url { self.wire } else { Wire::Chat };
                Some((format!("{url}{rest}"), wire))
            }
            None if self.url.is_empty() => None,
            None => Some((self.url.to_owned(), self.wire)),
        }
    }
}

/// Returns the first built-in provider whose key is set.
pub(super) fn by_key(
    environment: &Environment,
    settings: &BTreeMap<String, ProviderSettings>,
    model: Option<&str>,
) -> Option<Result<ServerChoice, ModelError>> {
    let is_set = |preset: &&Preset| {
        !preset.key.is_empty()
            && environment.get(preset.key).is_some()
            && preset.server(environment).is_some()
    };
    let preset = PRESETS.iter().find(is_set)?;
    let chosen = named(preset.name, environment, settings, model);
    Some(chosen.map(|choice| ServerChoice { source: ModelSource::Key(preset.key), ..choice }))
}

/// Returns the provider called `name`: built in, of the settings, or both.
///
/// # Errors
/// An unknown name, an address or a key that is not set, a file that cannot be read.
pub fn named(
    name: &str,
    environment: &Environment,
    settings: &BTreeMap<String, ProviderSettings>,
    model: Option<&str>,
) -> Result<ServerChoice, ModelError> {
    let preset = PRESETS.iter().find(|preset| preset.name == name);
    let own = settings.get(name);
    if preset.is_none() && own.is_none() {
        let known = PRESETS.iter().map(|preset| preset.name.to_owned());
        let known: Vec<String> = settings.keys().cloned().chain(known).collect();
        return Err(ModelError::UnknownProvider { name: name.to_owned(), known: known.join(", ") });
    }
    let own = own.cloned().unwrap_or_default();
    let built_in = preset.and_then(|preset| preset.server(environment));
    let (url, usual_wire) = match (&own.base_url, built_in) {
        (Some(url), _) => (url.clone(), Wire::of_address(url)),
        (None, Some(server)) => server,
        (None, None) => {
            let variable = preset.and_then(|preset| preset.base).map(|(name, _)| name);
            return Err(ModelError::NoAddress { name: name.to_owned(), variable });
        }
    };
    let mut headers = Vec::new();
    for (header, value) in &own.headers {
        headers.push((header.clone(), expanded(value, environment)?));
    }
    // A known key goes to its own host only, so an address of the settings needs its own key.
    let known = preset.filter(|preset| own.base_url.is_none() && !preset.key.is_empty());
    let key = match (&own.key_command, &own.key_env) {
        (Some(command), _) => Key::Command(command.clone()),
        (None, Some(variable)) => Key::Text(variable_of(variable, environment)?),
        (None, None) => match known {
            Some(preset) => match environment.get(preset.key) {
                Some(key) => Key::Text(key.to_owned()),
                None if headers.is_empty() => {
                    let (provider, name) = (name.to_owned(), preset.key.to_owned());
                    return Err(ModelError::NoProviderKey { provider, name });
                }
                None => Key::None,
            },
            None => Key::None,
        },
    };
    let key_from = match (&own.key_command, &own.key_env, known) {
        (Some(_), ..) => KeySource::Command(name.to_owned()),
        (None, Some(variable), _) => KeySource::Variable(variable.clone()),
        (None, None, Some(preset)) => KeySource::Variable(preset.key.to_owned()),
        (None, None, None) => KeySource::Settings(name.to_owned()),
    };
    let certificates = match &own.ca_file {
        Some(path) => Some(super::read_text(path).map_err(|error| ModelError::Certificates {
            path: path.display().to_string(),
            why: error.to_string(),
        })?),
        None => None,
    };
    Ok(ServerChoice {
        provider: Some(name.to_owned()),
        url,
        wire: own.wire.unwrap_or(usual_wire),
        key,
        key_from,
        key_header: preset.and_then(|preset| preset.header),
        headers,
        body: own.body,
        certificates,
        stream: own.stream,
        spoken_calls: own.spoken_calls,
        models: own.models,
        model: model.map(str::to_owned).or(own.model),
        source: ModelSource::Named("the provider's name"),
    })
}

/// Puts the values of variables in the place of `${NAME}`.
fn expanded(text: &str, environment: &Environment) -> Result<String, ModelError> {
    let (mut result, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        result.push_str(before);
        result.push_str(&variable_of(name, environment)?);
        rest = after;
    }
    Ok(result + rest)
}

fn variable_of(name: &str, environment: &Environment) -> Result<String, ModelError> {
    match environment.get(name) {
        Some(value) => Ok(value.to_owned()),
        None => Err(ModelError::NoKey { name: name.to_owned() }),
    }
}
