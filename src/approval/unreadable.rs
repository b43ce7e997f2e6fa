//! What rules keep from tools that go through files which their call does not name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rules::{Paths, Rules, Subject};
use super::{Answer, Effect, Policy};
use crate::workspace::Located;

/// Files that a tool passes over, since a rule denies reading them or has it asked.
#[derive(Clone, Debug, Default)]
pub struct Unreadable {
    rules: Arc<Rules>,
    root: PathBuf,
    /// Places that the call names: a rule that asks about one has been answered.
    named: Vec<Located>,
}

impl Unreadable {
    /// Returns what `policy` keeps from a call of `effect`, once it may run.
    pub fn new(policy: &Policy, effect: &Effect) -> Unreadable {
        let named = match effect {
            Effect::Read(places) => places.clone(),
            Effect::Write(_) | Effect::Execute(_) => Vec::new(),
        };
        let root = policy.ground.root().to_owned();
        Unreadable { rules: Arc::clone(&policy.rules), root, named }
    }

    /// Returns what `rules` keep from whatever names nothing, in the workspace `root`.
    pub fn unnamed(rules: Arc<Rules>, root: &Path) -> Unreadable {
        Unreadable { rules, root: root.to_owned(), named: Vec::new() }
    }

    /// Whether the file at `path`, which is absolute, is kept from it.
    pub fn holds(&self, path: &Path) -> bool {
        self.any(|paths| self.rules.hold(paths, path, &self.root))
    }

    /// Whether something in `folder` may be kept from it.
    pub fn may_lie_beneath(&self, folder: &Path) -> bool {
        self.any(|paths| self.rules.may_hold_beneath(paths, folder, &self.root))
    }

    /// Whether a rule that was not answered keeps it from paths of which `is_about` is true.
    fn any(&self, is_about: impl Fn(&Paths) -> bool) -> bool {
        self.rules.iter().any(|rule| match &rule.subject {
            Subject::Read(paths) if rule.answer != Answer::Allow => {
                is_about(paths) && !(rule.answer == Answer::Ask && self.is_answered(paths))
            }
            _ => false,
        })
    }

    /// Whether the person was asked about `paths`, and said yes.
    fn is_answered(&self, paths: &Paths) -> bool {
        self.named.iter().any(|at| {
            self.rules.reaches(paths, Answer::Ask, at, &self.root)
                || self.rules.hold_all(paths, at.path(), &self.root)
        })
    }
}
