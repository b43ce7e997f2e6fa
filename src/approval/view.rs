//! What a copy-on-write view cannot carry back, so that it is asked: what git and its like record, folders that go.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::Ground;
use super::shell::{Script, Simple};
use crate::change::Change;
use crate::workspace::{is_link_mode, lexical};

/// Sub-commands of git that only look, as far as it concerns what is recorded.
const LOOKING: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-ignore",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "version",
    "whatchanged",
];

/// Sub-commands of git that look when they are given only these words.
const LOOKING_WITH: &[(&str, &[&str])] = &[
    ("branch", &["-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"]),
    ("remote", &["-v", "--verbose"]),
    ("stash", &["list"]),
    ("tag", &["-l", "--list"]),
    ("worktree", &["list"]),
    ("reflog", &[]),
];

/// Other programs that record what the working tree holds.
const RECORDING: &[&str] = &["hg", "jj", "svn", "bzr", "fossil", "pijul"];

/// Options of git before its sub-command that take the next word.
const WITH_VALUE: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Returns what of `script` no view carries; nothing if, as far as can be told, it carries all.
///
/// What is not told by the words fails in the view: there `.git` is read-only, and a folder that
/// is bound through cannot be removed.
pub(super) fn cannot_carry(script: &Script) -> Option<&'static str> {
    script.commands.iter().find_map(of)
}

/// Whether a command of git only looks.
pub(super) fn looks(simple: &Simple) -> bool {
    of(simple).is_none()
}

fn of(simple: &Simple) -> Option<&'static str> {
    let texts = simple.texts();
    let mut words = texts.iter().copied().skip(1);
    match simple.name() {
        "git" => loop {
            match words.next() {
                Some(word) if WITH_VALUE.contains(&word) => {
                    words.next();
                }
                Some(word) if word.starts_with('-') => {}
                Some(word) if LOOKING.contains(&word) => return None,
                Some(word) => {
                    let given = LOOKING_WITH.iter().find(|(name, _)| *name == word);
                    let looks =
                        given.is_some_and(|(_, only)| words.all(|word| only.contains(&word)));
                    // Without a word `git stash` records.
                    let looks = looks && (word != "stash" || texts.last() == Some(&"list"));
                    return (!looks).then_some("git that records");
                }
                None => return None,
            }
        },
        "rm" => {
            let is_recursive = |word: &str| {
                word == "--recursive"
                    || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
            };
            words.any(is_recursive).then_some("removing folders")
        }
        "cargo" => words.any(|word| word == "clean").then_some("removing folders"),
        name => RECORDING.contains(&name).then_some("a program that records the working tree"),
    }
}

/// Returns why a change that makes a symbolic link is asked each time: what is written through it
/// would land elsewhere.
pub(super) fn leads_out(change: &Change, ground: &Ground) -> Option<&'static str> {
    let target = change.after.as_deref().filter(|_| change.mode.is_some_and(is_link_mode))?;
    let folder = change.at.path().parent().unwrap_or(Path::new("/"));
    let to = lexical(&folder.join(OsStr::from_bytes(target)));
    let is_inside = ground.roots.iter().any(|root| to.starts_with(root));
    (!is_inside).then_some("it is a symbolic link that leads out of the workspace")
}
