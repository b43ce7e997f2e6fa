//! What the settings of a repository make git start, also where it only looks: a yes to such a command is one to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::git::{self, short_text};
use super::repository::{beginning, is_harmless_setting, joined, path_of, section, settings};

/// Settings whose values git hands to a shell when it only looks; an empty section is any.
const LOOKING: &[(&str, &str)] = &[
    ("core", "fsmonitor"),
    ("core", "hookspath"),
    ("diff", "external"),
    ("diff", "command"),
    ("diff", "textconv"),
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    ("gpg", "program"),
];

/// The hook that git runs when it has looked at all files.
const HOOK: &str = "hooks/post-index-change";

/// How many files of settings are read, and how many folders of submodules.
const MOST_FILES: usize = 32;
const MOST_MODULES: usize = 256;

/// What may be started by git in one folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GitStarts {
    /// The folder of the repository.
    pub git: PathBuf,
    /// All settings but those that are known to start nothing, as they stand.
    pub settings: String,
    /// What of them is handed to a shell when git only looks.
    pub commands: Vec<String>,
}

impl GitStarts {
    /// Returns what the repository makes git start in whose work tree `folder` is; `None` where it
    /// starts nothing or there is none.
    pub fn of(folder: &Path) -> Option<GitStarts> {
        let (git, mut pending) = repository(folder)?;
        for module in modules(&git.join("modules")) {
            pending.push(module);
        }
        let mut starts = GitStarts { git, ..GitStarts::default() };
        let mut files: Vec<PathBuf> = Vec::new();
        for git in &pending {
            files.extend([git.join("config"), git.join("config.worktree")]);
            if let Some(text) = beginning(&git.join(HOOK)) {
                starts.settings.push_str(&text);
                starts.commands.push(git.join(HOOK).to_string_lossy().into_owned());
            }
        }
        let mut known = BTreeSet::new();
        while let Some(file) = files.pop().filter(|_| known.len() < MOST_FILES) {
            if let Some(text) = known.insert(file.clone()).then(|| beginning(&file)).flatten() {
                starts.read(&text, &mut files, file.parent().unwrap_or(Path::new("/")));
            }
        }
        (!starts.settings.is_empty()).then_some(starts)
    }

    fn read(&mut self, text: &str, files: &mut Vec<PathBuf>, folder: &Path) {
        let mut all = settings(text);
        all.extend(joined(text).iter().flat_map(|text| settings(text)));
        for (head, line) in all {
            if line.starts_with(['#', ';']) || is_harmless_setting(&head, &line) {
                continue;
            }
            self.settings.extend([head.as_str(), "\n", line.as_str(), "\n"]);
            // One may stand in the line of its section.
            let setting = match line.split_once(']') {
                Some((_, rest)) if line.starts_with('[') => rest,
                _ => &line,
            };
            let Some((name, value)) = setting.split_once('=') else { continue };
            let (name, value) = (name.trim().to_lowercase(), path_of(value));
            let section = section(&head).0;
            if LOOKING.contains(&(&*section, &*name)) {
                self.commands.push(value.to_string_lossy().into_owned());
            } else if matches!(&*section, "include" | "includeif") && name == "path" {
                files.push(folder.join(value));
            }
        }
    }
}

/// Returns the repository that git finds from `folder`, and the folders with its settings.
fn repository(folder: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    folder.ancestors().find_map(|tree| {
        let git = tree.join(".git");
        if git.is_dir() {
            return Some((git.clone(), vec![git]));
        }
        if git.is_file() {
            let homes = git::homes(tree);
            let led_to = || {
                let text = short_text(&git)?;
                let own = tree.join(text.strip_prefix("gitdir:")?.trim());
                let common = short_text(&own.join("commondir"));
                let common = common.map(|common| own.join(common.trim()));
                Some(common.into_iter().chain([own]).collect())
            };
            let homes = if homes.is_empty() { led_to().unwrap_or_default() } else { homes };
            return Some((homes.first().cloned().unwrap_or(git), homes));
        }
        let is_bare = tree.join("HEAD").is_file() && tree.join("objects").is_dir();
        is_bare.then(|| (tree.to_owned(), vec![tree.to_owned()]))
    })
}

/// Returns the repositories of submodules in `folder`, into which git looks as well.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending, mut left) = (Vec::new(), vec![folder.to_owned()], MOST_MODULES);
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return found;
            }
            let path = entry.path();
            if path.join("HEAD").is_file() {
                pending.push(path.join("modules"));
                found.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path);
            }
        }
    }
    found
}
