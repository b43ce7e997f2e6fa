//! Protected names before and after a command: what it made or changed although nothing stopped it.
//!
//! Mounts cannot keep a name from being made that is not there yet, and without namespaces they
//! keep nothing. So the names are looked at before each command and after it. What cannot be
//! covered is kept in memory, a little of it, and put back. So is looked at what would make git
//! start a program: new repositories of any name, and the list of a rebase under way.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::git;
use super::mounts::OF_GIT;
use super::names::{Found, Names};
use super::repository::{self, Plan};
use super::system;

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

/// What became of a protected name that a command made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) enum Touched {
    /// It was made, and is still there.
    Made(OsString),
    /// It was made or changed so that git would start a program, and is still there. It is nobody's,
    /// not even what git checked out.
    Planted(OsString),
    /// It was changed or removed, and is again as it was. What stood there instead is beside it,
    /// since it may be somebody else's work.
    Undone { path: OsString, replaced: Option<OsString> },
    /// It was changed or removed, and was too large to be kept.
    Changed(OsString),
}

/// What is known of protected names before a command.
pub(super) struct Tripwire {
    names: Names,
    before: BTreeSet<Found>,
    /// Where git keeps what belongs to work trees.
    homes: Vec<PathBuf>,
    /// Repositories of other names that start nothing.
    harmless: BTreeSet<PathBuf>,
    /// What git would start when it goes on with what it was at.
    plans: BTreeSet<Plan>,
    /// Contents, where nothing else keeps them from being changed.
    kept: Option<BTreeMap<PathBuf, Kept>>,
}

/// A file or link as it was.
struct Kept {
    stamp: Stamp,
    /// `None` where it was too large.
    content: Option<Content>,
}

#[derive(Clone, PartialEq, Eq)]
enum Content {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
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
        let kept = keeps.then(BTreeMap::new);
        Tripwire {
            names: Names::below(roots),
            before: BTreeSet::new(),
            homes: Vec::new(),
            harmless: BTreeSet::new(),
            plans: BTreeSet::new(),
            kept,
        }
    }

    /// Looks before a command. What was seen is in [`Tripwire::names`] and [`Tripwire::homes`].
    pub(super) fn set(&mut self) {
        self.before = self.names.look();
        self.homes = self.before.iter().filter_map(Found::work_tree).flat_map(git::homes).collect();
        self.harmless = bare(&self.before).filter(|path| repository::is_harmless(path)).collect();
        self.plans = self.plans_now();
        if let Some(kept) = &mut self.kept {
            let paths = contents(&self.before, &self.homes);
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
    }

    /// Returns the names that were there before the command.
    pub(super) fn names(&self) -> &BTreeSet<Found> {
        &self.before
    }

    /// Returns where git keeps what belongs to the work trees that were there before the command.
    pub(super) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// Returns what git would start now when it goes on with what it was at.
    fn plans_now(&self) -> BTreeSet<Plan> {
        let gits = self.before.iter().filter_map(Found::git);
        gits.chain(self.homes.iter().map(PathBuf::as_path)).flat_map(repository::plans).collect()
    }

    /// Looks after a command and puts back what it can; `git` says that it was git alone, which
    /// may change its own.
    pub(super) fn spring(&mut self, git: bool) -> Vec<Touched> {
        let mut touched = Vec::new();
        let after = self.names.look();
        for found in after.difference(&self.before) {
            match found {
                Found::Git(path) if repository::is_harmless(path) => {}
                Found::Git(path)
                | Found::Protected(path)
                | Found::Link(path)
                | Found::Both(path) => {
                    if !is_built(path) {
                        touched.push(Touched::Made(path.clone().into()));
                    }
                }
                Found::Bare(_) | Found::Secret(_) => {}
            }
        }
        // One that started something before is covered or kept.
        let is_new = |path: &PathBuf| {
            self.harmless.contains(path) || !self.before.contains(&Found::Bare(path.clone()))
        };
        for path in bare(&after).filter(is_new).filter(|path| !is_built(path)) {
            if !repository::is_harmless(&path) {
                // Without it the folder is none, and what else is in it may be somebody's work.
                touched.push(Touched::Planted(path.join("HEAD").into()));
            }
        }
        if git || self.kept.is_some() {
            let plans = self.plans_now();
            let new: BTreeSet<&PathBuf> =
                plans.difference(&self.plans).map(|plan| &plan.file).collect();
            touched.extend(new.into_iter().map(|file| Touched::Planted(file.into())));
        }
        self.put_all_back(git, &mut touched);
        touched
    }

    /// Puts contents back that were kept, and tells of files that were not there.
    fn put_all_back(&self, git: bool, touched: &mut Vec<Touched>) {
        let Some(kept) = &self.kept else { return };
        for (path, kept) in kept {
            if stamp(path) == Some(kept.stamp) {
                continue;
            }
            match &kept.content {
                Some(content) if self::content(path).as_ref() == Some(content) => {}
                Some(Content::File { bytes, .. }) if git && self.is_gits(path, bytes) => {}
                content => {
                    let path = path.clone();
                    touched.push(match content.as_ref().map(|content| put_back(&path, content)) {
                        Some(Ok(replaced)) => Touched::Undone {
                            path: path.into(),
                            replaced: replaced.map(OsString::from),
                        },
                        Some(Err(_)) | None => Touched::Changed(path.into()),
                    });
                }
            }
        }
        let made = contents(&self.before, &self.homes);
        for path in made.into_iter().filter(|path| !kept.contains_key(path)) {
            if !git || !self.is_gits(&path, b"") {
                let is_in_git = self.own_name(&path).is_some();
                let touch = if is_in_git { Touched::Planted } else { Touched::Made };
                touched.push(touch(path.into()));
            }
        }
    }

    /// Returns the name of what `path` lies in, directly in a folder of git's.
    fn own_name<'a>(&self, path: &'a Path) -> Option<&'a str> {
        let gits = self.before.iter().filter_map(Found::git);
        let mut gits = gits.chain(self.homes.iter().map(PathBuf::as_path));
        let below = gits.find_map(|git| path.strip_prefix(git).ok())?;
        below.components().next()?.as_os_str().to_str()
    }

    /// Whether git itself may have changed `path`, which held `bytes`, and starts no program for it.
    fn is_gits(&self, path: &Path, bytes: &[u8]) -> bool {
        match self.own_name(path) {
            Some("info") => !path.ends_with("attributes"),
            Some("config") => fs::read_to_string(path).is_ok_and(|now| {
                repository::is_harmless_addition(&String::from_utf8_lossy(bytes), &now)
            }),
            Some("gitdir") => true,
            Some(_) | None => false,
        }
    }
}

/// Returns the repositories of other names than `.git`.
fn bare(names: &BTreeSet<Found>) -> impl Iterator<Item = PathBuf> {
    names.iter().filter_map(|found| match found {
        Found::Bare(path) => Some(path.clone()),
        Found::Git(_)
        | Found::Protected(_)
        | Found::Link(_)
        | Found::Secret(_)
        | Found::Both(_) => None,
    })
}

/// Whether `path` lies in a folder of what is built.
fn is_built(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| BUILT.iter().any(|built| folder.as_os_str() == *built))
}

/// Returns the files and links that `names` and `homes` protect.
fn contents(names: &BTreeSet<Found>, homes: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let of_git = |git: &Path, files: &mut BTreeSet<PathBuf>| {
        for name in OF_GIT.iter().filter(|name| !["modules", "worktrees"].contains(name)) {
            collect(&git.join(name), files);
        }
    };
    for found in names {
        match found {
            Found::Git(git) | Found::Bare(git) => of_git(git, &mut files),
            Found::Protected(path) | Found::Link(path) | Found::Both(path) => {
                collect(path, &mut files);
            }
            Found::Secret(_) => {}
        }
    }
    for home in homes {
        of_git(home, &mut files);
    }
    files
}

/// Adds the files at and below `path`.
fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) {
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop().filter(|_| files.len() < MOST_FILES) {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| entry.path()));
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

/// Makes `path` what it was; returns where what stood there is now, if anything did.
fn put_back(path: &Path, content: &Content) -> std::io::Result<Option<PathBuf>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    fs::create_dir_all(folder)?;
    let number = u64::from_ne_bytes(system::random()?);
    let new = folder.join(format!(".{}.{number:016x}", name.display()));
    match content {
        Content::File { bytes, mode } => {
            let mut file =
                fs::File::options().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(bytes)?;
            file.set_permissions(fs::Permissions::from_mode(*mode))?;
        }
        Content::Link(target) => std::os::unix::fs::symlink(target, &new)?,
    }
    if path.symlink_metadata().is_err() {
        fs::rename(&new, path)?;
        return Ok(None);
    }
    if renameat_with(CWD, &new, CWD, path, RenameFlags::EXCHANGE).is_ok() {
        return Ok(Some(new));
    }
    // Some file systems cannot exchange two names.
    let aside = folder.join(format!(".{}.{number:016x}.was", name.display()));
    fs::rename(path, &aside)?;
    fs::rename(&new, path)?;
    Ok(Some(aside))
}
