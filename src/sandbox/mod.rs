//! The only module that starts child processes: `command` (bash), `service` (long-lived pipes), `interactive` (an editor); confinement, limits, output capture.

mod answer;
mod child;
mod command;
mod confine;
mod descendants;
mod environment;
mod flood;
mod guard;
pub mod helper;
pub mod interactive;
mod limits;
mod pipeline;
mod spawn;
mod spill;
mod urgent;

pub use answer::answer;
pub use child::{find_program, passed_over};
pub use command::{Command, End, Finished, OutputReceiver, run};
pub use confine::{Fate, Guarded, Layer, Sandbox, SandboxOptions, View, Wish};
pub use confine::{GitLeads, GitStarts, is_plain_git, take_untold};
pub use environment::{environment, without_planted};
pub use limits::Excess;
pub use spill::{Spill, Spilled};

use std::io;

/// Why a child process could not be started or watched.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the command of `key_command` {why}")]
    Answer { why: String },
    #[error("`{program}` was not found on PATH ({path}); install it, or add its folder to PATH")]
    NoProgram { program: &'static str, path: String },
    #[error("`{directory}` cannot be the directory of a command")]
    Directory { directory: String, source: io::Error },
    #[error("{why}")]
    Closed { why: String },
    #[error("`{program}` could not be started")]
    Start { program: String, source: io::Error },
    #[error("the sandbox could not be set up: {why}")]
    Confine { why: String },
    #[error("lost track of `{program}`; it was ended")]
    Watch { program: String, source: io::Error },
    #[error("`{path}` could not be written")]
    Save { path: String, source: io::Error },
    #[error("the editor `{editor}` ended with {status}; its text was not taken")]
    Editor { editor: String, status: String },
    #[error("the edited text could not be read back: {why}")]
    EditedText { why: String },
}
