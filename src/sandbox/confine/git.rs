//! Which commands may change `.git`: git alone, so that nothing else speaks through it; and where that is.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::git_options;
use crate::approval::is_protected_name;

/// The most bytes of a file that git keeps and that is looked at.
const MOST_BYTES: u64 = 64 << 10;

/// Settings that `-c` may give: they start nothing.
const HARMLESS: &[&str] = &[
    "user.name=",
    "user.email=",
    "commit.gpgsign=false",
    "tag.gpgsign=false",
    "init.defaultbranch=",
    "advice.",
    "color.",
    "core.quotepath=",
];

/// Programs that may stand beside git in a command, since they only look or print.
const BESIDE: &[&str] = &["cd", "echo", "pwd", "true", "ls", "cat", "head", "tail", "wc"];

/// Settings that `git config` may write: they start nothing and lead nowhere.
pub(super) const SETTINGS: &[&str] = &[
    "user.name",
    "user.email",
    "init.defaultbranch",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "merge.ff",
    "rebase.autostash",
    "fetch.prune",
    "commit.gpgsign",
    "tag.gpgsign",
    "core.autocrlf",
    "core.eol",
    "core.quotepath",
    "core.filemode",
    "core.ignorecase",
];

/// Sub-commands that make files of what is committed, which may have protected names.
const CHECKING_OUT: &[&str] = &[
    "checkout",
    "switch",
    "pull",
    "merge",
    "rebase",
    "reset",
    "restore",
    "stash",
    "cherry-pick",
    "revert",
    "bisect",
];

/// Steps of `git bisect` that start nothing.
const BISECTING: &[&str] = &["start", "good", "bad", "new", "old", "skip", "reset", "log", "terms"];

/// What a command that is only git does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Git {
    /// Whether it writes settings.
    pub(super) settings: bool,
    /// Whether it makes files of what is committed.
    pub(super) checks_out: bool,
}

/// What of git works in its own repository, starts nothing but hooks, writes nothing elsewhere, and
/// commits nothing that was never a file. What writes a file that it is told does not need `.git`.
const COMMANDS: &[&str] = &[
    "add",
    "bisect",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "commit-tree",
    "count-objects",
    "describe",
    "diff",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "grep",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-ref",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "write-tree",
];

/// Whether `command` is only git, so that `.git` may be writable for it.
///
/// Parsed strictly: what is not understood is not git.
pub fn is_plain_git(command: &str) -> bool {
    plain_git(command).is_some()
}

/// Returns what `command` does if it is only git.
pub(super) fn plain_git(command: &str) -> Option<Git> {
    let parts = simple_commands(command)?;
    let mut all = None;
    for words in &parts {
        let (program, rest) = words.split_first()?;
        if program == "git" {
            let (git, all) = (harmless(rest)?, all.get_or_insert(Git::default()));
            all.settings |= git.settings;
            all.checks_out |= git.checks_out;
        } else if !BESIDE.contains(&program.as_str()) {
            return None;
        }
    }
    all
}

/// Looks at the options before git's own command, and at the command.
fn harmless(words: &[String]) -> Option<Git> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-c" => {
                let setting = words.next()?.to_lowercase();
                if !HARMLESS.iter().any(|harmless| setting.starts_with(harmless)) {
                    return None;
                }
            }
            "-C" => {
                words.next();
            }
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            "config" => return harmless_config(words.as_slice()),
            command if !COMMANDS.contains(&command) => return None,
            word => {
                let rest = words.as_slice();
                let moves = word == "mv" && rest.iter().any(|word| names_protected(word));
                // `bisect run` starts what it is given, and others do as they read or show.
                let bisects = word != "bisect"
                    || rest.first().is_some_and(|step| BISECTING.contains(&step.as_str()));
                let harmless = bisects && git_options::are_harmless(word, rest);
                let checks_out = CHECKING_OUT.contains(&word);
                return (!moves && harmless).then_some(Git { settings: false, checks_out });
            }
        }
    }
    None
}

/// Looks at the words after `git config`.
fn harmless_config(words: &[String]) -> Option<Git> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|&w| w != "--local").collect();
    let is_setting = |name: &str| SETTINGS.contains(&name.to_lowercase().as_str());
    match words.as_slice() {
        ["--list" | "-l" | "list", ..] | ["--get" | "--get-all" | "get", _] | [_] => {
            let writes = words.iter().any(|word| ["-e", "--edit", "edit"].contains(word));
            (!writes).then_some(Git::default())
        }
        [name, value] | ["set", name, value] if is_setting(name) && !value.starts_with('-') => {
            Some(Git { settings: true, checks_out: false })
        }
        ["--unset" | "unset", name] if is_setting(name) => {
            Some(Git { settings: true, checks_out: false })
        }
        _ => None,
    }
}

/// Whether the last part of `word` is a protected name.
fn names_protected(word: &str) -> bool {
    let mut parts = word.trim_end_matches('/').rsplit('/');
    is_protected_name(parts.next().unwrap_or_default(), parts.next(), parts.next())
}

/// Returns the folders where git keeps what belongs to the work tree at `tree`, if `.git` there
/// is a file that leads to them, the outer one first.
///
/// A file alone is not believed: the folder must lead back to the work tree.
pub(super) fn homes(tree: &Path) -> Vec<PathBuf> {
    linked(tree).or_else(|| submodule(tree)).unwrap_or_default()
}

/// Returns where the file `.git` in `tree` leads.
fn led_to(tree: &Path) -> Option<PathBuf> {
    let file = tree.join(".git");
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = short_text(&file)?;
    tree.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// Returns the folders of a linked work tree: the repository's, and its own in there.
fn linked(tree: &Path) -> Option<Vec<PathBuf>> {
    let own = led_to(tree)?;
    let back = own.join(short_text(&own.join("gitdir"))?.trim()).canonicalize().ok()?;
    let common = own.join(short_text(&own.join("commondir"))?.trim()).canonicalize().ok()?;
    let leads_back = back == tree.join(".git").canonicalize().ok()?;
    (leads_back && own.parent()? == common.join("worktrees")).then(|| vec![common, own])
}

/// Returns the folder of a submodule.
fn submodule(tree: &Path) -> Option<Vec<PathBuf>> {
    let own = led_to(tree)?;
    let settings = short_text(&own.join("config"))?;
    let line = settings.lines().find_map(|line| line.trim().strip_prefix("worktree"))?;
    let back = own.join(line.trim().strip_prefix('=')?.trim()).canonicalize().ok()?;
    let is_module = own.components().any(|part| part.as_os_str() == "modules");
    (is_module && back == tree.canonicalize().ok()?).then(|| vec![own])
}

/// Returns the text of a small file, whole.
///
/// It may be a command that made what is there: a FIFO would be waited for, for ever.
pub(super) fn short_text(path: &Path) -> Option<String> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut text = String::new();
    let is_small = file.metadata().is_ok_and(|facts| facts.is_file() && facts.len() <= MOST_BYTES);
    (is_small && file.take(MOST_BYTES + 1).read_to_string(&mut text).is_ok()).then_some(text)
}

/// Splits `command` at `&&`, `||`, `;`, `|` and line ends into words; `None` where it has
/// anything that this does not understand.
fn simple_commands(command: &str) -> Option<Vec<Vec<String>>> {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut characters = command.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => word.push(characters.next()?),
                        inner => word.push(inner),
                    }
                }
            }
            ' ' | '\t' => parts.last_mut()?.extend(word.take()),
            ';' | '\n' => {
                parts.last_mut()?.extend(word.take());
                parts.push(Vec::new());
            }
            '&' | '|' => {
                let doubled = characters.next_if_eq(&character).is_some();
                if character == '&' && !doubled {
                    return None;
                }
                parts.last_mut()?.extend(word.take());
                parts.push(Vec::new());
            }
            '2' if word.is_none() && characters.peek() == Some(&'>') => {
                // Only `2>&1` and `2>/dev/null`.
                let rest: String = characters.clone().collect();
                let known = [">&1", ">/dev/null"].into_iter().find(|known| {
                    rest.strip_prefix(known).is_some_and(|after| {
                        after.is_empty() || after.starts_with([' ', '\t', ';', '\n', '|', '&'])
                    })
                })?;
                for _ in known.chars() {
                    characters.next();
                }
            }
            '$' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | '\\' | '#' | '!' | '*' | '?' | '['
            | '\r' => {
                return None;
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    parts.last_mut()?.extend(word.take());
    parts.retain(|words| !words.is_empty());
    Some(parts)
}
