//! A settings file, and what a project's may set.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;
use super::providers::ProviderSettings;
use crate::approval::Mode;
use crate::tools::after_edit::AfterEdit;
use crate::workspace::credentials;

/// The most that is read of a system text or scripted replies.
const MOST_BYTES: u64 = 64 << 20;

/// The most that is read of settings or rules, which take many times as much memory.
const MOST_OF_SETTINGS: u64 = 1 << 20;

/// One source of settings; what is absent is left to the weaker ones.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    pub model: Option<String>,
    /// The provider that is used, by its name.
    pub provider: Option<String>,
    pub providers: BTreeMap<String, ProviderSettings>,
    pub api_url: Option<String>,
    /// Name of the variable that holds the key; the key itself is never in a file.
    pub api_key_env: Option<String>,
    /// How much the model should reason, in the server's words.
    pub effort: Option<String>,
    #[serde(deserialize_with = "mode")]
    pub mode: Option<Mode>,
    pub ask_commands: Option<bool>,
    /// Whether commands are confined where the machine can.
    pub sandbox: Option<bool>,
    pub max_requests: Option<u32>,
    pub max_cost: Option<f64>,
    pub stream: Option<bool>,
    /// Seconds without anything of a reply.
    pub reply_timeout: Option<u64>,
    pub command_timeout: Option<u64>,
    pub max_command_timeout: Option<u64>,
    pub pass_environment: Option<Vec<String>>,
    pub editor: Option<String>,
    /// Commands that run after a file was written; those of all layers run, weakest first.
    pub after_edit: Vec<AfterEdit>,
}

/// Why a settings file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the settings file `{path}` cannot be read")]
    Read { path: String, source: io::Error },
    #[error("the settings file `{path}` is wrong")]
    Parse { path: String, source: Box<toml::de::Error> },
}

fn mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Mode>, D::Error> {
    let word = String::deserialize(deserializer)?;
    match word.parse() {
        Ok(Mode::Full) => {
            Err(serde::de::Error::custom("mode `full` is never taken from a file; use `--yolo`"))
        }
        Ok(mode) => Ok(Some(mode)),
        Err(error) => Err(serde::de::Error::custom(error)),
    }
}

/// Reads a text that a person names. It may be a pipe, but it has an end.
///
/// # Errors
/// It cannot be read, is not UTF-8, or is larger than any such text.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_at_most(path, MOST_BYTES)
}

/// Reads settings or rules.
///
/// # Errors
/// They cannot be read, are not UTF-8, or larger than any person writes.
pub(super) fn read_settings(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        // A pipe or a device of a project's would be waited for, for ever.
        return Err(io::Error::other("it is not a file"));
    }
    read_at_most(path, MOST_OF_SETTINGS)
}

fn read_at_most(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

/// Returns the path of a project's own file `name`.
///
/// # Errors
/// A link that leads out of the project, or to what may hold credentials: an error in the file
/// would show it.
pub(super) fn of_project(root: &Path, name: &str) -> io::Result<PathBuf> {
    let path = root.join(name);
    if let (Ok(whole), Ok(root)) = (path.canonicalize(), root.canonicalize()) {
        let below = whole.strip_prefix(&root);
        let is_own = below == Ok(Path::new(name));
        // One that is no file is told as that when it is read.
        if !is_own
            && whole.is_file()
            && !below.is_ok_and(|below| !credentials::is_kept_from_links(below))
        {
            let text = "it is a link to where no settings of a project can be; put the file itself \
                        in its place";
            return Err(io::Error::other(text));
        }
    }
    Ok(path)
}

impl Layer {
    /// Reads a settings file; one that does not exist sets nothing.
    pub fn read(path: &Path) -> Result<Layer, FileError> {
        let shown = || path.display().to_string();
        let text = match read_settings(path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Layer::default());
            }
            Err(source) => return Err(FileError::Read { path: shown(), source }),
        };
        toml::from_str(&text)
            .map_err(|source| FileError::Parse { path: shown(), source: Box::new(source) })
    }

    /// Reads one `KEY=VALUE` of the command line; a value that is not TOML is a string.
    pub(super) fn pair(text: &str) -> Result<Layer, ConfigError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(ConfigError::NotAPair { text: text.to_owned() });
        };
        // A JSON string is a TOML string.
        let quoted = format!("{key} = {}", serde_json::Value::from(value));
        toml::from_str(text).or_else(|_| toml::from_str(&quoted)).map_err(|source| {
            let path = format!("--config {text}");
            FileError::Parse { path, source: Box::new(source) }.into()
        })
    }

    /// Returns what a project's file may set: only what tightens the user's settings.
    pub(super) fn tightened(self, user: &Layer, notices: &mut Vec<String>) -> Layer {
        let ignored = [
            ("model", self.model.is_some()),
            ("provider", self.provider.is_some()),
            ("providers", !self.providers.is_empty()),
            ("api_url", self.api_url.is_some()),
            ("api_key_env", self.api_key_env.is_some()),
            ("effort", self.effort.is_some()),
            ("editor", self.editor.is_some()),
            ("pass_environment", self.pass_environment.is_some()),
            ("stream", self.stream.is_some()),
            ("max_cost", self.max_cost.is_some()),
            ("max_requests", self.max_requests.is_some()),
            ("reply_timeout", self.reply_timeout.is_some()),
            ("sandbox = false", self.sandbox == Some(false)),
            ("ask_commands = false", self.ask_commands == Some(false)),
            ("mode", self.mode.is_some_and(|mode| mode > user.mode.unwrap_or_default())),
        ];
        for (key, _) in ignored.iter().filter(|(_, is_set)| *is_set) {
            notices.push(format!(
                "the project's `.snick/config.toml` sets `{key}`; that is ignored, since a \
                 project may only tighten settings. Set it in your own file"
            ));
        }
        Layer {
            mode: self.mode.filter(|mode| *mode <= user.mode.unwrap_or_default()),
            ask_commands: self.ask_commands.filter(|ask| *ask),
            sandbox: self.sandbox.filter(|sandbox| *sandbox),
            command_timeout: self.command_timeout,
            max_command_timeout: self.max_command_timeout,
            after_edit: self.after_edit.into_iter().map(AfterEdit::of_project).collect(),
            ..Layer::default()
        }
    }

    /// Returns this layer with everything that `stronger` sets put over it.
    pub(super) fn overlaid_by(self, stronger: Layer) -> Layer {
        Layer {
            model: stronger.model.or(self.model),
            provider: stronger.provider.or(self.provider),
            providers: self.providers.into_iter().chain(stronger.providers).collect(),
            api_url: stronger.api_url.or(self.api_url),
            api_key_env: stronger.api_key_env.or(self.api_key_env),
            effort: stronger.effort.or(self.effort),
            mode: stronger.mode.or(self.mode),
            sandbox: stronger.sandbox.or(self.sandbox),
            ask_commands: stronger.ask_commands.or(self.ask_commands),
            max_requests: stronger.max_requests.or(self.max_requests),
            max_cost: stronger.max_cost.or(self.max_cost),
            stream: stronger.stream.or(self.stream),
            reply_timeout: stronger.reply_timeout.or(self.reply_timeout),
            command_timeout: stronger.command_timeout.or(self.command_timeout),
            max_command_timeout: stronger.max_command_timeout.or(self.max_command_timeout),
            pass_environment: stronger.pass_environment.or(self.pass_environment),
            editor: stronger.editor.or(self.editor),
            after_edit: [self.after_edit, stronger.after_edit].concat(),
        }
    }
}
