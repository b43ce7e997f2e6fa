//! Whether an action may run: effects, rules, the pure policy, grants, the `Approver` trait.

mod after_edit;
mod barred;
mod binding;
mod changed;
mod decision;
mod destructive;
mod grant;
mod named;
mod policy;
mod protected;
mod read_only;
pub mod remark;
pub mod rules;
mod rung;
mod shell;
mod unconfined;
mod unreadable;
mod view;

pub use after_edit::{Consents, ask_after_edit, is_after_edit};
pub use barred::{Bar, Barred, Bars, barred};
pub use binding::{Binding, Bound, Consent, Runs, runs, runs_data, script_runs, uses_git};
pub use decision::{Approver, Asked, Decision, HunkDecision, Nobody, Revised, Scope, Yes};
pub use grant::{Grant, Settled, settle};
pub use named::{Named, programs_by_name};
pub use policy::{
    Answer, Confinement, Ground, Mode, ParseModeError, Policy, Verdict, confinement, judge,
    judge_call,
};
pub use protected::{
    DEEPER as PROTECTED_DEEPER, FILES as PROTECTED_FILES, FOLDERS as PROTECTED_FOLDERS, OF_HOME,
    WITHIN as PROTECTED_WITHIN, is_of_home, is_protected, is_protected_name,
};
pub use read_only::ReadOnly;
pub use rules::{Origin, Rule, Rules, RulesError};
pub use rung::Rung;
pub use unreadable::Unreadable;

use crate::change::Change;
use crate::workspace::Located;

/// What an action would do, known before it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Looks at files only.
    Read(Vec<Located>),
    /// Changes one file.
    Write(Change),
    /// Runs a command.
    Execute(Execute),
}

impl Effect {
    /// Returns the word that events and logs use.
    pub fn name(&self) -> &'static str {
        match self {
            Effect::Read(_) => "read",
            Effect::Write(_) => "write",
            Effect::Execute(_) => "execute",
        }
    }
}

/// A command as it would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execute {
    /// The whole text that `bash -c` gets.
    pub command: String,
    /// What the call asks for beyond the mode's confinement, with the model's reason.
    pub access: Option<(Access, String)>,
    /// Where the paths lead that the command names, if it is on the read-only list, and what it
    /// reads through redirections.
    pub reads: Vec<Located>,
    /// Folders that it reads through.
    pub through: Box<[Located]>,
    /// Where its words lead that may be paths.
    pub named: Vec<Located>,
    /// Where its redirections write.
    pub writes: Box<[Located]>,
    /// Where its words lead that its programs change, as far as these are known.
    pub changes: Box<[Located]>,
    /// Whether it moves or copies something over a file that is there.
    pub overwrites: bool,
    /// A program of the workspace that it runs, if that may be any: a binary, or one that it makes
    /// itself, or a link to elsewhere.
    pub unknown: Option<Box<Located>>,
    /// A path that it names though `.snickignore` shuts it away, as shown.
    pub shut: Option<String>,
    /// Whether a rule let it run unasked, by the names of its programs.
    pub by_rule: bool,
    /// Whether the person, or a rule of theirs, lets it change files itself where commands are
    /// otherwise looked at first.
    pub cleared: bool,
    /// To what a yes to it is bound, where a person is asked or was before.
    pub binding: Box<Binding>,
}

/// What a command may ask for beyond the mode's confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Network,
    Unsandboxed,
}
