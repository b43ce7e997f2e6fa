//! Stored answers: rules of the person, and the stricter ones that a project may add.

mod command;
mod file;
mod paths;
mod pattern;
mod unseen;

pub(super) use command::{adds_to, git_may_take};
pub use command::{offered, shown};
pub use file::{RulesError, TOOLS, added, removed};
pub(super) use paths::ANY;
pub use paths::Paths;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Answer, Binding};
use crate::workspace::{Link, Located, Workspace};

/// All rules that hold in one workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    list: Vec<Rule>,
    /// Links of the workspace, once they were looked for: what is held against the rules has more
    /// names than one.
    links: OnceLock<Vec<Link>>,
}

/// One stored answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub answer: Answer,
    pub subject: Subject,
    /// The workspace in which alone it holds.
    pub workspace: Option<PathBuf>,
    pub origin: Origin,
    /// To what a yes that became this rule is bound beside the words.
    pub binding: Binding,
    /// Its place among the rules of its answer in its file.
    pub index: usize,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// Simple commands that begin with these words, or are exactly these.
    Command { words: Vec<String>, exact: bool },
    /// Reading files.
    Read(Paths),
    /// Writing files.
    Write(Paths),
    /// Every call of a tool.
    Tool(String),
}

/// Where a rule was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    User,
    Project,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.answer.name())?;
        match &self.subject {
            Subject::Command { words, exact } => {
                let kind = if *exact { "exactly" } else { "command" };
                write!(f, "{kind} {}{}", command::shown(words), self.binding.shown())
            }
            Subject::Read(paths) => write!(f, "read {}", paths.glob()),
            Subject::Write(paths) => write!(f, "write {}", paths.glob()),
            Subject::Tool(name) => write!(f, "tool {name}"),
        }
    }
}

impl Rule {
    /// Whether it is bound to more than words.
    fn is_bound(&self) -> bool {
        self.binding != Binding::default()
    }
}

impl Rules {
    /// Joins the person's rules and the project's, as far as they hold in the workspace `root`.
    pub fn new(rules: impl IntoIterator<Item = Rule>, root: &Path) -> Rules {
        let holds = |rule: &Rule| rule.workspace.as_deref().is_none_or(|at| at == root);
        Rules { list: rules.into_iter().filter(holds).collect(), links: OnceLock::new() }
    }

    /// Returns the rules, in the order in which they stand in their files.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.list.iter()
    }

    /// Looks where links lead, if there are rules for paths that are not allowed.
    ///
    /// This happens once: a link that is taken away later has been there.
    pub fn look_for_links(&self, workspace: &Workspace) {
        self.links.get_or_init(|| {
            let paths = self.list.iter().filter(|rule| rule.answer != Answer::Allow);
            let paths = paths.filter_map(|rule| match &rule.subject {
                Subject::Read(paths) | Subject::Write(paths) => Some(paths),
                Subject::Command { .. } | Subject::Tool(_) => None,
            });
            // What is spelled out may lie where no look comes.
            let root = workspace.root();
            let begun: Vec<PathBuf> = paths.map(|paths| paths.spelled_out(root).1).collect();
            if begun.is_empty() {
                return Vec::new();
            }
            let mut links = workspace.links();
            for link in begun.iter().filter_map(|path| workspace.link(path)) {
                if !links.contains(&link) {
                    links.push(link);
                }
            }
            links
        });
    }

    /// Returns the names that `path` has by links of the workspace beside its own.
    fn other_names(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let links = self.links.get().map(Vec::as_slice).unwrap_or_default();
        links.iter().filter_map(|link| {
            let rest = path.strip_prefix(&link.target).ok()?;
            let is_itself = rest.as_os_str().is_empty();
            Some(if is_itself { link.path.clone() } else { link.path.join(rest) })
        })
    }

    /// Whether `paths`, of a rule that denies or asks, hold what is at `path` by any of its names.
    pub(super) fn hold(&self, paths: &Paths, path: &Path, root: &Path) -> bool {
        paths.hold(path, root) || self.other_names(path).any(|name| paths.hold(&name, root))
    }

    /// Whether `paths` hold what is at `path`, or all that is in it, by any of its names.
    pub(super) fn hold_all(&self, paths: &Paths, path: &Path, root: &Path) -> bool {
        paths.hold_all(path, root) || self.other_names(path).any(|name| paths.hold_all(&name, root))
    }

    /// Whether `paths` may hold something beneath `folder` by any of its names.
    pub(super) fn may_hold_beneath(&self, paths: &Paths, folder: &Path, root: &Path) -> bool {
        let links = self.links.get().map(Vec::as_slice).unwrap_or_default();
        let leads_in = |link: &Link| {
            link.target.starts_with(folder) && paths.may_lie_beneath(&link.path, root)
        };
        paths.may_lie_beneath(folder, root)
            || self.other_names(folder).any(|name| paths.may_lie_beneath(&name, root))
            || links.iter().any(leads_in)
    }

    /// Whether a rule of `answer` for `paths` is about what is at `at`.
    pub(super) fn reaches(&self, paths: &Paths, answer: Answer, at: &Located, root: &Path) -> bool {
        match answer {
            Answer::Allow => paths.hold(at.path(), root),
            Answer::Ask | Answer::Deny => {
                self.hold(paths, at.path(), root) || paths.hold(at.written(), root)
            }
        }
    }

    /// Returns a rule that denies or asks about commands.
    pub(super) fn against_commands(&self) -> Option<&Rule> {
        let is_one = |rule: &&Rule| {
            rule.answer != Answer::Allow && matches!(rule.subject, Subject::Command { .. })
        };
        self.list.iter().find(is_one)
    }

    /// Whether there is a rule that denies commands.
    pub(super) fn denies_commands(&self) -> bool {
        let is_one = |rule: &Rule| {
            rule.answer == Answer::Deny && matches!(rule.subject, Subject::Command { .. })
        };
        self.list.iter().any(is_one)
    }

    /// Whether a rule is bound to more than words.
    pub(super) fn are_bound(&self) -> bool {
        self.list.iter().any(Rule::is_bound)
    }

    fn with(&self, answer: Answer) -> impl Iterator<Item = &Rule> {
        self.list.iter().filter(move |rule| rule.answer == answer)
    }

    /// Returns the first rule of `answer` for reading `at` in the workspace `root`.
    ///
    /// What denies or asks holds for the link and for what it leads to; what allows, for the latter.
    pub(super) fn read(&self, answer: Answer, at: &Located, root: &Path) -> Option<&Rule> {
        self.with(answer).find(|rule| match &rule.subject {
            Subject::Read(paths) => self.reaches(paths, answer, at, root),
            _ => false,
        })
    }

    /// Returns the same for a tool that goes through all that is at and in `at`.
    pub(super) fn read_through(&self, answer: Answer, at: &Located, root: &Path) -> Option<&Rule> {
        let is_about_all = |rule: &&Rule| match &rule.subject {
            Subject::Read(paths) if answer != Answer::Allow => {
                self.hold_all(paths, at.path(), root)
            }
            _ => false,
        };
        self.read(answer, at, root).or_else(|| self.with(answer).find(is_about_all))
    }

    /// Returns the first rule of `answer` for writing `at` in the workspace `root`.
    pub(super) fn write(&self, answer: Answer, at: &Located, root: &Path) -> Option<&Rule> {
        self.with(answer).find(|rule| match &rule.subject {
            Subject::Write(paths) => self.reaches(paths, answer, at, root),
            // What may not be read is not written either, since a refused edit shows what is there.
            Subject::Read(paths) if answer == Answer::Deny => self.reaches(paths, answer, at, root),
            _ => false,
        })
    }

    /// Returns the same for a command that changes what is at `at`, and all in it.
    pub(super) fn change(&self, answer: Answer, at: &Located, root: &Path) -> Option<&Rule> {
        let is_about_all = |rule: &&Rule| match &rule.subject {
            Subject::Write(paths) => self.hold_all(paths, at.path(), root),
            Subject::Read(paths) if answer == Answer::Deny => self.hold_all(paths, at.path(), root),
            _ => false,
        };
        self.write(answer, at, root).or_else(|| self.with(answer).find(is_about_all))
    }

    /// Returns the rule that denies or asks about reading something which may lie beneath `folder`.
    pub(super) fn reads_beneath(&self, folder: &Located, root: &Path) -> Option<&Rule> {
        self.list.iter().filter(|rule| rule.answer != Answer::Allow).find(|rule| {
            match &rule.subject {
                Subject::Read(paths) => self.may_hold_beneath(paths, folder.path(), root),
                _ => false,
            }
        })
    }

    /// Returns the first rule of `answer` for the tool `name`.
    pub(super) fn tool(&self, answer: Answer, name: &str) -> Option<&Rule> {
        self.with(answer)
            .find(|rule| matches!(&rule.subject, Subject::Tool(listed) if listed == name))
    }
}
