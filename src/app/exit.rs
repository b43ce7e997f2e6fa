//! Exit codes, and how an error is told.

use std::process::ExitCode;

use crate::event::Stop;

/// How the process ends. The numbers are part of the command line's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// A search found nothing.
    Nothing,
    Error,
    Usage,
    /// The turn ended, but something was denied that a person could have allowed.
    Denied,
    /// A limit ended the turn.
    Limit,
    /// The model refused or answered nothing.
    NoAnswer,
    Interrupted,
}

impl Exit {
    /// Returns how a headless turn ends that stopped for `stop`.
    pub fn of(stop: Stop, something_was_denied: bool) -> Exit {
        match stop {
            Stop::EndTurn if something_was_denied => Exit::Denied,
            Stop::EndTurn => Exit::Done,
            Stop::RequestLimit | Stop::TokenLimit | Stop::CostLimit | Stop::Repetition => {
                Exit::Limit
            }
            Stop::Refused | Stop::Empty => Exit::NoAnswer,
            Stop::Cancelled => Exit::Interrupted,
            Stop::Denied => Exit::Denied,
        }
    }

    /// Returns the number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Nothing | Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Denied => 3,
            Exit::Limit => 4,
            Exit::NoAnswer => 5,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
