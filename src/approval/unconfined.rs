//! What is held against a command that nothing confines: the words that name paths, and what its programs do with them.

use super::policy::{Confinement, Policy, confinement};
use super::rules::Rule;
use super::shell::Script;
use super::{Answer, Execute, protected};
use crate::workspace::{Located, Place};

/// Returns the rule about writing that a command's changes meet, where no sandbox keeps them away.
pub(super) fn change_of<'a>(
    policy: &'a Policy,
    execute: &Execute,
    answer: Answer,
) -> Option<&'a Rule> {
    if confinement(policy, execute) != Confinement::None {
        return None;
    }
    let root = policy.ground.root();
    execute.changes.iter().find_map(|at| policy.rules.change(answer, at, root))
}

/// Returns why a command that nothing confines is asked: what it changes starts processes or
/// instructs agents, it reads through folders of which a rule keeps something, or there is more to
/// it than was looked at.
pub(super) fn asked(policy: &Policy, execute: &Execute, script: &Script) -> Option<String> {
    if confinement(policy, execute) != Confinement::None {
        return None;
    }
    if script.is_over {
        return Some("a command that is too long to be judged is asked in every mode".to_owned());
    }
    let home = policy.ground.home.as_deref();
    let starts = |at: &&Located| {
        let [path, written] = [at.path(), at.written()];
        let is_of_home = || [path, written].iter().any(|path| protected::is_of_home(path, home));
        let is_protected = || [path, written].iter().any(|path| protected::is_protected(path));
        // What lies among temporary files starts nothing.
        let counts = match at.place() {
            Place::System => return false,
            Place::Private => return true,
            Place::Outside => !path.starts_with("/tmp"),
            Place::Workspace | Place::Output => true,
        };
        is_of_home() || counts && is_protected()
    };
    let mut changes = execute.changes.iter().chain(&execute.writes);
    if let Some(at) = changes.find(starts) {
        return Some(format!("changing `{}` is asked in every mode", at.path().display()));
    }
    let root = policy.ground.root();
    let mut through = execute.through.iter();
    let rule = through.find_map(|at| policy.rules.reads_beneath(at, root))?;
    Some(format!("reading through folders is asked where the rule `{rule}` keeps something"))
}
