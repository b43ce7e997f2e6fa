//! What git's ignore rules name, file by file: build outputs and other things that are nobody's source.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{IncrementalIgnore, Match, WalkBuilder};

use super::walk::has_odd_rules;

/// How many entries are looked at for ignored folders, and how deep.
const MOST_ENTRIES: usize = 20_000;
const MOST_DEPTH: usize = 4;
/// Most ignored folders that are told of.
const MOST_FOLDERS: usize = 64;
/// Files with rules.
const RULE_FILES: [&str; 1] = [".gitignore"];

/// How far the usual name of a folder is believed that holds what tools and others made, and no source
/// of the project's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Nobody looks into it for names that matter elsewhere: it is large, and others' alone.
    PassedOver,
    /// It is looked into, since some keep their own there, but what is new in it is left there.
    Grows,
    /// Only what git ignores is believed to be such a folder: other things have this name, too.
    IfIgnored,
}

/// Names of folders, by how far they are believed; see [`Made`].
const PASSED_OVER: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", "dist"];
const GROWS: &[&str] = &[
    "build",
    "_build",
    "out",
    "vendor",
    "third_party",
    "Pods",
    ".next",
    ".nuxt",
    ".gradle",
    ".tox",
    ".nox",
    ".terraform",
    ".cache",
    "coverage",
    "bower_components",
    "_deps",
];
const IF_IGNORED: &[&str] = &[
    "jspm_packages",
    "dist-newstyle",
    "obj",
    "Carthage",
    "DerivedData",
    ".build",
    ".output",
    ".svelte-kit",
    ".angular",
    ".parcel-cache",
    ".turbo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".eggs",
    "htmlcov",
    ".nyc_output",
    "elm-stuff",
    ".dart_tool",
    ".stack-work",
    ".zig-cache",
    "zig-cache",
    "zig-out",
];

/// How other such names begin and end.
const MADE_BEGINS: [&str; 2] = ["cmake-build-", "bazel-"];
const MADE_END: &str = ".egg-info";

/// Returns how far a folder called `name` is believed to hold what tools and others made.
pub fn made_by_tools(name: &OsStr) -> Option<Made> {
    let name = name.to_str()?;
    let is_other =
        || MADE_BEGINS.iter().any(|begin| name.starts_with(begin)) || name.ends_with(MADE_END);
    if PASSED_OVER.contains(&name) {
        Some(Made::PassedOver)
    } else if GROWS.contains(&name) {
        Some(Made::Grows)
    } else {
        (IF_IGNORED.contains(&name) || is_other()).then_some(Made::IfIgnored)
    }
}

/// Whether a folder called `name` that git ignores usually holds what tools and others made.
pub fn is_made_by_tools(name: &OsStr) -> bool {
    made_by_tools(name).is_some()
}

/// The ignore rules of git beneath one root, as they are when they are first needed.
pub struct Ignored {
    root: PathBuf,
    /// Made when it is first needed, since that reads the person's rules for all repositories.
    rules: OnceCell<Option<IncrementalIgnore>>,
    /// Folders whose file of rules can be read.
    plain: HashSet<PathBuf>,
    /// The rules of folders, one by one.
    files: HashMap<PathBuf, Gitignore>,
}

/// One rule of a file of rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The folder of the file.
    folder: PathBuf,
    /// As it is written there.
    pattern: String,
}

/// What one rule alone names.
pub struct RuleMatcher {
    folder: PathBuf,
    rule: Gitignore,
}

impl Rule {
    /// Returns what tells which paths the rule names.
    pub fn matcher(&self) -> RuleMatcher {
        let mut builder = GitignoreBuilder::new(&self.folder);
        // It was understood before, in its file.
        builder.add_line(None, &self.pattern).ok();
        let rule = builder.build().unwrap_or_else(|_| Gitignore::empty());
        RuleMatcher { folder: self.folder.clone(), rule }
    }
}

impl RuleMatcher {
    /// Whether the rule alone names the file at `path`, or a folder on the way to it.
    pub fn names(&self, path: &Path) -> bool {
        path != self.folder
            && path.starts_with(&self.folder)
            && self.rule.matched_path_or_any_parents(path, false).is_ignore()
    }
}

impl Ignored {
    /// Takes the rules that hold beneath `root`; they are read as they are needed.
    pub fn new(root: &Path) -> Ignored {
        let (rules, plain, files) = (OnceCell::new(), HashSet::new(), HashMap::new());
        Ignored { root: root.to_owned(), rules, plain, files }
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

    /// Returns the rule of the root's own files that ignores `path` or a folder on the way to it.
    ///
    /// Nothing if it is not ignored, or by a rule from elsewhere.
    pub fn rule_of(&mut self, path: &Path, is_folder: bool) -> Option<Rule> {
        let root = self.root.clone();
        let mut way: Vec<&Path> = path.ancestors().take_while(|at| *at != root).collect();
        way.reverse();
        // What is ignored with its folder, the rule of the folder ignores.
        let at = way.into_iter().find(|at| self.names(at, is_folder || *at != path))?;
        let is_folder = is_folder || at != path;
        for folder in at.ancestors().skip(1).take_while(|folder| folder.starts_with(&root)) {
            let file = self.files.entry(folder.to_owned());
            let file = file.or_insert_with(|| Gitignore::new(folder.join(RULE_FILES[0])).0);
            match file.matched(at, is_folder) {
                Match::Ignore(glob) => {
                    let (folder, pattern) = (folder.to_owned(), glob.original().to_owned());
                    return Some(Rule { folder, pattern });
                }
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
        }
        None
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
