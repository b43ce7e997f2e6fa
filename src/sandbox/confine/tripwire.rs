//! Protected names before and after a command: what it made or changed although nothing stopped it.
//!
//! Mounts cannot keep a name from being made that is not there yet, and without namespaces they
//! keep nothing. So the names are looked at before each command and after it. What cannot be
//! covered is kept in memory, a little of it, and put back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::mounts::OF_GIT;
use super::names::{Found, Names};
use super::restore::{self, Aside, Content, Folder, Restored};

/// The most that is kept of one file, and of all together.
const MOST_OF_ONE: u64 = 1 << 20;
const MOST_OF_ALL: u64 = 16 << 20;

/// How many files are kept.
const MOST_FILES: usize = 4096;

/// Folders of what is built or brought by others, where a new name is nobody's trap.
const BUILT: &[&str] = &[
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

/// Sections of a repository's settings that start nothing.
const HARMLESS_SECTIONS: &[&str] = &["remote", "branch", "user", "init", "submodule"];

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

/// What became of a protected name that a command made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) enum Touched {
    /// It was made, and is still there.
    Made(OsString),
    /// It was changed or removed, and is again as it was. What stood there instead is beside it,
    /// since it may be somebody else's work.
    Undone { path: OsString, replaced: Option<OsString> },
    /// It was changed or removed, and was too large to be kept.
    Changed(OsString),
}

/// What is known of protected names before a command.
pub(super) struct Tripwire {
    roots: Vec<PathBuf>,
    names: Names,
    before: BTreeSet<Found>,
    /// What they hold, where nothing else keeps it from being changed.
    kept: Option<Holdings>,
}

/// What protected names hold.
#[derive(Default)]
struct Holdings {
    files: BTreeMap<PathBuf, Kept>,
    folders: BTreeMap<PathBuf, Folder>,
}

/// A file or link as it was.
struct Kept {
    stamp: Stamp,
    /// `None` where it was too large.
    content: Option<Content>,
}

/// What tells that a file is unchanged: nothing inside a sandbox can forge the time of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Tripwire {
    /// Takes the roots; `keeps` says whether contents must be kept, too.
    pub(super) fn new(roots: impl Iterator<Item = PathBuf>, keeps: bool) -> Tripwire {
        let (roots, kept) = (roots.collect::<Vec<PathBuf>>(), keeps.then(Holdings::default));
        let names = Names::below(roots.iter().cloned());
        Tripwire { roots, names, before: BTreeSet::new(), kept }
    }

    /// Looks also for what starts processes in `home`, as far as that is below a root.
    pub(super) fn in_home(mut self, home: Option<&Path>) -> Tripwire {
        if let Some(home) = home {
            self.names.in_home(home);
        }
        self
    }

    /// Looks before a command; returns the names that are there.
    pub(super) fn set(&mut self) -> &BTreeSet<Found> {
        self.before = self.names.look();
        if let Some(kept) = &mut self.kept {
            let (paths, folders) = contents(&self.before);
            let known = |path: PathBuf| Folder::at(&path).map(|folder| (path, folder));
            kept.folders = folders.into_iter().filter_map(known).collect();
            let kept = &mut kept.files;
            kept.retain(|path, _| paths.contains(path));
            let mut bytes: u64 = kept.values().map(|kept| kept.stamp.size).sum();
            for path in paths {
                let Some(stamp) = stamp(&path) else { continue };
                if kept.get(&path).is_some_and(|kept| kept.stamp == stamp) {
                    continue;
                }
                bytes += stamp.size;
                let fits = stamp.size <= MOST_OF_ONE && bytes <= MOST_OF_ALL;
                let content = if fits { content(&path) } else { None };
                kept.insert(path, Kept { stamp, content });
            }
        }
        &self.before
    }

    /// Looks after a command and puts back what it can; `git` says that it was git alone, which
    /// may make repositories and change its own.
    pub(super) fn spring(&mut self, git: bool) -> Vec<Touched> {
        // First, so that what stands in the place of another is not taken for something new.
        let mut touched = self.kept.as_ref().map_or_else(Vec::new, |kept| self.undo(kept, git));
        let after = self.names.look();
        for found in after.difference(&self.before) {
            match found {
                Found::Git(path) if git || is_harmless_repository(path) => {}
                Found::Git(path) | Found::Protected(path) | Found::Link(path) => {
                    if !is_built(path) {
                        touched.push(Touched::Made(path.clone().into()));
                    }
                }
                Found::Secret(_) => {}
            }
        }
        let Some(kept) = &self.kept else { return touched };
        let (files, _) = contents(&self.before);
        let made = files.into_iter().filter(|path| !kept.files.contains_key(path));
        touched.extend(
            made.filter(|path| !(git && self.is_of_git(path)))
                .map(|path| Touched::Made(path.into())),
        );
        touched
    }

    /// Whether `path` is in the folder of a repository that was there before.
    fn is_of_git(&self, path: &Path) -> bool {
        self.before.iter().filter_map(Found::git).any(|git| path.starts_with(git))
    }

    /// Makes folders and files again what they were; says of which.
    fn undo(&self, kept: &Holdings, git: bool) -> Vec<Touched> {
        let mut touched = Vec::new();
        let mut gone: Vec<&Path> = Vec::new();
        let is_left_alone = |path: &Path| git && self.is_of_git(path);
        // The outer ones come first.
        for (path, before) in kept.folders.iter().filter(|(path, _)| !is_left_alone(path)) {
            match restore::folder(path, *before) {
                Ok(Restored::AsBefore) => {}
                Ok(Restored::Undone(aside)) => touched.extend(undone(path, aside)),
                // A repository is more than the files that are kept of it.
                Ok(Restored::Gone) if path.ends_with(".git") => {
                    gone.push(path);
                    touched.push(Touched::Changed(path.into()));
                }
                // What it held is put back below.
                Ok(Restored::Gone) => {}
                Err(_) => touched.push(Touched::Changed(path.into())),
            }
        }
        for (path, kept) in kept.files.iter().filter(|(path, _)| !is_left_alone(path)) {
            if gone.iter().any(|gone| path.starts_with(gone))
                || stamp(path) == Some(kept.stamp) && self.is_reached(path)
            {
                continue;
            }
            match &kept.content {
                Some(content)
                    if self::content(path).as_ref() == Some(content) && self.is_reached(path) => {}
                Some(content) => match self.put_back(path, content) {
                    Some(aside) => touched.extend(undone(path, aside)),
                    None => touched.push(Touched::Changed(path.into())),
                },
                None => touched.push(Touched::Changed(path.into())),
            }
        }
        touched
    }

    /// Whether no link stands between `path` and its root.
    fn is_reached(&self, path: &Path) -> bool {
        let inner = |folder: &&Path| !self.roots.iter().any(|root| root == folder);
        let mut folders = path.ancestors().skip(1).take_while(inner);
        folders.all(|folder| folder.symlink_metadata().is_ok_and(|found| found.is_dir()))
    }

    fn put_back(&self, path: &Path, content: &Content) -> Option<Vec<Aside>> {
        // The innermost, where one lies in another.
        let roots = self.roots.iter().filter(|root| path.starts_with(root));
        let root = roots.max_by_key(|root| root.as_os_str().len())?;
        restore::file(root, path, content).ok()
    }
}

/// Returns what is said of `path` and of what stood in its way.
fn undone(path: &Path, aside: Vec<Aside>) -> Vec<Touched> {
    let of = |path: &Path, replaced: Option<PathBuf>| Touched::Undone {
        path: path.into(),
        replaced: replaced.map(OsString::from),
    };
    let (own, others): (Vec<Aside>, Vec<Aside>) =
        aside.into_iter().partition(|aside| aside.path == path);
    let own = own.into_iter().next().map(|aside| aside.now);
    let others = others.into_iter().map(|aside| of(&aside.path, Some(aside.now)));
    others.chain([of(path, own)]).collect()
}

/// Whether `path` lies in a folder of what is built.
fn is_built(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| BUILT.iter().any(|built| folder.as_os_str() == *built))
}

/// Returns the files and links that `names` protect, and the folders.
fn contents(names: &BTreeSet<Found>) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    for found in names {
        match found {
            Found::Git(git) => {
                folders.insert(git.clone());
                for name in OF_GIT.iter().filter(|name| !["modules", "worktrees"].contains(name)) {
                    collect(&git.join(name), &mut files, &mut folders);
                }
            }
            Found::Protected(path) | Found::Link(path) => {
                collect(path, &mut files, &mut folders);
            }
            Found::Secret(_) => {}
        }
    }
    (files, folders)
}

/// Adds the files and folders at and below `path`.
fn collect(path: &Path, files: &mut BTreeSet<PathBuf>, folders: &mut BTreeSet<PathBuf>) {
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop().filter(|_| files.len() + folders.len() < MOST_FILES) {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| entry.path()));
            folders.insert(path);
        } else {
            files.insert(path);
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.symlink_metadata().ok()?;
    let changed = (found.ctime(), found.ctime_nsec());
    Some(Stamp { inode: found.ino(), size: found.size(), changed })
}

/// Returns what is at `path`, if it is a small file or a link.
fn content(path: &Path) -> Option<Content> {
    let found = path.symlink_metadata().ok()?;
    if found.is_symlink() {
        return Some(Content::Link(fs::read_link(path).ok()?));
    }
    if !found.is_file() || found.size() > MOST_OF_ONE {
        return None;
    }
    Some(Content::File { bytes: fs::read(path).ok()?, mode: found.permissions().mode() })
}

/// Whether the new repository at `git` starts nothing: no hook, no setting that names a program.
fn is_harmless_repository(git: &Path) -> bool {
    let mut hooks = fs::read_dir(git.join("hooks")).into_iter().flatten().flatten();
    let is_sample =
        |entry: fs::DirEntry| entry.path().extension().is_some_and(|end| end == "sample");
    let odd = ["commondir", "config.worktree"].iter().any(|name| git.join(name).exists());
    let plain =
        |name: &str| git.join(name).symlink_metadata().is_ok_and(|found| !found.is_symlink());
    !odd && (plain("hooks") || !git.join("hooks").exists())
        && hooks.all(is_sample)
        && plain("config")
        && fs::read_to_string(git.join("config")).is_ok_and(|text| is_harmless_config(&text))
}

/// Whether the settings in `text` start nothing, as far as they are understood.
fn is_harmless_config(text: &str) -> bool {
    let mut section = String::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        if let Some(rest) = line.strip_prefix('[') {
            let end = rest.find([' ', ']']).unwrap_or(rest.len());
            section = rest[..end].to_lowercase();
            return line.ends_with(']')
                && (section == "core" || HARMLESS_SECTIONS.contains(&section.as_str()));
        }
        let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
        let leads_out = ["uploadpack", "receivepack", "vcs", "proxy", "update"];
        match section.as_str() {
            "core" => HARMLESS_CORE.contains(&name.as_str()),
            _ => !leads_out.contains(&name.as_str()) && !line.ends_with('\\'),
        }
    })
}
