//! The copy-on-write view: where what a command writes is put, so that it can be looked at first.
//!
//! Each command in a view gets folders of its own, in one folder of this process. They lie beside
//! the workspace's files and on their file system where they can, so that what is to be kept needs
//! no copy. What a process that was killed left is removed by the next one.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::aftermath::Unseen;
use super::policy::Overlay;
use super::{Sandbox, mounted, self_test, system};
use crate::approval::{Barred, Rung};
use crate::index::files::git_index::GitFolder;
use crate::workspace::Stamp;
use crate::workspace::ignored::{self, Ignored, is_made_by_tools};
use crate::workspace::own;

/// What a command in a view left, until it is dropped.
#[derive(Debug)]
pub struct View {
    pub layers: Vec<Layer>,
    /// When the command began.
    pub since: SystemTime,
    _folder: Removed,
}

impl View {
    /// Returns what a command that is kept from what is `barred` can write without a look.
    pub(super) fn unseen(&self, barred: &Barred) -> Unseen {
        let folders = self.layers.iter().flat_map(|layer| &layer.through);
        let folders = folders.map(|folder| folder.clone().into()).collect();
        Unseen { folders, barred: barred.clone() }
    }
}

/// What was written over one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub root: PathBuf,
    /// What was written, in folders like those of the root.
    pub upper: PathBuf,
    /// Folders of the root that were written to themselves.
    pub through: Vec<PathBuf>,
}

/// What a sandbox keeps for its views.
#[derive(Default)]
pub(super) struct Views {
    tested: OnceLock<Result<(), String>>,
    folder: OnceLock<Result<Folder, String>>,
    /// What is known of ignored folders, by root.
    through: Mutex<Vec<Through>>,
    /// What the last command left.
    left: Mutex<Option<View>>,
}

/// The ignored folders of one root.
struct Through {
    root: PathBuf,
    found: Vec<PathBuf>,
    /// Those of them that no rule and no index speaks against.
    good: Vec<PathBuf>,
    git: Option<GitFolder>,
    /// What was looked at to tell, and how it was.
    sources: Vec<(PathBuf, Option<Stamp>)>,
}

impl Through {
    fn find(root: &Path) -> Through {
        let found = ignored::folders(root);
        let mut paths = Vec::new();
        let git = GitFolder::of(root);
        if let Some(git) = &git {
            paths.extend([git.own.join("index"), git.common.join("info/exclude")]);
        }
        for folder in &found {
            let above = folder.ancestors().skip(1).take_while(|at| at.starts_with(root));
            paths.extend(above.map(|folder| folder.join(".gitignore")));
        }
        paths.sort();
        paths.dedup();
        let sources = paths.into_iter().map(|path| (path, None)).collect();
        Through { root: root.to_owned(), found, good: Vec::new(), git, sources }
    }

    /// Judges anew what was found, if anything may have changed.
    fn renew(&mut self) {
        if GitFolder::of(&self.root) != self.git {
            *self = Through::find(&self.root);
        }
        if self.found.is_empty() {
            return;
        }
        let stamps = self.sources.iter().map(|(path, _)| (path.clone(), Stamp::followed(path)));
        let sources: Vec<_> = stamps.collect();
        let now = SystemTime::now();
        let is_racy = |stamp: Option<Stamp>| stamp.is_some_and(|stamp| stamp.is_racy(now));
        let racy = sources.iter().any(|(_, stamp)| is_racy(*stamp));
        if sources == self.sources && !racy {
            return;
        }
        let mut rules = Ignored::new(&self.root);
        let index = self.git.as_ref().and_then(GitFolder::read_index).unwrap_or_default();
        let below = |folder: &PathBuf| folder.strip_prefix(&self.root).unwrap_or(folder).to_owned();
        let tracked = |folder: &PathBuf| {
            let folder = below(folder);
            let folder = folder.as_os_str().as_encoded_bytes();
            index.tracked.iter().any(|(path, _)| {
                path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
            })
        };
        // In others a command could leave what somebody picks up or obeys.
        let is_usual = |folder: &PathBuf| folder.file_name().is_some_and(is_made_by_tools);
        let mut good = self.found.clone();
        good.retain(|folder| is_usual(folder) && rules.names(folder, true) && !tracked(folder));
        (self.good, self.sources) = (good, sources);
    }
}

/// The folder of this process; its lock is held as long as it lives.
struct Folder {
    path: PathBuf,
    _lock: File,
    _removed: Removed,
}

/// A folder that is removed with everything in it, whatever its modes.
#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

impl Sandbox {
    /// Returns why commands cannot run in a copy-on-write view here. The first time this tries.
    ///
    /// # Errors
    /// The reason, for people.
    pub fn view(&self) -> Result<(), &str> {
        let tested = self.views.tested.get_or_init(|| {
            if self.rung() != Rung::Namespaces {
                return Err("the sandbox has no mounts of its own".to_owned());
            }
            if let Some(inner) = self.options.roots.iter().find_map(|root| mounted::beneath(root)) {
                return Err(format!("`{}` is a file system of its own", inner.display()));
            }
            self_test::view(self)
        });
        tested.as_ref().copied().map_err(String::as_str)
    }

    /// Takes what the last command in a view left.
    pub fn take_view(&self) -> Option<View> {
        self.views.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps what a command that begins now will leave.
    pub(super) fn leave_view(&self, view: Option<View>) {
        let view = view.map(|view| View { since: SystemTime::now(), ..view });
        *self.views.left.lock().unwrap_or_else(PoisonError::into_inner) = view;
    }

    /// Describes views of all roots, without their folders yet.
    pub(super) fn overlays(&self) -> Vec<Overlay> {
        let of = |root: &PathBuf| Overlay {
            root: root.into(),
            upper: OsString::new(),
            work: OsString::new(),
            through: self.through(root).into_iter().map(OsString::from).collect(),
        };
        self.options.roots.iter().map(of).collect()
    }

    /// Returns the ignored folders of `root` that commands change themselves: build outputs.
    ///
    /// They are looked for once, and a folder that comes later is found in what a command left.
    /// Whether one still is ignored and untracked is looked up when the rules or git's index changed.
    fn through(&self, root: &Path) -> Vec<PathBuf> {
        let mut known = self.views.through.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|through| through.root == root);
        let at = at.unwrap_or_else(|| {
            known.push(Through::find(root));
            known.len() - 1
        });
        let through = &mut known[at];
        through.renew();
        let is_folder =
            |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir());
        through.good.iter().filter(is_folder).cloned().collect()
    }

    /// Makes the folders that `overlays` need.
    pub(super) fn make_view(&self, overlays: &mut [Overlay]) -> io::Result<View> {
        let base = match self.views.folder.get_or_init(|| self.view_folder()) {
            Ok(folder) => &folder.path,
            Err(why) => return Err(io::Error::other(why.clone())),
        };
        let path = base.join(random_name()?);
        private(&path)?;
        let folder = Removed(path.clone());
        let mut layers = Vec::new();
        for (number, over) in overlays.iter_mut().enumerate() {
            let own = path.join(number.to_string());
            let (upper, work) = (own.join("upper"), own.join("work"));
            for made in [&own, &upper, &work] {
                private(made)?;
            }
            // The view's root looks like the upper folder.
            let facts = fs::metadata(&over.root)?;
            std::os::unix::fs::chown(&upper, Some(facts.uid()), Some(facts.gid())).ok();
            fs::set_permissions(&upper, fs::Permissions::from_mode(facts.mode() & 0o7777))?;
            let through = over.through.iter().map(PathBuf::from).collect();
            layers.push(Layer { root: PathBuf::from(&over.root), upper: upper.clone(), through });
            (over.upper, over.work) = (upper.into(), work.into());
        }
        Ok(View { layers, since: SystemTime::now(), _folder: folder })
    }

    /// Returns the folder above all views, which no command sees.
    pub(super) fn view_base(&self) -> Option<&Path> {
        self.views.folder.get()?.as_ref().ok()?.path.parent()
    }

    /// Makes the folder of this process in the best place that there is.
    fn view_folder(&self) -> Result<Folder, String> {
        let device = |path: &Path| {
            let there = path.ancestors().find_map(|path| fs::metadata(path).ok());
            there.map(|facts| facts.dev())
        };
        let root = self.options.roots.first().and_then(|root| device(root));
        let outside =
            |path: &&PathBuf| !self.options.roots.iter().any(|root| path.starts_with(root));
        let mut places: Vec<&PathBuf> = self.options.views.iter().filter(outside).collect();
        places.sort_by_key(|place| device(place) != root);
        let mut whys = Vec::new();
        for place in places {
            match own_folder(place) {
                Ok(folder) => return Ok(folder),
                Err(error) => whys.push(format!("`{}`: {error}", place.display())),
            }
        }
        Err(format!("no place for what it would write ({})", whys.join("; ")))
    }
}

/// Makes a folder in `place` that is this process's own, and removes what dead ones left there.
fn own_folder(place: &Path) -> io::Result<Folder> {
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let facts = fs::symlink_metadata(place)?;
    let user = rustix::process::geteuid().as_raw();
    if !facts.is_dir() || facts.uid() != user || facts.mode() & 0o077 != 0 {
        return Err(io::Error::other("it is somebody else's, or open to others"));
    }
    let place = place.canonicalize()?;
    for entry in fs::read_dir(&place)?.flatten() {
        let lock = own::open(File::options().read(true), &entry.path().join(LOCK));
        // One without a lock is being made.
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
    let path = place.join(random_name()?);
    private(&path)?;
    let removed = Removed(path.clone());
    // Under another name until it is locked, so that nobody takes it for a dead one's.
    let (made, name) = (path.join("made"), path.join(LOCK));
    let lock = File::create_new(&made)?;
    lock.try_lock().map_err(io::Error::from)?;
    fs::rename(made, name)?;
    Ok(Folder { path, _lock: lock, _removed: removed })
}

/// The file by whose lock a living process is known.
const LOCK: &str = "lock";

fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn random_name() -> io::Result<String> {
    Ok(format!("{:016x}", u64::from_ne_bytes(system::random()?)))
}

/// Removes `folder`. What its owner may not look into is made so that they may.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).ok();
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        pending.extend(folders.map(|entry| entry.path()));
    }
    // What still stays is tried again by the next process.
    fs::remove_dir_all(folder).ok();
}
