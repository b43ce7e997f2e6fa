//! Settings, resolved once from layers.

mod environment;
mod file;
mod model;
mod providers;
mod rules;

pub use environment::{Environment, Folders};
pub use file::{FileError, Layer, read_text};
pub use model::{Key, ModelError, ModelSource, ServerChoice};
pub use rules::{RuleFiles, write_text};

pub use providers::{ModelSettings, PRESETS, Preset, ProviderSettings, named};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::approval::{Mode, Rules, RulesError, Rung};
use crate::cli::{Color, GlobalOptions, Switch};
use crate::tools::after_edit::AfterEdit;

/// The settings in force. Built once by [`resolve`], then never changed.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which server and model, or why none.
    pub server: Result<ServerChoice, ModelError>,
    /// `[providers.NAME]` of the person's own settings.
    pub providers: BTreeMap<String, ProviderSettings>,
    pub mode: Mode,
    /// The strongest sandbox that the person wants.
    pub sandbox: Rung,
    pub ask_commands: bool,
    pub max_requests: u32,
    pub max_cost: Option<f64>,
    /// How much the model should reason, of the settings file; that of a model goes before it.
    pub effort: Option<String>,
    /// Ask for streams.
    pub stream: bool,
    pub sessions: PathBuf,
    /// Seconds that a server may give nothing but signs of life.
    pub reply_timeout: u64,
    /// Seconds, when a call of `bash` names none.
    pub command_timeout: u64,
    /// Seconds, the most that a call of `bash` may ask for.
    pub max_command_timeout: u64,
    /// Names of further variables that commands get.
    pub pass_environment: Vec<String>,
    pub editor: Option<String>,
    /// Commands that run after a file was written, in this order.
    pub after_edit: Vec<AfterEdit>,
    pub color: Color,
    /// The stored rules that hold in the workspace.
    pub rules: Rules,
    pub rule_files: RuleFiles,
    /// What the person should know about the settings, such as an ignored key of a project file.
    pub notices: Vec<String>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("`--config {text}` is not KEY=VALUE")]
    NotAPair { text: String },
    #[error("`AGENT_MAX_ITER` is `{text}`, not a number of requests")]
    NotANumber { text: String },
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("`{key}` is {value}; it must be a number of seconds from 1 to {most}")]
    BadSeconds { key: &'static str, value: u64, most: u64 },
}

/// The longest time limit of a setting, in seconds: a day.
const MOST_SECONDS: u64 = 86_400;

/// A project's settings, below its root.
const PROJECT_FILE: &str = ".snick/config.toml";

/// Whether a project's settings and rules are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfProject {
    Read,
    /// For what must work whatever they say, and does not depend on them.
    PassedOver,
}

/// Folds defaults, the user's file, the project's file, the environment and the flags.
///
/// # Errors
/// A file that cannot be read or does not parse: fewer rules than the person wrote are never used.
pub fn resolve(
    options: &GlobalOptions,
    environment: &Environment,
    project_root: &Path,
    of_project: OfProject,
) -> Result<Config, ConfigError> {
    let user = Layer::read(&environment.folders.config.join("config.toml"))?;
    let mut notices = Vec::new();
    let project = match of_project {
        OfProject::Read => project_layer(project_root)?.tightened(&user, &mut notices),
        OfProject::PassedOver => Layer::default(),
    };
    let mut flags = Layer::default();
    for pair in &options.config {
        let layer = Layer::pair(pair)?;
        flags = flags.overlaid_by(layer);
    }
    let top = user.overlaid_by(project).overlaid_by(flags);
    let max_requests = match (options.max_requests, environment.get("AGENT_MAX_ITER")) {
        (Some(number), _) => Some(number),
        (None, Some(text)) => Some(
            text.trim().parse().map_err(|_| ConfigError::NotANumber { text: text.to_owned() })?,
        ),
        (None, None) => top.max_requests,
    };
    let mode = if options.yolo { Some(Mode::Full) } else { options.mode.or(top.mode) };
    let sessions = environment.get("AGENT_SESSIONS_DIR").map(PathBuf::from);
    let seconds = |key, value: Option<u64>, usual| match value.unwrap_or(usual) {
        value @ 1..=MOST_SECONDS => Ok(value),
        value => Err(ConfigError::BadSeconds { key, value, most: MOST_SECONDS }),
    };
    let rule_files = RuleFiles::new(environment, project_root);
    let (rules, of_rules) = match of_project {
        OfProject::Read => rule_files.read()?,
        OfProject::PassedOver => (Rules::default(), Vec::new()),
    };
    notices.extend(of_rules);
    Ok(Config {
        rules,
        rule_files,
        server: model::choose(options, environment, &top),
        mode: mode.unwrap_or_default(),
        sandbox: match options.sandbox {
            Some(Switch::Off) => Rung::None,
            None if top.sandbox == Some(false) => Rung::None,
            Some(Switch::Bubblewrap) => Rung::Bubblewrap,
            Some(Switch::Landlock) => Rung::Landlock,
            Some(Switch::On) | None => Rung::Namespaces,
        },
        ask_commands: options.ask_commands || top.ask_commands.unwrap_or(false),
        max_requests: max_requests.unwrap_or(100),
        max_cost: options.max_cost.or(top.max_cost),
        effort: top.effort,
        stream: !options.no_stream && top.stream.unwrap_or(true),
        sessions: sessions.unwrap_or_else(|| environment.folders.state.join("sessions")),
        reply_timeout: seconds("reply_timeout", top.reply_timeout, 1_800)?,
        command_timeout: seconds("command_timeout", top.command_timeout, 120)?,
        max_command_timeout: seconds("max_command_timeout", top.max_command_timeout, 600)?,
        pass_environment: without_keys(top.pass_environment.unwrap_or_default(), &top.providers),
        providers: top.providers,
        editor: top.editor.or_else(|| environment.editor()),
        after_edit: top.after_edit,
        color: options.color.unwrap_or_default(),
        notices,
    })
}

/// Reads a project's own file.
fn project_layer(root: &Path) -> Result<Layer, FileError> {
    let path = file::of_project(root, PROJECT_FILE).map_err(|source| {
        let path = root.join(PROJECT_FILE).display().to_string();
        FileError::Read { path, source }
    })?;
    Layer::read(&path)
}

/// Returns the names of variables that commands get, but those that hold a key of a provider.
fn without_keys(names: Vec<String>, providers: &BTreeMap<String, ProviderSettings>) -> Vec<String> {
    let holds_key = |name: &String| {
        PRESETS.iter().any(|preset| preset.key == name)
            || providers.values().any(|provider| {
                provider.key_env.as_ref() == Some(name)
                    || provider.headers.values().any(|text| text.contains(&format!("${{{name}}}")))
            })
    };
    names.into_iter().filter(|name| !holds_key(name)).collect()
}
