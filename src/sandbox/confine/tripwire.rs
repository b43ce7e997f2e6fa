//! Protected names before and after a command: what it made or changed although nothing stopped it.
//!
//! Mounts cannot keep a name from being made that is not there yet, and without namespaces they
//! keep nothing. So the names are looked at before each command and after it. What cannot be
//! covered is kept in memory, a little of it, and put back. So is looked at what would make git
//! start a program: its settings, new repositories of any name, and the list of a rebase under way.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::aftermath::Before;
use super::found::Found;
use super::git;
use super::kept::{self, Kept, keep, stamp};
use super::mounts::OF_GIT;
use super::names::{MOST_ENTRIES, MOST_MADE, Names};
use super::repository::{self, Plan};
use super::restore::{self, Aside, Content, Folder, Restored};
use super::rights::{self, Rights};
use super::several::Several;
use super::touched::{Touched, undone};
use super::ways::Ways;
use crate::approval::Barred;
use crate::workspace::ignored::{Made, made_by_tools};

/// How many files are kept.
const MOST_FILES: usize = 50_000;

/// What leads git from a linked work tree to its repository and its settings.
const OF_TREE: &[&str] = &["commondir", "config.worktree", "gitdir"];

/// What is known of protected names before a command.
pub(super) struct Tripwire {
    pub(super) roots: Vec<PathBuf>,
    pub(super) names: Names,
    pub(super) before: BTreeSet<Found>,
    /// Whether these are all.
    is_whole: bool,
    /// The folder of each of these names: one that is covered stays where it is, but not a folder
    /// on the way to it, in whose place another can be put.
    pub(super) parents: BTreeMap<PathBuf, Folder>,
    /// The folders on the way to them.
    pub(super) ways: Ways,
    /// Where links lead that are among them.
    pub(super) ends: BTreeMap<PathBuf, PathBuf>,
    /// The modes of those roots that were open to the person.
    open: BTreeMap<PathBuf, u32>,
    /// Folders that could not be read.
    pub(super) unread: BTreeSet<PathBuf>,
    /// Where git keeps what belongs to work trees.
    pub(super) homes: Vec<PathBuf>,
    /// Repositories of other names that start nothing.
    pub(super) harmless: BTreeSet<PathBuf>,
    /// What git would start when it goes on with what it was at.
    pub(super) plans: BTreeSet<Plan>,
    /// The settings of repositories, which git alone may change.
    pub(super) settings: BTreeMap<PathBuf, Kept>,
    /// The links among them, which nothing covers.
    pub(super) links: Holdings,
    /// Those of them that are covered and can be written by another name.
    pub(super) several: Several,
    /// What they hold, where nothing else keeps it from being changed.
    pub(super) kept: Option<Holdings>,
}

/// What protected names hold.
#[derive(Default)]
pub(super) struct Holdings {
    pub(super) files: BTreeMap<PathBuf, Kept>,
    pub(super) folders: BTreeMap<PathBuf, Folder>,
    /// Whether there were so many that some are not kept.
    is_part: bool,
}

impl Tripwire {
    /// Takes the roots; `keeps` says whether contents must be kept, too.
    pub(super) fn new(roots: impl Iterator<Item = PathBuf>, keeps: bool) -> Tripwire {
        let (roots, kept) = (roots.collect::<Vec<PathBuf>>(), keeps.then(Holdings::default));
        let names = Names::below(roots.iter().cloned());
        Tripwire {
            roots,
            names,
            before: BTreeSet::new(),
            is_whole: false,
            parents: BTreeMap::new(),
            ways: Ways::default(),
            ends: BTreeMap::new(),
            open: BTreeMap::new(),
            unread: BTreeSet::new(),
            homes: Vec::new(),
            harmless: BTreeSet::new(),
            plans: BTreeSet::new(),
            settings: BTreeMap::new(),
            links: Holdings::default(),
            several: Several::default(),
            kept,
        }
    }

    /// Looks also for what starts processes in `home`, as far as that is below a root.
    pub(super) fn in_home(mut self, home: Option<&Path>) -> Tripwire {
        if let Some(home) = home {
            self.names.in_home(home);
        }
        self
    }

    /// Takes what rules for paths keep from commands.
    pub(super) fn bar(&mut self, barred: &Barred) {
        self.names.bar(barred);
    }

    /// Returns what was seen before a command, to be looked at by another process.
    pub(super) fn before(&self, home: Option<&Path>, barred: &Barred) -> Before {
        Before {
            roots: self.roots.iter().map(OsString::from).collect(),
            home: home.map(OsString::from),
            barred: barred.clone(),
            names: self.before.iter().map(Found::to_written).collect(),
        }
    }

    /// Knows what another process saw before a command. What that kept is not known.
    pub(super) fn set_before(before: &Before) -> Tripwire {
        let roots = before.roots.iter().map(PathBuf::from);
        let mut tripwire =
            Tripwire::new(roots, false).in_home(before.home.as_deref().map(Path::new));
        tripwire.bar(&before.barred);
        tripwire.before = before.names.iter().filter_map(Found::written).collect();
        let bare = bare(&tripwire.before).filter(|path| repository::is_harmless(path));
        tripwire.harmless = bare.collect();
        tripwire.homes =
            tripwire.before.iter().filter_map(Found::work_tree).flat_map(git::homes).collect();
        tripwire.plans = tripwire.plans_now();
        tripwire
    }

    /// Looks before a command. What was seen is in [`Tripwire::names`] and [`Tripwire::homes`].
    ///
    /// What was opened for the look stays open as long as what is given back.
    pub(super) fn set(&mut self) -> Rights {
        self.open = rights::open_modes(&self.roots);
        self.before = self.names.look(MOST_ENTRIES);
        self.is_whole = self.names.is_whole();
        self.unread = self.names.unread().clone();
        self.ways.set(&self.before, &self.roots);
        let links = self.before.iter().filter_map(Found::link);
        let end = |link: &PathBuf| Some((link.clone(), link.canonicalize().ok()?));
        self.ends = links.filter_map(end).collect();
        let guarded = self.before.iter().filter_map(Found::guarded);
        self.parents = guarded.filter_map(|path| Some((path.to_owned(), parent(path)?))).collect();
        self.homes = self.before.iter().filter_map(Found::work_tree).flat_map(git::homes).collect();
        self.harmless = bare(&self.before).filter(|path| repository::is_harmless(path)).collect();
        self.plans = self.plans_now();
        if let Some(kept) = &mut self.kept {
            let (paths, folders) = contents(&self.before, &self.homes, MOST_FILES);
            kept.is_part = paths.len() + folders.len() >= MOST_FILES;
            let known = |path: PathBuf| Folder::at(&path).map(|folder| (path, folder));
            kept.folders = folders.into_iter().filter_map(known).collect();
            keep(&mut kept.files, &paths);
        } else {
            let settings = self.gits().map(|git| git.join("config")).collect();
            keep(&mut self.settings, &settings);
            let is_link =
                |path: &&Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
            let links = self.before.iter().map(Found::path).filter(is_link);
            let links = links.map(Path::to_owned).collect();
            keep(&mut self.links.files, &links);
            let gits = self.before.iter().filter_map(Found::git);
            let gits = gits.chain(self.homes.iter().map(PathBuf::as_path));
            self.several.set(&self.before, gits);
        }
        self.names.rights().take()
    }

    /// Returns the names that were there before the command.
    pub(super) fn names(&self) -> &BTreeSet<Found> {
        &self.before
    }

    /// Returns where git keeps what belongs to the work trees that were there before the command.
    pub(super) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// Returns the folders where git kept something before the command.
    fn gits(&self) -> impl Iterator<Item = &Path> {
        let gits = self.before.iter().filter_map(Found::git);
        gits.chain(self.homes.iter().map(PathBuf::as_path))
    }

    /// Whether `path` lies in a folder of what is built, below its root.
    pub(super) fn is_built(&self, path: &Path) -> bool {
        let below = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        let below = below.min_by_key(|below| below.as_os_str().len()).unwrap_or(path);
        let mut folders = below.parent().into_iter().flat_map(Path::components);
        folders.any(|folder| {
            matches!(made_by_tools(folder.as_os_str()), Some(Made::PassedOver | Made::Grows))
        })
    }

    /// Whether the folder in which `path` was before is not the one in which it is now.
    fn is_another_s(&self, path: &Path) -> bool {
        let before = self.parents.get(path).copied().zip(parent(path));
        before.is_some_and(|(before, now)| !before.is_same(now))
    }

    /// Returns what git would start now when it goes on with what it was at.
    fn plans_now(&self) -> BTreeSet<Plan> {
        self.gits().flat_map(repository::plans).collect()
    }

    /// Looks after a command and puts back what it can; `git` says that it was git alone, which
    /// may change its own.
    pub(super) fn spring(&mut self, git: bool) -> Vec<Touched> {
        // Nobody could go on in a root that the command has closed.
        let opened = rights::open_again(&self.open);
        self.ways.open(self.names.rights());
        let mut touched = self.sprung(git);
        touched.extend(opened.into_iter().map(|path| Touched::Opened(path.into())));
        self.names.close();
        touched
    }

    fn sprung(&mut self, git: bool) -> Vec<Touched> {
        // First, so that what stands in the place of another is not taken for something new.
        let mut touched = self.follow_moves();
        touched.extend(self.undo(self.kept.as_ref().unwrap_or(&self.links), git));
        let aside: BTreeSet<PathBuf> = touched.iter().filter_map(Touched::aside).collect();
        // A workspace that is too large to be seen whole would take as long each time.
        let after = self.names.look(if self.is_whole { MOST_MADE } else { MOST_ENTRIES });
        if self.is_whole && !self.names.is_whole() {
            touched.extend(self.roots.first().map(|root| Touched::Unseen(root.into())));
        }
        self.open_repositories(&after);
        // Where contents are kept they are back by now, in whatever folder.
        let is_moved = |found: &&Found| {
            let is_kept = self.kept.is_some() || found.link().is_some();
            !is_kept && found.guarded().is_some_and(|path| self.is_another_s(path))
        };
        let moved = after.intersection(&self.before).filter(is_moved);
        let mut made: BTreeSet<&Path> = BTreeSet::new();
        for found in after.difference(&self.before).chain(moved) {
            // What a new link leads to may be the person's.
            if !self.was_led_to(found.path()) {
                continue;
            }
            match found {
                Found::Git(path) if repository::is_harmless(path) => {}
                Found::Git(path)
                | Found::Protected(path)
                | Found::Link(path)
                | Found::Both(path) => {
                    let counts = !self.is_built(path) || self.names.is_barred(path);
                    let counts = counts && !aside.contains(path);
                    // What is in one that is taken away goes with it.
                    if counts && !lies_in(path, &made) {
                        touched.push(Touched::Made(path.clone().into()));
                        made.insert(path);
                    }
                }
                Found::Way(_) | Found::Bare(_) | Found::Secret(_) => {}
            }
        }
        // One that started something before is covered or kept.
        let is_new = |path: &PathBuf| {
            self.harmless.contains(path) || !self.before.contains(&Found::Bare(path.clone()))
        };
        for path in bare(&after).filter(is_new).filter(|path| !self.is_built(path)) {
            if !repository::is_harmless(&path) {
                // Without it the folder is none, and what else is in it may be somebody's work.
                touched.push(Touched::Planted(path.join("HEAD").into()));
            }
        }
        let unread = self.names.unread().difference(&self.unread);
        touched.extend(unread.map(|path| Touched::Changed(path.into())));
        if git || self.kept.is_some() {
            let plans = self.plans_now();
            let new: BTreeSet<&Path> = plans.difference(&self.plans).map(Plan::file).collect();
            touched.extend(new.into_iter().map(|file| Touched::Planted(file.into())));
            touched.extend(self.settings.iter().filter_map(|(path, kept)| kept.rewritten(path)));
        }
        // What git may make of its settings is known.
        let several = self.several.files.iter();
        let several = several.filter(|(path, _)| !git || !self.settings.contains_key(*path));
        touched.extend(several.filter_map(|(path, kept)| kept.overwritten(path)));
        let Some(kept) = &self.kept else { return touched };
        if kept.is_part {
            // One that is not kept is not new for that.
            return touched;
        }
        let (mut files, mut folders) = contents(&self.before, &self.homes, usize::MAX);
        let aside: BTreeSet<&Path> = aside.iter().map(PathBuf::as_path).collect();
        for paths in [&mut files, &mut folders] {
            paths.retain(|path| !lies_in(path, &aside));
        }
        touched.extend(self.new_in_kept(kept, &files, &folders, git));
        touched
    }

    /// Opens what of the repositories that are there `after` a command may be new in them: what one
    /// starts cannot be told otherwise.
    fn open_repositories(&mut self, after: &BTreeSet<Found>) {
        for found in after {
            match found {
                Found::Git(path) if !self.before.contains(found) => {
                    self.names.rights().open_git(path);
                }
                Found::Bare(path) => self.names.rights().open_git(path),
                _ => {}
            }
        }
    }

    /// Whether what alone leads to `path`, if something does, was there before the command.
    fn was_led_to(&self, path: &Path) -> bool {
        let there = |by: &PathBuf| {
            [Found::Link, Found::Git].iter().any(|kind| self.before.contains(&kind(by.clone())))
        };
        self.names.leading_to(path).is_none_or(|by| by.iter().any(there))
    }

    /// Returns which of these `files` and `folders` were not there when the others were kept.
    fn new_in_kept(
        &self,
        kept: &Holdings,
        files: &BTreeSet<PathBuf>,
        folders: &BTreeSet<PathBuf>,
        git: bool,
    ) -> Vec<Touched> {
        let mut new: Vec<Touched> = Vec::new();
        let folders = folders.iter().filter(|path| !kept.folders.contains_key(*path));
        // Git makes folders as it needs them.
        let folders: BTreeSet<&Path> = folders
            .filter(|path| self.own_name(path).is_none() && !path.ends_with(".git"))
            .map(PathBuf::as_path)
            .collect();
        let outer = |path: &&Path| path.parent().is_none_or(|path| !lies_in(path, &folders));
        let files = files.iter().filter(|path| !kept.files.contains_key(*path));
        let files = files.map(PathBuf::as_path);
        for path in folders.iter().copied().chain(files).filter(outer) {
            if !git || !self.is_gits(path, b"") {
                let is_in_git = self.own_name(path).is_some();
                let touch = if is_in_git { Touched::Planted } else { Touched::Made };
                new.push(touch(path.into()));
            }
        }
        new
    }

    /// Returns the name of what `path` lies in, directly in a folder of git's.
    fn own_name<'a>(&self, path: &'a Path) -> Option<&'a OsStr> {
        let below = self.gits().find_map(|git| path.strip_prefix(git).ok())?;
        Some(below.components().next()?.as_os_str())
    }

    /// Whether git itself may have changed `path`, which held `bytes`, and starts no program for it.
    fn is_gits(&self, path: &Path, bytes: &[u8]) -> bool {
        match self.own_name(path) {
            Some(name) if name == "info" => !path.ends_with("attributes"),
            Some(name) if name == "config" => repository::is_harmless_change(bytes, path),
            name => name.is_some_and(|name| name == "gitdir"),
        }
    }

    /// Makes folders and files again what they were; says of which.
    fn undo(&self, kept: &Holdings, git: bool) -> Vec<Touched> {
        let mut touched = Vec::new();
        let mut gone: BTreeSet<&Path> = BTreeSet::new();
        // The outer ones come first.
        for (path, before) in &kept.folders {
            match restore::folder(path, *before) {
                Ok(Restored::Undone(aside)) => touched.extend(undone(path, aside)),
                // A repository is more than the files that are kept of it.
                Ok(Restored::Gone) if path.ends_with(".git") => {
                    gone.insert(path);
                    touched.push(Touched::Changed(path.into()));
                }
                // What one that is gone held is put back below.
                Ok(Restored::AsBefore | Restored::Gone) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => touched.push(Touched::Changed(path.into())),
            }
        }
        for (path, kept) in &kept.files {
            if lies_in(path, &gone) || stamp(path) == Some(kept.stamp) && self.is_reached(path) {
                continue;
            }
            match &kept.content {
                Some(content)
                    if kept::content(path).as_ref() == Some(content) && self.is_reached(path) => {}
                Some(Content::File { bytes, .. }) if git && self.is_gits(path, bytes) => {}
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
        let bases = || self.roots.iter().chain(&self.homes);
        let inner = |folder: &&Path| !bases().any(|base| base == folder);
        let mut folders = path.ancestors().skip(1).take_while(inner);
        folders.all(|folder| folder.symlink_metadata().is_ok_and(|found| found.is_dir()))
    }

    fn put_back(&self, path: &Path, content: &Content) -> Option<Vec<Aside>> {
        // The innermost, where one lies in another.
        let roots = self.roots.iter().chain(&self.homes).filter(|root| path.starts_with(root));
        let root = roots.max_by_key(|root| root.as_os_str().len())?;
        restore::file(root, path, content).ok()
    }
}

/// Returns the repositories of other names than `.git`.
fn bare(names: &BTreeSet<Found>) -> impl Iterator<Item = PathBuf> {
    names.iter().filter_map(|found| match found {
        Found::Bare(path) => Some(path.clone()),
        Found::Way(_)
        | Found::Git(_)
        | Found::Protected(_)
        | Found::Link(_)
        | Found::Secret(_)
        | Found::Both(_) => None,
    })
}

/// Returns which folder `path` lies in.
fn parent(path: &Path) -> Option<Folder> {
    Folder::at(path.parent()?)
}

/// Returns the files and links that `names` and `homes` protect, and the folders, about `most`.
fn contents(
    names: &BTreeSet<Found>,
    homes: &[PathBuf],
    most: usize,
) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    let of_git = |git: &Path, files: &mut BTreeSet<PathBuf>, folders: &mut BTreeSet<PathBuf>| {
        folders.insert(git.to_owned());
        for name in OF_GIT.iter().filter(|name| !["modules", "worktrees"].contains(name)) {
            collect(&git.join(name), files, folders, most);
        }
        // Git goes from a linked work tree where these say.
        for tree in fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten() {
            for name in OF_TREE {
                collect(&tree.path().join(name), files, folders, most);
            }
        }
    };
    for found in names {
        match found {
            Found::Git(git) | Found::Bare(git) => of_git(git, &mut files, &mut folders),
            Found::Protected(path) | Found::Link(path) | Found::Both(path) => {
                collect(path, &mut files, &mut folders, most);
            }
            // A link cannot be covered; what else is hidden is not kept from being changed.
            Found::Secret(path) if path.is_symlink() => {
                collect(path, &mut files, &mut folders, most);
            }
            Found::Way(_) | Found::Secret(_) => {}
        }
    }
    for home in homes {
        of_git(home, &mut files, &mut folders);
    }
    (files, folders)
}

/// Whether `path` is or lies in one of `folders`.
fn lies_in(path: &Path, folders: &BTreeSet<&Path>) -> bool {
    path.ancestors().any(|folder| folders.contains(folder))
}

/// Adds the files and folders at and below `path`, until there are `most`.
fn collect(
    path: &Path,
    files: &mut BTreeSet<PathBuf>,
    folders: &mut BTreeSet<PathBuf>,
    most: usize,
) {
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop().filter(|_| files.len() + folders.len() < most) {
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
