//! Where commands run: what the policy says, told to the sandbox.

use std::path::{Path, PathBuf};

use super::Agent;
use crate::approval::{
    Answer, Confinement, Effect, Execute, Ground, Mode, Policy, Verdict, barred, confinement,
    judge_call,
};
use crate::sandbox::Wish;
use crate::tools;

impl Agent {
    /// Returns the policy for `effect` as it is now, the rung included where it matters.
    pub fn policy_for(&self, effect: &Effect) -> Policy {
        let policy = self.policy();
        match effect {
            // In this mode nothing is confined, so nothing depends on what could be.
            Effect::Execute(_) if policy.mode == Mode::Full => policy,
            Effect::Execute(_) => {
                let has_view = policy.mode == Mode::Ask && self.has_view();
                Policy { rung: self.commands.rung(), has_view, ..policy }
            }
            Effect::Read(_) | Effect::Write(_) => {
                let mut links = self.workspace.links_at_roots();
                links.extend(self.leads.of_links(&self.workspace));
                if matches!(effect, Effect::Write(_)) {
                    links.extend(self.leads.of_settings(&self.workspace));
                }
                Policy { ground: Ground { links, ..policy.ground }, ..policy }
            }
        }
    }

    /// Finds out to what a yes to a command is bound, which takes reading files.
    pub fn bind(&self, policy: &Policy, effect: &mut Effect) {
        let Effect::Execute(execute) = effect else { return };
        let is_confined = confinement(policy, execute) != Confinement::None;
        *execute.binding = tools::binding(&execute.command, &self.workspace, is_confined);
    }

    /// Whether what a command would run is another than when it was asked about.
    pub(super) fn has_changed(&self, effect: &Effect) -> bool {
        let Effect::Execute(execute) = effect else { return false };
        let now = tools::binding(&execute.command, &self.workspace, false);
        now.content != execute.binding.content
    }

    /// Judges `effect` of the tool `name` as things are now.
    pub fn judge(&self, name: &str, effect: &mut Effect) -> Verdict {
        let policy = self.policy_for(effect);
        if matches!(effect, Effect::Execute(execute) if policy.depends_on_content(execute)) {
            self.bind(&policy, effect);
            return judge_call(&policy, name, effect);
        }
        let verdict = judge_call(&policy, name, effect);
        if verdict.answer == Answer::Ask {
            self.bind(&policy, effect);
        }
        verdict
    }

    /// Makes the sandbox ready for the next command.
    pub(super) fn prepare_sandbox(&self, outputs: Option<PathBuf>) {
        self.leads.look(&self.workspace);
        let policy = self.policy();
        let Some(sandbox) = &self.commands.sandbox else { return };
        if policy.mode == Mode::Full {
            sandbox.guard();
        } else {
            let read_only = policy.mode == Mode::Read;
            let view = policy.mode == Mode::Ask && self.has_view();
            let barred = barred(&policy, &Execute::default());
            sandbox.prepare(&Wish { network: false, read_only, view, outputs, barred });
        }
    }

    /// Whether commands can run in a copy-on-write view. The first time this tries it out.
    fn has_view(&self) -> bool {
        let sandbox = self.commands.sandbox.as_ref();
        sandbox.is_some_and(|sandbox| sandbox.rung().confines() && sandbox.view().is_ok())
    }

    /// Returns how a command that may run is confined.
    pub(super) fn wish(&self, execute: &Execute, outputs: Option<&Path>) -> Option<Wish> {
        let policy = self.policy_for(&Effect::Execute(execute.clone()));
        match confinement(&policy, execute) {
            Confinement::None => None,
            Confinement::Sandbox { network, read_only, view } => {
                let outputs = outputs.map(Path::to_owned);
                let barred = barred(&policy, execute);
                Some(Wish { network, read_only, view, outputs, barred })
            }
        }
    }
}
