//! Where protected and secret names are below the roots: found once, then only what changed is read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::policy::is_secret;
use crate::approval::{OF_HOME, PROTECTED_FILES, PROTECTED_FOLDERS};

/// How many entries of the workspace are read at one look.
const MOST_ENTRIES: usize = 50_000;

/// How deep below a root names are looked for.
const MOST_DEPTH: usize = 6;

/// Folders that hold what others made, where no protected name matters.
const SKIPPED: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", "dist"];

/// A folder that changed so shortly before it was read may have changed after, without a trace.
const UNSURE_SECONDS: i64 = 2;

/// A name that must be guarded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// The folder of a repository.
    Git(PathBuf),
    Protected(PathBuf),
    /// A link of a protected name, which cannot be covered.
    Link(PathBuf),
    Secret(PathBuf),
}

impl Found {
    /// Returns the work tree, if it is a file `.git` that leads to its repository.
    pub(super) fn work_tree(&self) -> Option<&Path> {
        match self {
            Found::Protected(path) if path.ends_with(".git") => path.parent(),
            _ => None,
        }
    }

    /// Returns the path if it is the folder of a repository.
    pub(super) fn git(&self) -> Option<&Path> {
        match self {
            Found::Git(path) => Some(path),
            Found::Protected(_) | Found::Link(_) | Found::Secret(_) => None,
        }
    }
}

/// What is known of the roots.
pub(super) struct Names {
    folders: BTreeMap<PathBuf, Folder>,
    /// Protected by where they are, and not by their names.
    places: Vec<PathBuf>,
}

struct Folder {
    /// When it was last changed, where nothing can have changed since.
    changed: Option<(i64, i64)>,
    /// The names of the folders between it and its root.
    parents: Vec<String>,
    found: BTreeSet<Found>,
}

impl Names {
    /// Takes the roots. Nothing is read yet.
    pub(super) fn below(roots: impl Iterator<Item = PathBuf>) -> Names {
        let folder = || Folder { changed: None, parents: Vec::new(), found: BTreeSet::new() };
        Names { folders: roots.map(|root| (root, folder())).collect(), places: Vec::new() }
    }

    /// Takes the person's home: what starts processes there is looked for if it is below a root.
    pub(super) fn in_home(&mut self, home: &Path) {
        let places = OF_HOME.iter().map(|name| home.join(name));
        let roots = &self.folders;
        let below = |place: &PathBuf| roots.keys().any(|root| place.starts_with(root));
        self.places = places.filter(below).collect();
    }

    /// Returns all names that are there now, near ones first to be found where there are very many.
    pub(super) fn look(&mut self) -> BTreeSet<Found> {
        let mut pending: VecDeque<PathBuf> = VecDeque::new();
        // The outer ones come first. Below one that is a folder no more nothing is looked at: where
        // a link stands in its place, that would be another's.
        let mut gone: Option<PathBuf> = None;
        self.folders.retain(|path, folder| {
            if gone.as_ref().is_some_and(|gone| path.starts_with(gone)) {
                return false;
            }
            let changed = changed(path);
            if changed.is_none() && !folder.parents.is_empty() {
                gone = Some(path.clone());
                return false;
            }
            if changed.is_none() || changed != folder.changed {
                pending.push_back(path.clone());
            }
            true
        });
        let mut left = MOST_ENTRIES;
        while let Some(path) = pending.pop_front() {
            if left == 0 {
                // Not known to be unchanged, so it is read the next time.
                break;
            }
            for below in self.read(&path, &mut left) {
                pending.push_back(below);
            }
        }
        let places = self.places.iter().filter_map(|path| {
            let found = path.symlink_metadata().ok()?;
            Some(if found.is_symlink() { Found::Link } else { Found::Protected }(path.clone()))
        });
        let found = self.folders.values().flat_map(|folder| folder.found.iter().cloned());
        found.chain(places).collect()
    }

    /// Reads one folder; returns those in it that are not known yet.
    fn read(&mut self, path: &Path, left: &mut usize) -> Vec<PathBuf> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let sure = now.cast_signed() - UNSURE_SECONDS;
        let changed = changed(path).filter(|&(seconds, _)| seconds < sure);
        let parents = self.folders.get(path).map(|known| known.parents.clone());
        let parents = parents.unwrap_or_default();
        let mut folder = Folder { changed, parents, found: BTreeSet::new() };
        let mut below = Vec::new();
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                folder.changed = None;
                break;
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            let at = path.join(&name);
            match judge(&at, &name, kind, &folder.parents) {
                Judged::Guarded(found) => {
                    folder.found.insert(found);
                }
                Judged::Plain
                    if kind.is_dir()
                        && folder.parents.len() < MOST_DEPTH
                        && !SKIPPED.contains(&name.as_str())
                        && !self.folders.contains_key(&at) =>
                {
                    let mut parents = folder.parents.clone();
                    parents.push(name);
                    let new = Folder { changed: None, parents, found: BTreeSet::new() };
                    self.folders.insert(at.clone(), new);
                    below.push(at);
                }
                Judged::Plain => {}
            }
        }
        self.folders.insert(path.to_owned(), folder);
        below
    }
}

/// What an entry of a folder is.
enum Judged {
    Guarded(Found),
    Plain,
}

/// Judges the entry at `path`, called `name`, of a folder with these `parents`.
fn judge(path: &Path, name: &str, kind: fs::FileType, parents: &[String]) -> Judged {
    let lower = name.to_lowercase();
    let is = |listed: &&str| listed.to_lowercase() == lower;
    let workflows =
        lower == "workflows" && parents.last().is_some_and(|parent| parent == ".github");
    if lower == ".git" && kind.is_dir() {
        Judged::Guarded(Found::Git(path.to_owned()))
    } else if workflows || PROTECTED_FOLDERS.iter().chain(PROTECTED_FILES).any(is) {
        let found = if kind.is_symlink() { Found::Link } else { Found::Protected };
        Judged::Guarded(found(path.to_owned()))
    } else if !kind.is_dir() && is_secret(name, parents) {
        Judged::Guarded(Found::Secret(path.to_owned()))
    } else {
        Judged::Plain
    }
}

/// Returns when the folder at `path` was last changed, which nothing inside it can forge.
fn changed(path: &Path) -> Option<(i64, i64)> {
    let found = path.symlink_metadata().ok().filter(fs::Metadata::is_dir)?;
    Some((found.ctime(), found.ctime_nsec()))
}
