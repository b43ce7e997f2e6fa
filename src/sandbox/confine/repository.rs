//! Whether a repository starts a program when somebody uses git in it, as far as its files tell.

use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::git::{SETTINGS, short_text};

/// Sections of a repository's settings that start nothing.
const HARMLESS_SECTIONS: &[&str] = &["remote", "branch", "user", "submodule"];

/// Names of the section `core` that start nothing and lead nowhere.
const HARMLESS_CORE: &[&str] = &[
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
];

/// Names of the other sections that lead to a program.
const LEADING: &[&str] = &["uploadpack", "receivepack", "vcs", "proxy", "update"];

/// Files in which git notes what it goes on with, and which of their lines start a program: the
/// list of a rebase, and the way of merging, of which it makes the name of a program.
type Starts = fn(&str) -> bool;
const NOTES: &[(&str, Starts)] = &[
    ("rebase-merge/git-rebase-todo", is_exec),
    ("rebase-merge/git-rebase-todo.backup", is_exec),
    ("rebase-merge/strategy", is_path),
    ("rebase-apply/strategy", is_path),
    ("sequencer/opts", is_setting_of_path),
];

/// The most that is read of one file.
const MOST_BYTES: u64 = 1 << 20;

/// How many files of settings are read of one repository.
const MOST_INCLUDED: usize = 16;

/// How many repositories within one are looked at, and how deep.
const MOST_WITHIN: usize = 64;
const MOST_DEPTH: usize = 4;

/// A program that git would start when it goes on with what it was at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Plan {
    file: PathBuf,
    line: String,
}

impl Plan {
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the same where its file was moved.
    pub(super) fn at(&self, file: PathBuf) -> Plan {
        Plan { file, line: self.line.clone() }
    }
}

/// Returns the programs that the repository at `git` is about to start.
pub(super) fn plans(git: &Path) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (name, starts) in NOTES {
        let file = git.join(name);
        let Some(text) = beginning(&file) else { continue };
        let lines = text.lines().filter(|line| starts(line)).map(str::to_owned);
        // What is beyond is not read, so it may be anything.
        let rest = (text.len() as u64 >= MOST_BYTES).then(|| text.len().to_string());
        plans.extend(lines.chain(rest).map(|line| Plan { file: file.clone(), line }));
    }
    plans
}

/// Whether a line of a rebase's list starts a program.
fn is_exec(line: &str) -> bool {
    let word = line.trim_start().split([' ', '\t', '\r']).next();
    word.is_some_and(|word| ["exec", "x"].contains(&word))
}

/// Whether a way of merging is a path, at which git would start a program.
fn is_path(line: &str) -> bool {
    line.contains('/')
}

/// Whether a setting gives such a way of merging.
fn is_setting_of_path(line: &str) -> bool {
    let setting = line.split_once('=').map(|(name, value)| (name.trim().to_lowercase(), value));
    setting.is_some_and(|(name, value)| name == "strategy" && is_path(value))
}

/// Returns the beginning of the file at `path`, if it is one, a character for each byte.
pub(super) fn beginning(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(characters(&bytes))
}

/// Returns each byte as a character, so that what is no UTF-8 stays different where it differs.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Whether the repository at `git` starts nothing: no hook, no setting that names a program, no
/// remote of the old kind, no plan.
pub(super) fn is_harmless(git: &Path) -> bool {
    is_harmless_to(git, MOST_DEPTH, &mut MOST_WITHIN.clone())
}

fn is_harmless_to(git: &Path, depth: usize, left: &mut usize) -> bool {
    let entries = |name: &str| fs::read_dir(git.join(name)).into_iter().flatten().flatten();
    let is_sample =
        |entry: fs::DirEntry| entry.path().extension().is_some_and(|end| end == "sample");
    let there = |name: &str| git.join(name).symlink_metadata();
    let is_link = |name: &str| there(name).is_ok_and(|found| found.is_symlink());
    let odd = ["commondir", "config.worktree"].iter().any(|name| there(name).is_ok())
        || ["hooks", "config", "branches", "remotes", "modules"].iter().any(|name| is_link(name));
    // Without settings a repository has the usual ones.
    let settings = there("config").is_err()
        || short_text(&git.join("config")).is_some_and(|text| is_harmless_config(&text));
    !odd && settings
        && entries("hooks").all(is_sample)
        && ["branches", "remotes"].iter().all(|name| entries(name).next().is_none())
        && plans(git).is_empty()
        && entries("modules").all(|entry| {
            *left = left.saturating_sub(1);
            *left > 0 && depth > 0 && is_harmless_module(&entry.path(), depth - 1, left)
        })
}

/// Looks at what is in `modules`: a repository, or a folder of some.
fn is_harmless_module(path: &Path, depth: usize, left: &mut usize) -> bool {
    if path.join("HEAD").symlink_metadata().is_ok() {
        return is_harmless_to(path, depth, left);
    }
    fs::read_dir(path).into_iter().flatten().flatten().all(|entry| {
        *left = left.saturating_sub(1);
        *left > 0 && depth > 0 && is_harmless_module(&entry.path(), depth - 1, left)
    })
}

/// Whether the settings in `text` start nothing, as far as they are understood.
fn is_harmless_config(text: &str) -> bool {
    settings(text).iter().all(|(section, line)| is_harmless_setting(section, line))
}

/// Whether the settings at `path`, which were `before`, were changed only in what git may change
/// for a command: what starts nothing and leads nowhere.
pub(super) fn is_harmless_change(before: &[u8], path: &Path) -> bool {
    let Some(after) = beginning(path).filter(|text| (text.len() as u64) < MOST_BYTES) else {
        return false;
    };
    let known = settings(&characters(before));
    let mut new = settings(&after).into_iter().filter(|setting| !known.contains(setting));
    new.all(|(head, line)| is_of_command(&head, &line))
}

/// Whether a command may make this setting: those of [`SETTINGS`], and of a branch the remote that
/// it follows, by its name.
fn is_of_command(head: &str, line: &str) -> bool {
    let (section, is_plain) = section(head);
    let (name, value) = line.split_once('=').unwrap_or((line, ""));
    let (name, value) = (name.trim().to_lowercase(), value.trim());
    if line.starts_with('[') {
        let mut sections = SETTINGS.iter().filter_map(|name| name.split('.').next());
        return is_plain && (section == "branch" || sections.any(|known| known == section));
    }
    let is_name = !value.contains(['/', ':', '\\', '"']) && !value.starts_with('.');
    match (section.as_str(), name.as_str()) {
        ("branch", "remote") => is_name,
        ("branch", "merge" | "rebase") => !line.ends_with('\\'),
        _ => is_listed(&section, &name) && !line.ends_with('\\'),
    }
}

/// Returns the paths that the settings of the repository at `git`, whose work tree is at `tree`, take
/// hooks and settings from.
pub(super) fn led_to(git: &Path, tree: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut pending = vec![git.join("config"), git.join("config.worktree")];
    let mut read = 0;
    while let Some(file) = pending.pop().filter(|_| read < MOST_INCLUDED) {
        read += 1;
        let Some(text) = beginning(&file) else { continue };
        let folder = file.parent().unwrap_or(Path::new("/"));
        // What is no continued line would be, were it one of a comment.
        let mut all = settings(&text);
        if let Some(joined) = joined(&text) {
            all.extend(settings(&joined));
        }
        for (head, line) in all {
            // One may stand in the line of its section.
            let line = if line.starts_with('[') {
                line.split_once(']').map_or("", |(_, rest)| rest)
            } else {
                &line
            };
            let Some((name, value)) = line.split_once('=') else { continue };
            match (section(&head).0.as_str(), name.trim().to_lowercase().as_str()) {
                // Hooks run in the folder of the work tree.
                ("core", "hookspath") => {
                    paths.push(tree.join(path_of(value)));
                }
                ("include" | "includeif", "path") => {
                    let included = folder.join(path_of(value));
                    paths.push(included.clone());
                    pending.push(included);
                }
                _ => {}
            }
        }
    }
    paths
}

/// Returns settings with every line that goes on in the next in one; `None` where there is none.
pub(super) fn joined(text: &str) -> Option<String> {
    let (mut joined, mut is_escaped) = (String::new(), false);
    let text = text.replace("\r\n", "\n");
    for c in text.chars() {
        if is_escaped && c == '\n' {
            joined.pop();
        } else {
            joined.push(c);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (joined.len() < text.len()).then_some(joined)
}

/// Returns the path that a value stands for: without quotes, and without what is said of it
/// (`git-config(1)`, Syntax).
pub(super) fn path_of(value: &str) -> PathBuf {
    let (mut path, mut is_quoted, mut is_escaped) = (Vec::new(), false, false);
    // Each character stands for a byte.
    for byte in value.trim().chars().filter_map(|c| u8::try_from(c).ok()) {
        match byte {
            b'\\' if !is_escaped => is_escaped = true,
            b'"' if !is_escaped => is_quoted = !is_quoted,
            b'#' | b';' if !is_quoted && !is_escaped => break,
            byte => {
                path.push(match byte {
                    b't' if is_escaped => b'\t',
                    b'b' if is_escaped => 8,
                    b'n' if is_escaped => b'\n',
                    byte => byte,
                });
                is_escaped = false;
            }
        }
    }
    PathBuf::from(OsString::from_vec(path.trim_ascii_end().to_owned()))
}

/// Returns the section of this head, and whether nothing else stands there.
pub(super) fn section(head: &str) -> (String, bool) {
    let head = head.strip_prefix('[').unwrap_or_default();
    let section = head[..head.find([' ', ']']).unwrap_or(head.len())].to_lowercase();
    (section, head.ends_with(']') && head.find(']') == Some(head.len() - 1))
}

fn is_listed(section: &str, name: &str) -> bool {
    SETTINGS.contains(&format!("{section}.{name}").as_str())
}

/// Returns the lines of settings, each with the head of its section.
pub(super) fn settings(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            if line.starts_with('[') {
                line.clone_into(&mut section);
            }
            (section.clone(), line.to_owned())
        })
        .collect()
}

/// Whether `line` in the section with this head is known to start nothing and to lead nowhere.
pub(super) fn is_harmless_setting(head: &str, line: &str) -> bool {
    let (section, is_plain) = section(head);
    let is_known = section == "core" || HARMLESS_SECTIONS.contains(&section.as_str());
    if line.starts_with('[') {
        let of_listed = SETTINGS.iter().any(|name| name.split('.').next() == Some(&*section));
        return is_plain && (is_known || of_listed);
    }
    let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
    if line.ends_with('\\') {
        return false;
    }
    if is_listed(&section, &name) {
        return true;
    }
    match section.as_str() {
        "core" => HARMLESS_CORE.contains(&name.as_str()),
        _ => is_known && !LEADING.contains(&name.as_str()),
    }
}
