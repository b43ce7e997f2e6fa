//! The index of one root as the program holds it: opened at no cost, proved fresh at each use, kept between runs.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::files::table::{FileTable, Tally};
use super::files::{self, Limits, Watch};
use super::folder::{self, IndexFolder};
use super::layers::{Building, LAYERS, Progress};
use super::symbols::Stored;
use super::text::{Held, Postings, Text};
use super::watching::Watching;

/// The file of the table in the index's folder.
const TABLE: &str = "files";
/// Bytes that the indexes of all roots may take.
pub const CAP: u64 = 2 << 30;

/// Looking at fewer files takes about a millisecond.
const WATCH_FROM: usize = 2_000;

/// How an index behaves.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether it builds in the background what it keeps, after its first use.
    pub background: bool,
    /// Bytes that the indexes of all roots may take on disk.
    pub cap: u64,
    /// Whether the root is one that is never listed whole, such as a home.
    pub is_bounded: bool,
    /// How many files make it worth watching the folders, so that not every use looks at all of
    /// them; only what builds in the background watches.
    pub watch_from: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { background: true, cap: CAP, is_bounded: false, watch_from: WATCH_FROM }
    }
}

/// The index of one root. Opening it reads nothing; the first use lists the files.
#[derive(Debug)]
pub struct Index {
    shared: Arc<Shared>,
    options: Options,
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// What the background thread shares with the users.
#[derive(Debug)]
struct Shared {
    root: PathBuf,
    /// Where all indexes are kept; `None` keeps nothing.
    cache: Option<PathBuf>,
    state: Mutex<State>,
    text: Held,
    /// How often all files were looked at.
    n_looks: AtomicU64,
    /// Counts what may have changed files.
    activity: AtomicU64,
    ended: AtomicBool,
    building: AtomicBool,
    is_bounded: bool,
    watch_from: usize,
}

#[derive(Debug, Default)]
struct State {
    table: Option<Known>,
    /// The table that is on disk.
    saved: Option<Arc<FileTable>>,
    /// What the background thread last began with.
    built: Option<Arc<FileTable>>,
    watching: Watching,
}

#[derive(Clone, Debug)]
struct Known {
    table: Arc<FileTable>,
    /// When the look began that it is the result of, and what had happened by then.
    began: Instant,
    activity: u64,
}

/// What `snick index status` tells.
#[derive(Clone, Debug)]
pub struct Status {
    pub root: PathBuf,
    /// Where it is kept, if it is.
    pub folder: Option<PathBuf>,
    /// The kept files with their sizes.
    pub kept: Vec<(String, u64)>,
    /// How long ago the table was kept.
    pub age: Option<Duration>,
    pub files: usize,
    pub folders: usize,
    pub bytes: u64,
    pub tally: Tally,
    /// How long the look at all files took.
    pub took: Duration,
    /// Bytes that the indexes of all roots take, and may take.
    pub all: u64,
    pub cap: u64,
}

impl Index {
    /// Makes the index of `root`, which is absolute and free of links; nothing is read yet.
    ///
    /// `cache` is the folder of the indexes of all roots; without one nothing is kept.
    pub fn open(root: &Path, cache: Option<&Path>, options: Options) -> Index {
        let shared = Shared {
            root: root.to_owned(),
            cache: cache.map(Path::to_owned),
            state: Mutex::default(),
            text: Held::default(),
            n_looks: AtomicU64::new(0),
            activity: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            building: AtomicBool::new(false),
            is_bounded: options.is_bounded,
            watch_from: options.watch_from,
        };
        Index { shared: Arc::new(shared), options, worker: Mutex::default() }
    }

    /// Makes an index that keeps nothing on disk.
    pub fn unkept(root: &Path) -> Index {
        Index::open(root, None, Options { background: false, ..Options::default() })
    }

    /// Returns the root of the index.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Whether the root is no repository, so that a table may be cut: then it says so.
    pub fn is_bounded(&self) -> bool {
        self.shared.is_bounded()
    }

    /// Whether nothing but names is ever kept of the root, such as of a home.
    pub fn is_never_kept(&self) -> bool {
        self.shared.is_bounded
    }

    /// Tells that a process may have run or a file may have been written.
    pub fn note_activity(&self) {
        self.shared.activity.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the files as they are now: every stamp was looked up after this was called.
    ///
    /// Blocks for as long as that takes; call it off the loop.
    ///
    /// # Errors
    /// A root that cannot be opened, and `Interrupted` where `cancelled` said yes.
    pub fn refresh(&self, cancelled: &(dyn Fn() -> bool + Sync)) -> io::Result<Arc<FileTable>> {
        let known = self.shared.refresh(Instant::now(), cancelled)?;
        if self.options.background {
            self.build_behind();
        }
        Ok(known.table)
    }

    /// Returns a table that may be as old as `age`, but no older than the last activity: good
    /// enough to complete a name by.
    ///
    /// # Errors
    /// As [`Index::refresh`].
    pub fn recent(
        &self,
        age: Duration,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Arc<FileTable>> {
        let activity = self.shared.activity.load(Ordering::Acquire);
        let known = self.shared.lock().table.clone();
        match known {
            Some(known) if known.activity == activity && known.began.elapsed() < age => {
                Ok(known.table)
            }
            _ => self.refresh(cancelled),
        }
    }

    /// Returns how often all files were looked at so far.
    pub fn n_looks(&self) -> u64 {
        self.shared.n_looks.load(Ordering::Relaxed)
    }

    /// Returns the folder that the other layers keep their files in, if anything is kept.
    pub fn folder(&self) -> Option<IndexFolder> {
        self.shared.folder()
    }

    /// Returns what is kept of the text of files, and which files of `table` it describes as they
    /// are; `None` before it was made. It stays open, so asking again costs next to nothing.
    pub fn text(&self, table: &Arc<FileTable>) -> Option<Arc<Text>> {
        let folder = self.folder()?;
        if self.shared.text.drop_damaged(folder.path()) {
            self.shared.lock().built = None;
        }
        self.shared.text.of(table, folder.path(), folder.identity())
    }

    /// Returns what is kept of definitions and identifiers; `None` before it was made.
    pub fn symbols(&self) -> Option<Stored> {
        let folder = self.folder()?;
        Stored::open(folder.path(), folder.identity())
    }

    /// Whether something is kept of the text of files.
    pub fn has_text(&self) -> bool {
        self.folder().is_some_and(|folder| Postings::is_in(folder.path()))
    }

    /// Looks at everything and tells what there is.
    ///
    /// # Errors
    /// As [`Index::refresh`].
    pub fn status(&self, cancelled: &(dyn Fn() -> bool + Sync)) -> io::Result<Status> {
        let folder = self.shared.folder();
        let kept = folder.as_ref().map(IndexFolder::sizes).unwrap_or_default();
        let age = folder.as_ref().and_then(|folder| folder.age_of(TABLE));
        let began = Instant::now();
        let table = self.shared.refresh(began, cancelled)?.table;
        let took = began.elapsed();
        Ok(Status {
            root: self.shared.root.clone(),
            folder: folder.map(|folder| folder.path().to_owned()),
            kept,
            age,
            files: table.len(),
            folders: table.n_folders(),
            bytes: table.bytes(),
            tally: table.tally(),
            took,
            all: self.shared.cache.as_deref().map(folder::total).unwrap_or_default(),
            cap: self.options.cap,
        })
    }

    /// Makes everything that is kept anew, in this thread.
    ///
    /// # Errors
    /// Whatever keeps it from being written; another process that is writing it right now.
    pub fn rebuild(
        &self,
        progress: &(dyn Fn(Progress) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Arc<FileTable>> {
        let lock = |folder: IndexFolder| folder.lock_or_fail().map(|lock| (folder, lock));
        let kept = self.shared.folder().map(lock).transpose()?;
        if let Some((folder, _)) = &kept {
            folder.clear()?;
        }
        self.shared.forget();
        let known = self.shared.refresh(Instant::now(), cancelled)?;
        progress(Progress::Listed { files: known.table.len() });
        if let Some((folder, lock)) = &kept {
            self.shared.save(folder, &known.table)?;
            let threads = Limits::default().threads;
            let building = Building { lock, threads, cancelled, progress };
            self.shared.build_layers(&known.table, folder, &building)?;
        }
        Ok(known.table)
    }

    /// Removes what is kept of this root, and forgets what is known.
    ///
    /// # Errors
    /// Files that cannot be removed; another process that is writing them right now.
    pub fn remove(&self) -> io::Result<()> {
        self.shared.forget();
        self.shared.folder().map_or(Ok(()), |folder| folder.remove())
    }

    /// Keeps the table and brings the other layers up to it, on a thread of low priority, unless
    /// that is under way or done.
    fn build_behind(&self) {
        let Some(folder) = self.shared.folder() else { return };
        let is_done = {
            let state = self.shared.lock();
            match (&state.table, &state.built) {
                (Some(known), Some(built)) => {
                    known.table.is_same(built)
                        && !self.shared.is_to_be_watched(&state, &known.table)
                }
                (known, _) => known.is_none(),
            }
        };
        if is_done || self.shared.building.swap(true, Ordering::AcqRel) {
            return;
        }
        let (shared, cap) = (Arc::clone(&self.shared), self.options.cap);
        let work = move || {
            // It is only slower for others if this fails.
            rustix::process::setpriority_process(None, 10).ok();
            // What could not be kept is made again by the next run.
            shared.build(&folder, cap).ok();
            shared.watch();
            shared.building.store(false, Ordering::Release);
        };
        let started = std::thread::Builder::new().name("index".to_owned()).spawn(work);
        match started {
            Ok(handle) => *lock(&self.worker) = Some(handle),
            Err(_) => self.shared.building.store(false, Ordering::Release),
        }
    }

    /// Waits until what is being built in the background is kept.
    pub fn finish(&self) {
        let worker = lock(&self.worker).take();
        // A thread that broke off has kept nothing, and nothing more can be done about it.
        worker.map(JoinHandle::join).into_iter().for_each(drop);
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.finish();
    }
}

impl State {
    /// Returns what is known if nothing has happened since: nothing of our own, and nothing that a
    /// watch on the folders has heard.
    fn quiet(&mut self, activity: u64) -> Option<Known> {
        let known = self.table.as_ref()?;
        // It is asked in any case: what is looked at next includes all that it has heard.
        let is_quiet = self.watching.is_quiet(&known.table);
        (is_quiet && known.activity == activity).then(|| known.clone())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn forget(&self) {
        *self.lock() = State::default();
        self.text.clear();
    }

    fn folder(&self) -> Option<IndexFolder> {
        IndexFolder::of(self.cache.as_deref()?, &self.root).ok()
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded || fs::symlink_metadata(self.root.join(".git")).is_err()
    }

    /// Returns a table whose look began at `asked` or later.
    fn refresh(&self, asked: Instant, cancelled: &(dyn Fn() -> bool + Sync)) -> io::Result<Known> {
        // Whoever waits here for another's look takes its result, if it began late enough.
        let mut state = self.lock();
        if let Some(known) = state.table.as_ref().filter(|known| known.began >= asked) {
            return Ok(known.clone());
        }
        let (began, activity) = (Instant::now(), self.activity.load(Ordering::Acquire));
        let limits = if self.is_bounded() { Limits::bounded() } else { Limits::default() };
        if let Some(known) = state.quiet(activity) {
            let known = Known { began, ..known };
            state.table = Some(known.clone());
            return Ok(known);
        }
        self.n_looks.fetch_add(1, Ordering::Relaxed);
        let old = match &state.table {
            Some(known) => Some(Arc::clone(&known.table)),
            None => self.load().inspect(|table| state.saved = Some(Arc::clone(table))),
        };
        let table = match &old {
            Some(old) => files::refreshed(old, limits, cancelled)?,
            None => Arc::new(files::list(&self.root, limits, cancelled)?),
        };
        if cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        state.watching.cover(&table, began);
        let known = Known { table, began, activity };
        state.table = Some(known.clone());
        Ok(known)
    }

    fn is_to_be_watched(&self, state: &State, table: &Arc<FileTable>) -> bool {
        table.len() >= self.watch_from && state.watching.is_wanted(table)
    }

    /// Watches the folders, and looks once more: what came before they all were watched is not heard.
    fn watch(&self) {
        let cancelled = || self.ended.load(Ordering::Acquire);
        // The second time takes in folders that came meanwhile; with more of them, the next use does.
        for _ in 0..2 {
            let (table, old) = {
                let mut state = self.lock();
                let Some(known) = state.table.clone() else { return };
                if cancelled() || !self.is_to_be_watched(&state, &known.table) {
                    return;
                }
                (known.table, state.watching.take())
            };
            let watch = old.and_then(|old| old.widened(&table)).or_else(|| Watch::new(&table));
            self.lock().watching.put(watch);
            if self.refresh(Instant::now(), &cancelled).is_err() {
                return;
            }
        }
    }

    fn load(&self) -> Option<Arc<FileTable>> {
        let folder = self.folder()?;
        let table = FileTable::load(&folder.file(TABLE), &self.root, folder.identity());
        table.ok().map(Arc::new)
    }

    fn save(&self, folder: &IndexFolder, table: &Arc<FileTable>) -> io::Result<()> {
        let is_saved = self.lock().saved.as_ref().is_some_and(|saved| saved.is_same(table));
        if !is_saved {
            table.save(&folder.file(TABLE), folder.identity())?;
            self.lock().saved = Some(Arc::clone(table));
        }
        Ok(())
    }

    /// Keeps the table and brings the layers up to it.
    fn build(&self, folder: &IndexFolder, cap: u64) -> io::Result<()> {
        let Some(table) = self.lock().table.as_ref().map(|known| Arc::clone(&known.table)) else {
            return Ok(());
        };
        self.lock().built = Some(Arc::clone(&table));
        // Another process is at it: what it writes serves this one as well.
        let Some(lock) = folder.lock()? else { return Ok(()) };
        self.save(folder, &table)?;
        let cancelled = || self.ended.load(Ordering::Acquire);
        let building =
            Building { lock: &lock, threads: 1, cancelled: &cancelled, progress: &|_| {} };
        self.build_layers(&table, folder, &building)?;
        folder.trim(cap)
    }

    /// Brings the layers up to `table`, one after the other.
    ///
    /// Of a root that is never listed whole only the names are kept.
    fn build_layers(
        &self,
        table: &FileTable,
        folder: &IndexFolder,
        building: &Building<'_>,
    ) -> io::Result<()> {
        let layers = if self.is_bounded || table.tally().cut.is_some() { &[] } else { LAYERS };
        for layer in layers {
            if (building.cancelled)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            (building.progress)(Progress::Began { layer: layer.name });
            (layer.update)(table, folder, building)?;
        }
        Ok(())
    }
}

/// Returns the bytes of a root's identity: the same path may be another folder later.
pub(super) fn identity_of(root: &Path) -> io::Result<Vec<u8>> {
    let facts = rustix::fs::stat(root)?;
    let mut identity = root.as_os_str().as_bytes().to_vec();
    identity.push(0);
    identity.extend(facts.st_dev.to_le_bytes());
    identity.extend(facts.st_ino.to_le_bytes());
    Ok(identity)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
