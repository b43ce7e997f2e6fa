//! The pure policy: what the mode, the rules and the rung say of an effect.

use std::str::FromStr;

use super::{Access, Effect, Execute, ReadOnly, Rung, destructive, protected};
use crate::change::Change;
use crate::workspace::{Located, Place};

/// What is asked and what is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is changed.
    Read,
    /// Changes are reviewed before the write; commands are asked.
    #[default]
    Ask,
    /// Changes are written and shown; commands are asked while there is no sandbox.
    Auto,
    /// Nothing is asked but the few things that always are.
    Full,
}

impl Mode {
    /// Returns the word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Read => "read",
            Mode::Ask => "ask",
            Mode::Auto => "auto",
            Mode::Full => "full",
        }
    }
}

/// A word that names no mode.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no mode; use `read`, `ask`, `auto` or `full`")]
pub struct ParseModeError(String);

impl FromStr for Mode {
    type Err = ParseModeError;

    fn from_str(word: &str) -> Result<Mode, ParseModeError> {
        let modes = [Mode::Read, Mode::Ask, Mode::Auto, Mode::Full];
        let mode = modes.into_iter().find(|mode| mode.name() == word);
        mode.ok_or_else(|| ParseModeError(word.to_owned()))
    }
}

/// What a verdict looks at. A value: the same policy and effect give the same verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    pub mode: Mode,
    /// How strong the sandbox is here, as far as it matters to the effect.
    pub rung: Rung,
    /// Asks each command in any mode.
    pub ask_commands: bool,
    /// Whether the person chose `A`: changes of this session need no question.
    pub changes_allowed: bool,
    /// Commands that the person allowed for this session, word for word.
    pub commands_allowed: Vec<String>,
}

/// What policy says of an effect, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub answer: Answer,
    /// The rule in words, for the person, the model and the log.
    pub rule: String,
    /// Asked in every mode and each time: no earlier yes answers it.
    pub always: bool,
}

/// The three answers of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Allow,
    Ask,
    Deny,
}

impl Answer {
    /// Returns the word that events and logs use.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::Ask => "ask",
            Answer::Deny => "deny",
        }
    }
}

/// Judges `effect` under `policy`. Looks at nothing else, so a table can test it.
pub fn judge(policy: &Policy, effect: &Effect) -> Verdict {
    match effect {
        Effect::Read(places) => judge_read(places),
        Effect::Write(change) => judge_write(policy, change),
        Effect::Execute(execute) => judge_execute(policy, execute),
    }
}

fn verdict(answer: Answer, rule: impl Into<String>) -> Verdict {
    Verdict { answer, rule: rule.into(), always: false }
}

fn judge_read(places: &[Located]) -> Verdict {
    let asked = places.iter().find(|at| matches!(at.place(), Place::Outside | Place::Private));
    match asked {
        Some(at) => {
            verdict(Answer::Ask, format!("`{}` is outside the workspace", at.path().display()))
        }
        None => verdict(Answer::Allow, "reading in the workspace"),
    }
}

fn judge_write(policy: &Policy, change: &Change) -> Verdict {
    let at = &change.at;
    match at.place() {
        Place::Workspace => {}
        Place::Private => {
            return verdict(Answer::Deny, "Snick's own folders are never written by a tool");
        }
        Place::System | Place::Output | Place::Outside => {
            return verdict(
                Answer::Deny,
                "file tools write inside the workspace only; the person can add a folder with `--add-dir`",
            );
        }
    }
    if policy.mode == Mode::Read {
        return verdict(Answer::Deny, "the mode is `read`: nothing is changed");
    }
    if let Some(why) = protected::why(at.path()) {
        return Verdict { always: true, ..verdict(Answer::Ask, why) };
    }
    match policy.mode {
        Mode::Ask if change.after.is_none() => {
            Verdict { always: true, ..verdict(Answer::Ask, "a deletion is asked each time") }
        }
        Mode::Ask if policy.changes_allowed => {
            verdict(Answer::Allow, "all changes of this session")
        }
        Mode::Ask => verdict(Answer::Ask, "mode `ask`"),
        Mode::Read | Mode::Auto | Mode::Full => {
            verdict(Answer::Allow, format!("mode `{}`", policy.mode.name()))
        }
    }
}

fn judge_execute(policy: &Policy, execute: &Execute) -> Verdict {
    let reads_only = || {
        ReadOnly::parse(&execute.command).is_some()
            && judge_read(&execute.reads).answer == Answer::Allow
    };
    let confined = policy.rung.confines();
    let readable = || if confined { execute.access.is_none() } else { reads_only() };
    if policy.mode == Mode::Read && (execute.access.is_some() || !readable()) {
        return verdict(
            Answer::Deny,
            "the mode is `read`: only commands of the read-only list run",
        );
    }
    if let Some((access, _)) = &execute.access
        && policy.mode != Mode::Full
    {
        return verdict(Answer::Ask, format!("`access` {access:?} is always asked"));
    }
    let danger = match policy.mode {
        Mode::Full => destructive::beyond_repair(&execute.command),
        Mode::Read | Mode::Ask | Mode::Auto => destructive::destroys(&execute.command),
    };
    if let Some(what) = danger {
        return verdict(Answer::Ask, format!("{what} is always asked"));
    }
    if policy.commands_allowed.contains(&execute.command) {
        return verdict(Answer::Allow, "exactly this command was allowed for the session");
    }
    if policy.ask_commands {
        return verdict(Answer::Ask, "`--ask-commands`");
    }
    match policy.mode {
        Mode::Full => verdict(Answer::Allow, "mode `full`"),
        Mode::Auto | Mode::Read if confined => {
            let mode = policy.mode.name();
            let rung = policy.rung.name();
            verdict(Answer::Allow, format!("mode `{mode}` in the sandbox ({rung})"))
        }
        _ if reads_only() => verdict(Answer::Allow, "the read-only list"),
        Mode::Auto => verdict(Answer::Ask, "there is no sandbox here, so commands are asked"),
        Mode::Read | Mode::Ask => verdict(Answer::Ask, "commands are asked"),
    }
}

/// How a command is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Not at all.
    None,
    Sandbox {
        network: bool,
        read_only: bool,
    },
}

/// Returns how `execute` is confined under `policy`, once it may run.
pub fn confinement(policy: &Policy, execute: &Execute) -> Confinement {
    let access = execute.access.as_ref().map(|(access, _)| *access);
    let free = policy.mode == Mode::Full || access == Some(Access::Unsandboxed);
    if free || !policy.rung.confines() {
        return Confinement::None;
    }
    let network = access == Some(Access::Network);
    Confinement::Sandbox { network, read_only: policy.mode == Mode::Read }
}
