//! Whether an action may run: effects, rules, the pure policy, grants, the `Approver` trait.

mod after_edit;
mod decision;
mod destructive;
mod grant;
mod policy;
mod protected;
mod read_only;
pub mod remark;
mod rung;

pub use after_edit::{Consents, ask_after_edit, is_after_edit};
pub use decision::{Approver, Asked, Decision, HunkDecision, Nobody, Revised, Scope, Yes};
pub use grant::{Grant, Settled, settle};
pub use policy::{Answer, Confinement, Mode, ParseModeError, Policy, Verdict, confinement, judge};
pub use protected::{FILES as PROTECTED_FILES, FOLDERS as PROTECTED_FOLDERS};
pub use read_only::ReadOnly;
pub use rung::Rung;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute {
    /// The whole text that `bash -c` gets.
    pub command: String,
    /// What the call asks for beyond the mode's confinement, with the model's reason.
    pub access: Option<(Access, String)>,
    /// Where the paths lead that the command names, if it is on the read-only list.
    pub reads: Vec<Located>,
}

/// What a command may ask for beyond the mode's confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Network,
    Unsandboxed,
}
