//! How many tokens a model reads: asked from its server, looked up, or guessed.

use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};

use super::connection::Connection;
use super::http::Server;
use super::models::ModelInfo;

/// What is assumed where nothing is known.
const GUESS: u64 = 32_768;

/// The largest answer that is read.
const LARGEST: usize = 1 << 20;

/// Windows of well-known models, by the beginning of their names; the first that fits counts.
const KNOWN: &[(&str, u64)] = &[
    ("claude-", 200_000),
    ("codestral", 256_000),
    ("deepseek-", 128_000),
    ("devstral", 131_072),
    ("gemini-", 1_048_576),
    ("glm-4.5", 131_072),
    ("glm-", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-5", 272_000),
    ("gpt-oss", 131_072),
    ("grok-", 131_072),
    ("kimi-k2", 262_144),
    ("llama-3.", 131_072),
    ("mistral-", 131_072),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("qwen3-coder", 262_144),
];

/// How many tokens a model reads, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub tokens: u64,
    pub source: WindowSource,
}

/// How a window is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSource {
    Setting,
    Server,
    /// It told when it refused a longer conversation.
    Refusal,
    /// The name is a well-known one.
    Name,
    Guess,
}

impl Window {
    /// What is assumed where nothing is known.
    pub const GUESS: Window = Window { tokens: GUESS, source: WindowSource::Guess };

    /// Whether more stands behind it than a guess.
    pub fn is_known(&self) -> bool {
        self.source != WindowSource::Guess
    }

    /// Chooses between what the settings say, what the server told, and the name of the model.
    pub fn of(model: &str, setting: Option<u64>, told: Option<u64>) -> Window {
        let last = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        let known = || KNOWN.iter().find(|(start, _)| last.starts_with(start));
        match (setting, told) {
            (Some(tokens), _) => Window { tokens, source: WindowSource::Setting },
            (None, Some(tokens)) => Window { tokens, source: WindowSource::Server },
            (None, None) => match known() {
                Some((_, tokens)) => Window { tokens: *tokens, source: WindowSource::Name },
                None => Window::GUESS,
            },
        }
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens, {}", self.tokens, self.source.words())
    }
}

impl WindowSource {
    /// Returns how people say it.
    pub fn words(self) -> &'static str {
        match self {
            WindowSource::Setting => "as set",
            WindowSource::Server => "as the server says",
            WindowSource::Refusal => "as the server said when it refused",
            WindowSource::Name => "as is usual for this model",
            WindowSource::Guess => "a guess",
        }
    }
}

/// Asks the server for the window of the model. `models` is what it lists.
///
/// Servers on this machine are asked in their own ways first, since what they list is often what
/// the model could read and not what it is given.
pub(super) async fn ask(connection: &Connection, models: &[ModelInfo]) -> Option<u64> {
    let (server, model) = (&connection.server, connection.options.model.as_str());
    if server.loopback {
        let get = |path: &str| server.get(beside_base(connection, path));
        if let Some(props) = document(server, get("/props")).await
            && let Some(tokens) = props.pointer("/default_generation_settings/n_ctx")
        {
            return tokens.as_u64();
        }
        if let Some(running) = document(server, get("/api/ps")).await {
            if let Some(tokens) = of_running(&running, model) {
                return Some(tokens);
            }
            let body = json!({ "model": model }).to_string().into_bytes();
            let show = server.post(beside_base(connection, "/api/show"), body);
            return set_in(&document(server, show).await?);
        }
    }
    models.iter().find(|known| known.id == model)?.context
}

/// Reads what Ollama says of the models that are loaded.
fn of_running(running: &Value, model: &str) -> Option<u64> {
    let mut models = running["models"].as_array()?.iter();
    let is_it = |found: &&Value| {
        let name = found["name"].as_str().unwrap_or_default();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    models.find(is_it)?["context_length"].as_u64()
}

/// Reads the window that a Modelfile sets.
fn set_in(shown: &Value) -> Option<u64> {
    let mut lines = shown["parameters"].as_str()?.lines();
    lines.find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
}

async fn document(server: &Server, request: RequestBuilder) -> Option<Value> {
    let mut response = server.send(request).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    serde_json::from_slice(&server.read_some(&mut response, LARGEST).await).ok()
}

/// Returns the address of `path` on the same server, beside the base and not below it.
fn beside_base(connection: &Connection, path: &str) -> Url {
    let mut url = connection.beside("");
    let base = url.path().trim_end_matches('/');
    let root = format!("{}{path}", base.trim_end_matches("/v1"));
    url.set_path(&root);
    url.set_query(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_taken_from_the_best_source() {
        let rows = [
            ("m", Some(1), Some(2), "1 tokens, as set"),
            ("m", None, Some(2), "2 tokens, as the server says"),
            ("anthropic/claude-x", None, None, "200000 tokens, as is usual for this model"),
            ("m", None, None, "32768 tokens, a guess"),
        ];
        for (model, setting, told, expected) in rows {
            assert_eq!(Window::of(model, setting, told).to_string(), expected, "{model}");
        }
    }
}
