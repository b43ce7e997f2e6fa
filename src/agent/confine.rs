//! Where commands run: what the policy says, told to the sandbox.

use std::path::{Path, PathBuf};

use super::Agent;
use crate::approval::{Confinement, Effect, Execute, Mode, Policy, confinement};
use crate::sandbox::Wish;

impl Agent {
    /// Returns the policy for `effect` as it is now, the rung included where it matters.
    pub(super) fn policy_for(&self, effect: &Effect) -> Policy {
        let policy = self.policy();
        match effect {
            Effect::Execute(_) => Policy { rung: self.commands.rung(), ..policy },
            Effect::Read(_) | Effect::Write(_) => policy,
        }
    }

    /// Makes the sandbox ready for the next command.
    pub(super) fn prepare_sandbox(&self, outputs: Option<PathBuf>) {
        let policy = self.policy();
        let Some(sandbox) = &self.commands.sandbox else { return };
        if policy.mode == Mode::Full {
            sandbox.guard();
        } else {
            let read_only = policy.mode == Mode::Read;
            sandbox.prepare(&Wish { network: false, read_only, outputs });
        }
    }

    /// Returns how a command that may run is confined.
    pub(super) fn wish(&self, execute: &Execute, outputs: Option<&Path>) -> Option<Wish> {
        let policy = self.policy_for(&Effect::Execute(execute.clone()));
        match confinement(&policy, execute) {
            Confinement::None => None,
            Confinement::Sandbox { network, read_only } => {
                Some(Wish { network, read_only, outputs: outputs.map(Path::to_owned) })
            }
        }
    }
}
