//! Protected names before and after a command: what it made or changed although nothing stopped it.
//!
//! Mounts cannot keep a name from being made that is not there yet, and without namespaces they
//! keep nothing. So the names are looked at before each command and after it. What cannot be
//! covered is kept in memory, a little of it, and put back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::git::short_text;
use super::mounts::OF_GIT;
use super::names::{Found, Names};
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
    names: Names,
    before: BTreeSet<Found>,
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
        Tripwire { names: Names::below(roots), before: BTreeSet::new(), kept }
    }

    /// Looks before a command; returns the names that are there.
    pub(super) fn set(&mut self) -> &BTreeSet<Found> {
        self.before = self.names.look();
        if let Some(kept) = &mut self.kept {
            let paths = contents(&self.before);
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
        let mut touched = Vec::new();
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
        let gits: Vec<&Path> = self.before.iter().filter_map(Found::git).collect();
        let is_gits = |path: &Path| git && gits.iter().any(|git| path.starts_with(git));
        for (path, kept) in kept.iter().filter(|(path, _)| !is_gits(path)) {
            if stamp(path) == Some(kept.stamp) {
                continue;
            }
            match &kept.content {
                Some(content) if self::content(path).as_ref() == Some(content) => {}
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
        let made = contents(&self.before).into_iter().filter(|path| !kept.contains_key(path));
        touched.extend(made.filter(|path| !is_gits(path)).map(|path| Touched::Made(path.into())));
        touched
    }
}

/// Whether `path` lies in a folder of what is built.
fn is_built(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| BUILT.iter().any(|built| folder.as_os_str() == *built))
}

/// Returns the files and links that `names` protect.
fn contents(names: &BTreeSet<Found>) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for found in names {
        match found {
            Found::Git(git) => {
                for name in OF_GIT.iter().filter(|name| !["modules", "worktrees"].contains(name)) {
                    collect(&git.join(name), &mut files);
                }
            }
            Found::Protected(path) | Found::Link(path) => collect(path, &mut files),
            Found::Secret(_) => {}
        }
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
        && short_text(&git.join("config")).is_some_and(|text| is_harmless_config(&text))
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
