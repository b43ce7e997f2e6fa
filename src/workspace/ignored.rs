//! What git's ignore rules name, file by file: build outputs and other things that are nobody's source.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ignore::{IncrementalIgnore, WalkBuilder};

use super::walk::has_odd_rules;

/// How many entries are looked at for ignored folders, and how deep.
const MOST_ENTRIES: usize = 20_000;
const MOST_DEPTH: usize = 4;
/// Most ignored folders that are told of.
const MOST_FOLDERS: usize = 64;
/// Files with rules.
const RULE_FILES: [&str; 1] = [".gitignore"];

/// The ignore rules of git beneath one root, as they are when they are first needed.
pub struct Ignored {
    root: PathBuf,
    /// Made when it is first needed, since that reads the person's rules for all repositories.
    rules: OnceCell<Option<IncrementalIgnore>>,
    /// Folders whose file of rules can be read.
    plain: HashSet<PathBuf>,
}

impl Ignored {
    /// Takes the rules that hold beneath `root`; they are read as they are needed.
    pub fn new(root: &Path) -> Ignored {
        Ignored { root: root.to_owned(), rules: OnceCell::new(), plain: HashSet::new() }
    }

    fn read(root: &Path) -> Option<IncrementalIgnore> {
        let mut builder = WalkBuilder::new(root);
        builder
            .current_dir(root)
            .parents(false)
            .hidden(false)
            .follow_links(false)
            .require_git(false)
            .ignore(false)
            .git_ignore(true)
            .git_exclude(true)
            .git_global(true);
        builder.build_matchers().into_iter().next()
    }

    /// Whether a rule names `path` or a folder on the way to it. `.git` is never named.
    pub fn names(&mut self, path: &Path, is_folder: bool) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        if below.as_os_str().is_empty() || below.starts_with(".git") {
            return false;
        }
        let root = self.root.clone();
        let mut folders = path.ancestors().skip(1).take_while(|at| at.starts_with(&root));
        // A FIFO in place of the rules would be waited for: nothing counts as ignored there.
        if !folders.all(|folder| self.is_plain(folder)) {
            return false;
        }
        self.rules.get_or_init(|| Ignored::read(&root));
        let rules = self.rules.get_mut().and_then(Option::as_mut);
        rules.is_some_and(|rules| rules.matched(below, is_folder).is_ignore())
    }

    fn is_plain(&mut self, folder: &Path) -> bool {
        if self.plain.contains(folder) {
            return true;
        }
        let plain = !has_odd_rules(folder, &RULE_FILES);
        if plain {
            self.plain.insert(folder.to_owned());
        }
        plain
    }
}

/// Returns ignored folders beneath `root`, the outermost of each, as far as a short look finds them.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut rules = Ignored::new(root);
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    let mut level = vec![root.to_owned()];
    for _ in 0..MOST_DEPTH {
        let mut next = Vec::new();
        for folder in level {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                left = left.saturating_sub(1);
                if left == 0 || found.len() == MOST_FOLDERS {
                    return found;
                }
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || entry.file_name() == ".git"
                {
                    continue;
                }
                let path = entry.path();
                if rules.names(&path, true) {
                    found.push(path);
                } else {
                    next.push(path);
                }
            }
        }
        level = next;
    }
    found
}
