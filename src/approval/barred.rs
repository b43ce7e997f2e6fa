//! What rules for paths keep from commands, by whatever way these reach it: for the sandbox to enforce.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rules::{ANY, Paths, Subject};
use super::{Answer, Execute, Policy};

/// Patterns of paths that commands are kept from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barred {
    /// What relative patterns lie in; any bytes, which a path would not carry as text.
    root: OsString,
    list: Vec<Pattern>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pattern {
    /// With the person's home written out.
    glob: String,
    bar: Bar,
    /// The rule in words.
    rule: String,
    /// Whether the person would be asked, and not be passed over.
    asks: bool,
}

/// From what commands are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// From reading it.
    pub hides: bool,
    /// From changing it.
    pub guards: bool,
}

impl Bar {
    fn and(self, other: Bar) -> Bar {
        Bar { hides: self.hides || other.hides, guards: self.guards || other.guards }
    }

    /// Whether there is anything to keep from a command.
    pub fn is_any(self) -> bool {
        self.hides || self.guards
    }
}

/// Returns what `execute` is kept from under `policy`, once it may run.
///
/// A rule that asks lets a command by which names such a path itself: the person was asked.
pub fn barred(policy: &Policy, execute: &Execute) -> Barred {
    let root = policy.ground.root();
    let mut list = Vec::new();
    for rule in policy.rules.iter().filter(|rule| rule.answer != Answer::Allow) {
        let asks = rule.answer == Answer::Ask;
        let (paths, bar, named) = match &rule.subject {
            // What may not be read is not written either.
            Subject::Read(paths) => (paths, Bar { hides: true, guards: !asks }, &execute.named[..]),
            Subject::Write(paths) => {
                (paths, Bar { hides: false, guards: true }, &execute.writes[..])
            }
            Subject::Command { .. } | Subject::Tool(_) => continue,
        };
        if asks && named.iter().any(|at| policy.rules.reaches(paths, Answer::Ask, at, root)) {
            continue;
        }
        let rule = rule.to_string();
        list.extend(paths.expanded().map(|glob| {
            let (glob, rule) = (glob.to_owned(), rule.clone());
            Pattern { glob, bar, rule, asks }
        }));
    }
    if list.is_empty() { Barred::default() } else { Barred { root: root.into(), list } }
}

impl Barred {
    /// Whether commands are kept from nothing.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the rules, in words, and from what they keep.
    pub fn rules(&self) -> impl Iterator<Item = (&str, Bar)> {
        self.list.iter().map(|pattern| (pattern.rule.as_str(), pattern.bar))
    }

    /// Returns the rule against writing `path` in words, and whether it asks.
    pub fn rule_against(&self, path: &Path) -> Option<(&str, bool)> {
        let mut list = self.list.iter().filter(|pattern| pattern.bar.guards);
        let found = list.find(|pattern| {
            Paths::new(&pattern.glob, None)
                .is_ok_and(|paths| paths.hold_all(path, Path::new(&self.root)))
        });
        found.map(|pattern| (pattern.rule.as_str(), pattern.asks))
    }

    /// Returns the paths that patterns spell out, whether anything is there or not.
    pub fn spelled_out(&self) -> Vec<(PathBuf, Bar)> {
        let paths = self.list.iter().filter_map(|pattern| {
            let paths = Paths::new(&pattern.glob, None).ok()?;
            Some((paths.spelled_out(Path::new(&self.root)).0?, pattern.bar))
        });
        paths.collect()
    }
}

/// The same, made ready to look paths up.
#[derive(Default)]
pub struct Bars {
    root: PathBuf,
    list: Vec<(Paths, Bar)>,
}

impl Bars {
    /// Makes it ready.
    pub fn new(barred: &Barred) -> Bars {
        let list = barred.list.iter();
        let list =
            list.filter_map(|pattern| Some((Paths::new(&pattern.glob, None).ok()?, pattern.bar)));
        Bars { root: barred.root.clone().into(), list: list.collect() }
    }

    /// Whether commands are kept from nothing.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns from what of `path` commands are kept, or of all that is in it if it is a folder.
    pub fn of(&self, path: &Path, is_folder: bool) -> Bar {
        self.all(|paths| {
            if is_folder { paths.hold_all(path, &self.root) } else { paths.hold(path, &self.root) }
        })
    }

    /// Returns the same for an entry of a folder from all of which no rule keeps commands.
    pub fn of_entry(&self, path: &Path, is_folder: bool) -> Bar {
        self.all(|paths| {
            let holds = |path: &Path| paths.hold_itself(path, &self.root);
            holds(path) || is_folder && ANY.iter().all(|name| holds(&path.join(name)))
        })
    }

    fn all(&self, holds: impl Fn(&Paths) -> bool) -> Bar {
        let bars = self.list.iter().filter(|(paths, _)| holds(paths)).map(|(_, bar)| *bar);
        bars.fold(Bar::default(), Bar::and)
    }
}
