//! A call between its preparation and its run.

use std::path::PathBuf;

use crate::approval::{Answer, Asked, Effect, Grant, ReadOnly, Verdict};
use crate::message::ToolCall;
use crate::tools::Prepared;

/// A call on its way: prepared and judged, not yet run.
pub(super) struct Ready {
    pub(super) call: ToolCall,
    pub(super) prepared: Prepared,
    pub(super) verdict: Verdict,
}

impl Ready {
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            call: &self.call.id,
            title: &self.prepared.title,
            effect: &self.prepared.effect,
            verdict: &self.verdict,
        }
    }

    pub(super) fn changes(&self) -> Option<PathBuf> {
        match &self.prepared.effect {
            Effect::Write(change) => Some(change.at.path().to_owned()),
            Effect::Read(_) | Effect::Execute(_) => None,
        }
    }

    pub(super) fn is_free_read(&self) -> bool {
        matches!(self.prepared.effect, Effect::Read(_)) && self.verdict.answer == Answer::Allow
    }
}

/// Whether what `grant` allows is without an effect: reading, and commands of the read-only list.
pub(super) fn only_looks(grant: &Grant) -> bool {
    match grant {
        Grant::Read => true,
        Grant::Write(_) => false,
        Grant::Execute(execute) => ReadOnly::parse(&execute.command).is_some(),
    }
}
