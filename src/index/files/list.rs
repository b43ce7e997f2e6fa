//! Walking folders side by side under their ignore rules, with the stamp of each file.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;

use super::join::{Parts, assemble};
use super::rules::{NAMES, Rules, Said, Sources};
use super::table::{FileTable, Flags, Mark, State, Tally};
use crate::index::snapshot::Cut;
use crate::workspace::scan::{Branch, Kind, Tree};

/// How deep a listing goes.
const MAX_DEPTH: usize = 128;
/// Most threads of one listing.
const MAX_THREADS: usize = 8;

/// How much one listing may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub files: usize,
    pub time: Duration,
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Limits {
            files: 20_000_000,
            time: Duration::from_hours(1),
            threads: threads.min(MAX_THREADS),
        }
    }
}

impl Limits {
    /// Returns the limits for a folder that is no repository: home, `/`, anything large.
    pub fn bounded() -> Limits {
        Limits { files: 200_000, time: Duration::from_secs(2), ..Limits::default() }
    }
}

/// Lists the files beneath `root`, which is absolute and free of links, from nothing.
///
/// # Errors
/// A root that is no folder or cannot be opened.
pub fn list(
    root: &Path,
    limits: Limits,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> io::Result<FileTable> {
    let mut sources = Sources::default();
    let above = Rules::global(&mut sources);
    let walk = Walk::new(root, limits, cancelled)?;
    let task = Task::top(above);
    let mut parts = walk.run(vec![task], &|_| false);
    sources.append(std::mem::take(&mut parts.sources));
    let tracked = sources.read_index(root);
    Ok(assemble(&walk.tree, root, None, parts, sources, &tracked))
}

/// A folder that is to be looked into.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) path: Box<[u8]>,
    /// The rules of the folder above.
    pub(super) above: Arc<Rules>,
    /// What all beneath share.
    pub(super) flags: Flags,
}

impl Task {
    fn top(above: Arc<Rules>) -> Task {
        Task { path: Box::default(), above, flags: Flags::default() }
    }
}

/// What one folder holds.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: Box<[u8]>,
    pub(super) mark: Mark,
    /// Names of its files, one after the other, where each ends, and what each is.
    pub(super) names: Vec<u8>,
    pub(super) files: Vec<(u32, State)>,
    /// Which files stand behind a folder: in the order of all paths, other paths come before these.
    pub(super) breaks: Vec<usize>,
}

impl Part {
    /// Returns the names of some of its files with what each is.
    pub(super) fn files(&self, range: Range<usize>) -> impl Iterator<Item = (&[u8], State)> {
        let mut start = range.start.checked_sub(1).map_or(0, |before| self.files[before].0);
        self.files[range].iter().map(move |(end, state)| {
            let name = &self.names[start as usize..*end as usize];
            start = *end;
            (name, *state)
        })
    }

    /// Returns the runs of files whose paths follow one another in the order of all paths.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.breaks.iter().copied());
        let ends = self.breaks.iter().copied().chain(std::iter::once(self.files.len()));
        starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty())
    }
}

/// What one thread reads names into, used again and again.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    names: Vec<u8>,
    entries: Vec<(Range<usize>, Kind)>,
    inner: Vec<Task>,
}

impl Scratch {
    /// Reads the names of a folder in the order that the paths beneath have; returns which files with
    /// rules there are.
    fn read(&mut self, branch: &Branch) -> io::Result<u8> {
        let Scratch { buffer, names, entries, .. } = self;
        names.clear();
        entries.clear();
        let mut marks = 0;
        branch.each_name(buffer, &mut |name, kind| {
            if name.starts_with(b".")
                && let Some(place) = NAMES.iter().position(|rules| *rules == name)
            {
                marks |= 1 << place;
            }
            let start = names.len();
            names.extend_from_slice(name);
            entries.push((start..names.len(), kind));
        })?;
        entries.sort_unstable_by(|left, right| {
            in_paths(&names[left.0.clone()], left.1, &names[right.0.clone()], right.1)
        });
        Ok(marks)
    }
}

/// Orders two names of a folder as the paths are ordered that begin with them: behind that of a folder
/// comes a separator.
fn in_paths(left: &[u8], left_kind: Kind, right: &[u8], right_kind: Kind) -> std::cmp::Ordering {
    let n = left.len().min(right.len());
    let next = |name: &[u8], kind| {
        let separator = (kind == Kind::Folder).then_some(b'/');
        name.get(n).copied().or(separator)
    };
    let rest = || next(left, left_kind).cmp(&next(right, right_kind));
    left[..n].cmp(&right[..n]).then_with(rest)
}

/// A walk under way.
pub(super) struct Walk<'a> {
    root: &'a Path,
    pub(super) tree: Tree,
    limits: Limits,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    began: Instant,
    n_files: AtomicUsize,
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    /// Threads that may still add tasks.
    n_busy: usize,
    cut: Option<Cut>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        root: &'a Path,
        limits: Limits,
        cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> io::Result<Walk<'a>> {
        let tree = Tree::open(root)?;
        // A root that cannot be read is an error, a folder beneath is only counted.
        tree.listing(b"")?.each_name(&mut Vec::new(), &mut |_, _| {})?;
        Ok(Walk {
            root,
            tree,
            limits,
            cancelled,
            began: Instant::now(),
            n_files: AtomicUsize::new(0),
            queue: Mutex::default(),
            ready: Condvar::new(),
        })
    }

    /// Looks into the folders of `tasks`, and into all beneath but those that `is_known` names.
    pub(super) fn run(&self, tasks: Vec<Task>, is_known: &(dyn Fn(&[u8]) -> bool + Sync)) -> Parts {
        self.lock().tasks = tasks;
        let mut all = std::thread::scope(|scope| {
            let work = || self.work(is_known);
            let others: Vec<_> = (1..self.limits.threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                // A thread that broke off has said why; what it found is missing.
                match other.join() {
                    Ok(found) => all.append(found),
                    Err(_) => all.tally.unreadable += 1,
                }
            }
            all
        });
        all.tally.cut = self.lock().cut;
        all
    }

    fn work(&self, is_known: &(dyn Fn(&[u8]) -> bool + Sync)) -> Parts {
        let mut found = Parts::default();
        let mut scratch = Scratch::default();
        while let Some(task) = self.next() {
            self.look_into(&task, &mut found, &mut scratch, is_known);
            let mut queue = self.lock();
            queue.n_busy -= 1;
            queue.tasks.append(&mut scratch.inner);
            drop(queue);
            self.ready.notify_all();
        }
        found
    }

    /// Returns the next folder; `None` once there are no more, or no more may be looked into.
    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            queue.cut = queue.cut.or_else(|| self.is_over());
            if queue.cut.is_some() {
                return None;
            }
            if let Some(task) = queue.tasks.pop() {
                queue.n_busy += 1;
                return Some(task);
            }
            if queue.n_busy == 0 {
                return None;
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_over(&self) -> Option<Cut> {
        if self.n_files.load(Ordering::Relaxed) >= self.limits.files {
            return Some(Cut::Files);
        }
        let is_late = self.began.elapsed() > self.limits.time || (self.cancelled)();
        is_late.then_some(Cut::Time)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_into(
        &self,
        task: &Task,
        found: &mut Parts,
        scratch: &mut Scratch,
        is_known: &(dyn Fn(&[u8]) -> bool + Sync),
    ) {
        let now = SystemTime::now();
        let mut part = Part {
            path: task.path.clone(),
            mark: Mark { flags: task.flags, racy: true, ..Mark::default() },
            names: Vec::new(),
            files: Vec::new(),
            breaks: Vec::new(),
        };
        let listing = self.tree.listing(&task.path);
        let is_listing = listing.is_ok();
        // Of one whose names cannot be read it is known at least when that changes.
        match listing.or_else(|_| self.tree.branch(&task.path)) {
            Err(error) if is_gone(&error) => return,
            Err(_) => {}
            Ok(branch) => {
                if let Ok(stamp) = branch.stamp() {
                    part.mark.stamp = stamp;
                    part.mark.racy = stamp.is_racy(now);
                }
                let names = is_listing
                    .then(|| self.names(task, &branch, &mut part, found, scratch, is_known));
                part.mark.readable = names.flatten().is_some();
            }
        }
        if !part.mark.readable {
            found.tally.unreadable += 1;
        }
        self.n_files.fetch_add(part.files.len(), Ordering::Relaxed);
        found.folders.push(part);
    }

    /// Reads the names of one folder; `None` if they or the rules for them cannot be read.
    fn names(
        &self,
        task: &Task,
        branch: &Branch,
        part: &mut Part,
        found: &mut Parts,
        scratch: &mut Scratch,
        is_known: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Option<()> {
        let now = SystemTime::now();
        part.mark.rules = scratch.read(branch).ok()?;
        let mut ignored = Sources::default();
        let is_new = !is_known(&task.path);
        let sources = if is_new { &mut found.sources } else { &mut ignored };
        let (above, marks) = (&task.above, part.mark.rules);
        let rules = Rules::of(above, self.root, &task.path, branch, marks, sources)?;
        let Scratch { names, entries, inner, .. } = scratch;
        part.names.reserve_exact(names.len());
        part.files.reserve_exact(entries.len());
        let mut path = task.path.to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        let n_folder = path.len();
        let depth = memchr::memchr_iter(b'/', &path).count();
        for (name, kind) in entries {
            let name = &names[name.clone()];
            if name == b".git" {
                continue;
            }
            path.truncate(n_folder);
            path.extend_from_slice(name);
            let said = rules.judge(&path, *kind == Kind::Folder);
            if matches!(said, Said::Ignored | Said::Shut) {
                continue;
            }
            let mut flags = task.flags;
            if name.starts_with(b".") && said != Said::Wanted {
                flags |= Flags::HIDDEN;
            }
            if *kind == Kind::Folder {
                if part.breaks.last() != Some(&part.files.len()) {
                    part.breaks.push(part.files.len());
                }
                if depth + 1 >= MAX_DEPTH {
                    found.tally.too_deep += 1;
                } else if !is_known(&path) {
                    let above = Arc::clone(&rules);
                    inner.push(Task { path: path.as_slice().into(), above, flags });
                }
                continue;
            }
            let Some(stamp) = branch.stamp_of(name) else { continue };
            if stamp.is_folder() {
                // It took the place of a file meanwhile, so the folder is looked at again.
                part.mark.racy = true;
                continue;
            }
            part.names.extend_from_slice(name);
            let end = u32::try_from(part.names.len()).ok()?;
            part.files.push((end, State::of(stamp, flags, now)));
        }
        Some(())
    }
}

/// Whether a folder could not be opened since it is there no more.
pub(super) fn is_gone(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
    gone.iter().any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}

impl Parts {
    fn append(&mut self, mut other: Parts) {
        self.folders.append(&mut other.folders);
        self.sources.append(other.sources);
        let Tally { cut: _, unreadable, too_deep } = other.tally;
        self.tally.unreadable += unreadable;
        self.tally.too_deep += too_deep;
    }
}
