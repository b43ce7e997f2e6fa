//! Everything built from the settings: the workspace, the model, the tools, the session.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;

use crate::agent::{self, AfterEdits, Agent, Conversation};
use crate::approval::{Consents, Ground, Policy, Unreadable, rules};
use crate::cli::{Color, GlobalOptions};
use crate::config::{self, Config, Environment, OfProject};
use crate::frontend::repl::{Detail, ReplOptions};
use crate::frontend::style::Theme;
use crate::index::{self, Index, IndexFolder, map};
use crate::message::ToolSpec;
use crate::prompt::{self, instructions};
use crate::provider::Provider;
use crate::sandbox::{self, Sandbox, SandboxOptions};
use crate::session::{Header, Prefix, Record, Session, SessionError, Store};
use crate::tools::{self, CommandOptions};
use crate::workspace::{self, Workspace};

/// How long the first command of a turn waits until the workspace was looked through, so that what
/// it changes can be shown. Models think longer, and the look is made meanwhile.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// Something only the person at the command line can mend: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub(super) String);

/// The settings and what they come to. Nothing here grows with the repository.
pub(super) struct Setup {
    pub(super) options: GlobalOptions,
    pub(super) environment: Environment,
    pub(super) config: Config,
    pub(super) workspace: Workspace,
    pub(super) store: Store,
    /// What confines commands; it tries nothing before it is needed.
    pub(super) sandbox: Arc<Sandbox>,
    /// Scripted replies that take the place of a model.
    pub(super) script: Option<&'static str>,
    /// Keys that commands of the settings have printed, by the command.
    pub(super) keys: Mutex<BTreeMap<String, String>>,
}

/// Whether an index builds what it keeps while other things are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Background {
    Builds,
    None,
}

impl Setup {
    /// Resolves the settings and opens the workspace.
    pub(super) fn new(options: GlobalOptions, environment: Environment) -> anyhow::Result<Setup> {
        Setup::with(options, environment, OfProject::Read)
    }

    /// Does the same where nothing depends on a project's settings, so that these stop nothing.
    pub(super) fn without_project(
        options: GlobalOptions,
        environment: Environment,
    ) -> anyhow::Result<Setup> {
        Setup::with(options, environment, OfProject::PassedOver)
    }

    fn with(
        options: GlobalOptions,
        environment: Environment,
        of_project: OfProject,
    ) -> anyhow::Result<Setup> {
        let directory = environment.directory.clone();
        let start = match (&options.directory, directory) {
            (Some(chosen), Some(here)) => here.join(chosen),
            (Some(chosen), None) => chosen.clone(),
            (None, Some(here)) => here,
            (None, None) => {
                let text = "the current directory is gone; choose one with `-C DIR`";
                return Err(UsageError(text.to_owned()).into());
            }
        };
        let folders = &environment.folders;
        let workspace = Workspace::open(workspace::Options {
            start,
            added: options.add_dir.clone(),
            home: folders.home.clone(),
            private: vec![folders.config.clone(), folders.state.clone(), folders.cache.clone()],
            outputs: None,
            toolchains: environment.toolchains(),
        })
        .map_err(|error| UsageError(format!("{:#}", anyhow::Error::from(error))))?;
        let config = config::resolve(&options, &environment, workspace.root(), of_project)
            .map_err(|error| UsageError(format!("{:#}", anyhow::Error::from(error))))?;
        let store = Store::new(config.sessions.clone());
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            strongest: config.sandbox,
            helper: PathBuf::from("/proc/self/exe"),
            roots: workspace.roots().map(Path::to_owned).collect(),
            home: environment.folders.home.clone(),
            private: vec![
                environment.folders.config.clone(),
                environment.folders.state.clone(),
                environment.folders.cache.clone(),
                config.sessions.clone(),
            ],
            temporary: environment.temporary.clone(),
            views: vec![
                environment.folders.state.join("views"),
                environment.temporary.join("snick-views"),
            ],
            untold: environment.folders.state.join("untold"),
            environment: environment.variables().to_vec(),
        }));
        let (script, keys) = (None, Mutex::default());
        Ok(Setup { options, environment, config, workspace, store, sandbox, script, keys })
    }

    /// Builds what stands before every message of a new session.
    pub(super) fn prefix(&self, tools: &[ToolSpec]) -> anyhow::Result<Prefix> {
        let system = match self.system_file() {
            Some(path) => config::read_text(&path)
                .with_context(|| format!("the system text `{}` cannot be read", path.display()))?,
            None => prompt::SYSTEM.to_owned(),
        };
        let loaded = self.instructions();
        let date = jiff::ZonedDateTime::now().date().to_string();
        let orientation = prompt::orientation(&self.workspace, &date);
        Ok(Prefix {
            system: prompt::system_text(&system, &orientation, &self.map(), &loaded.text),
            tools: tools.to_vec(),
            instructions: loaded.loaded,
        })
    }

    /// Returns the map that an earlier session left of this workspace; nothing where none did.
    ///
    /// Only that small file is read, so that the first request waits for nothing.
    fn map(&self) -> String {
        let cache = self.environment.folders.cache.join("index");
        let folder = IndexFolder::of(&cache, self.workspace.root()).ok();
        let map = folder.and_then(|folder| map::kept(folder.path(), folder.identity()));
        let map = map.unwrap_or_default();
        let root = self.workspace.root();
        if map.is_empty() {
            return map;
        }
        let unreadable = self.unreadable();
        if !unreadable.may_lie_beneath(root) {
            return map;
        }
        map::without(&map, &|path| unreadable.holds(&root.join(path)))
    }

    /// Loads the instructions as they are now.
    pub(super) fn instructions(&self) -> instructions::Instructions {
        // Links are looked for only where there is a file that may be one.
        let unreadable = OnceCell::new();
        let is_kept = |path: &Path| unreadable.get_or_init(|| self.unreadable()).holds(path);
        let folder = &self.environment.folders.config;
        instructions::load(&self.workspace, Some(folder), &is_kept)
    }

    /// Returns what rules keep from the prompt.
    fn unreadable(&self) -> Unreadable {
        self.config.rules.look_for_links(&self.workspace);
        Unreadable::unnamed(Arc::new(self.config.rules.clone()), self.workspace.root())
    }

    fn system_file(&self) -> Option<PathBuf> {
        let users = self.environment.folders.config.join("system.md");
        self.options.system.clone().or_else(|| users.is_file().then_some(users))
    }

    /// Builds the agent over `provider`, with the policy of the settings.
    pub(super) fn agent(&self, provider: Box<dyn Provider>) -> anyhow::Result<Agent> {
        let policy = Policy {
            mode: self.config.mode,
            ask_commands: self.config.ask_commands,
            rules: Arc::new(self.config.rules.clone()),
            ground: Ground {
                home: self.environment.folders.home.clone(),
                start: self.workspace.start().to_owned(),
                roots: self.workspace.roots().map(Path::to_owned).collect(),
                links: Vec::new(),
            },
            ..Policy::default()
        };
        Ok(Agent {
            provider,
            tools: tools::builtin().context("a bundled tool description does not parse")?,
            workspace: self.workspace.clone(),
            index: Arc::new(self.index(Background::Builds)),
            policy: Arc::new(Mutex::new(policy)),
            commands: CommandOptions {
                default_timeout: self.config.command_timeout,
                max_timeout: self.config.max_command_timeout,
                most_memory: None,
                environment: sandbox::environment(
                    self.environment.variables(),
                    &self.config.pass_environment,
                ),
                sandbox: Some(self.sandbox.clone()),
                own_keys: self.own_keys(),
            },
            after_edits: AfterEdits::new(
                self.config.after_edit.clone(),
                Consents::read(&self.environment.folders.state.join("after_edit")),
            ),
            leads: agent::Leads::default(),
            keep_rule: Some(self.keep_rule()),
            options: agent::Options {
                max_requests: self.config.max_requests,
                max_cost: self.config.max_cost,
                patience: agent::Patience { first: FIRST_LOOK, later: Duration::ZERO },
            },
        })
    }

    /// Returns what stores a rule in the person's file.
    fn keep_rule(&self) -> agent::KeepRule {
        let (files, root) = (self.config.rule_files.clone(), self.workspace.root().to_owned());
        Box::new(move |words, binding| {
            let date = jiff::ZonedDateTime::now().date().to_string();
            let text = files.text().map_err(|error| error.to_string())?;
            let text = rules::added(&text, files.user(), words, binding, &root, &date)
                .map_err(|error| error.to_string())?;
            config::write_text(files.user(), &text)
                .map_err(|error| format!("`{}`: {error}", files.user().display()))?;
            let (rules, _) = files.read().map_err(|error| error.to_string())?;
            Ok(rules)
        })
    }

    /// Makes the index of the workspace's root; nothing is read before its first use.
    pub(super) fn index(&self, background: Background) -> Index {
        let cache = self.environment.folders.cache.join("index");
        let root = self.workspace.root();
        let home = self.environment.folders.home.as_deref();
        let is_bounded = root == Path::new("/") || Some(root) == home;
        let background = background == Background::Builds;
        let options = index::Options { background, is_bounded, ..index::Options::default() };
        Index::open(root, Some(&cache), options)
    }

    /// Begins a session of `model`; nothing is on disk before its first record.
    pub(super) fn new_session(&self, model: &str) -> anyhow::Result<Session> {
        let (root, start) = (self.workspace.root(), self.workspace.start());
        let mut header = Header::new(root.to_owned(), start.to_owned(), model);
        header.print = self.options.print;
        if self.options.no_session {
            return Ok(Session::in_memory(header));
        }
        let mut session = self.store.create(header)?;
        session.keep_out(self.own_keys());
        Ok(session)
    }

    /// Returns the keys that Snick itself has from the environment.
    fn own_keys(&self) -> Vec<String> {
        let of_settings =
            self.config.providers.values().filter_map(|settings| settings.key_env.as_deref());
        let names = config::PRESETS
            .iter()
            .map(|preset| preset.key)
            .chain(of_settings)
            .chain(["AGENT_API_KEY"]);
        let names = names.filter(|name| !name.is_empty());
        names.filter_map(|name| self.environment.get(name)).map(str::to_owned).collect()
    }

    /// Opens the session that the command line names, or begins one; with what to tell the person.
    pub(super) fn session(&self, model: &str) -> anyhow::Result<(Session, Vec<String>)> {
        let options = &self.options;
        let opened = if let Some(id) = &options.fork {
            Some(self.store.fork(id).map_err(usage)?)
        } else if let Some(id) = options.resume.as_deref().filter(|id| !id.is_empty()) {
            Some(self.store.open(id).map_err(usage)?)
        } else if options.continue_latest {
            self.store.latest(self.workspace.root())?
        } else {
            None
        };
        let folder = self.environment.folders.state.join("untold");
        let mut notices = sandbox::take_untold(&folder, self.workspace.root());
        let Some((mut session, damage)) = opened else {
            if options.continue_latest {
                notices.push(
                    "there is no earlier session here to go on with; this is a new one".to_owned(),
                );
            }
            return Ok((self.new_session(model)?, notices));
        };
        session.keep_out(self.own_keys());
        if !damage.is_none() {
            notices.push(damage.to_string());
        }
        Ok((session, notices))
    }

    /// Returns whether to use colour on a stream that is, or is not, a terminal.
    pub(super) fn color(&self, is_terminal: bool) -> bool {
        match self.config.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if self.environment.forces_color() => true,
            Color::Auto => is_terminal && !self.environment.refuses_color(),
        }
    }

    /// Returns what the prompt loop needs of the settings.
    pub(super) fn repl_options(&self, prompt: Option<String>) -> ReplOptions {
        let is_terminal = std::io::stdout().is_terminal();
        let terminals = std::io::stdin().is_terminal() && is_terminal;
        ReplOptions {
            prompt,
            history: Some(self.environment.folders.state.join("history.jsonl")),
            version: env!("CARGO_PKG_VERSION"),
            theme: if self.color(is_terminal) { Theme::Basic } else { Theme::Plain },
            detail: if self.options.verbose { Detail::Verbose } else { Detail::Usual },
            capable: terminals && !self.environment.is_dumb_terminal(),
        }
    }
}

/// Makes a usage error of an id that names no session; leaves other failures as they are.
fn usage(error: SessionError) -> anyhow::Error {
    match error {
        SessionError::BadId { .. }
        | SessionError::NotFound { .. }
        | SessionError::Ambiguous { .. } => UsageError(error.to_string()).into(),
        other => other.into(),
    }
}

/// Tells a resumed conversation what changed since: instructions, files.
pub(super) fn note_changes(setup: &Setup, conversation: &mut Conversation) -> anyhow::Result<()> {
    let Some(prefix) = conversation.prefix().cloned() else { return Ok(()) };
    let instructions = setup.instructions();
    let mut notes = Vec::new();
    if !prefix.system.contains(instructions.text.trim()) {
        notes.push(format!(
            "The project's instructions changed since the session began. They are now:\n{}",
            instructions.text
        ));
    }
    let changed = conversation.changed_files(&setup.workspace);
    if !changed.is_empty() {
        notes.push(format!(
            "These files changed since you last saw them; read them again before you rely on \
             them: {}",
            changed.join(", ")
        ));
    }
    if notes.is_empty() {
        return Ok(());
    }
    conversation.append(Record::note(notes.join("\n\n")))?;
    Ok(())
}

/// Returns the host and port of a URL, for people; never its user or password.
pub(super) fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority).to_owned()
}
