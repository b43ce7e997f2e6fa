//! A search: what the plan leaves is read by several threads and handed over in the order of paths.

use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::hit::FileHit;
use super::jobs::{Job, Planner, Stage};
use super::postings::{Binding, Postings};
use super::query::Pattern;
use super::scan::{Part, Scanner};
use crate::index::files::{FileEntry, FileId, FileTable};
use crate::workspace::Tree;

/// Files that a thread takes at a time.
const CHUNK: usize = 8;
/// How many chunks may be done ahead of what was handed over: few at first, since what is asked
/// may be found in those, and then as many as were needed so far.
const LEAST_AHEAD: usize = 4;
const MOST_AHEAD: usize = 512;
/// So few files are not worth a thread.
const FEW: usize = 8;

/// Says which files of a table are searched.
pub type Filter<'a> = dyn Fn(&FileEntry<'_>) -> bool + Sync + 'a;

/// How a search is done.
pub struct Options<'a> {
    pub threads: usize,
    /// Lines before and after each match.
    pub context: usize,
    /// Lines that are kept of one file; those beyond are only counted.
    pub keep: usize,
    /// Whether a file's search ends once that many are kept.
    pub stop_when_full: bool,
    /// Of how many matches of a line it is told where they are.
    pub spans: usize,
    /// Which files of the table are searched.
    pub filter: &'a Filter<'a>,
    /// Asked now and then; once it says yes, the search stops.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files with a match, and lines that match, also those that were not kept.
    pub matched_files: usize,
    pub matched_lines: u64,
    /// Files that were opened.
    pub read_files: usize,
    /// Of these, files that were searched from end to end.
    pub whole_files: usize,
    /// Files of which a NUL ended the search.
    pub binary_files: usize,
    /// Files that could not be read, and that had not just vanished.
    pub unreadable_files: usize,
    /// Whether the receiver of hits ended it.
    pub stopped: bool,
    /// Whether postings were found damaged, and not used.
    pub damaged: bool,
}

impl Summary {
    fn add(&mut self, part: &Summary) {
        self.read_files += part.read_files;
        self.whole_files += part.whole_files;
        self.binary_files += part.binary_files;
        self.unreadable_files += part.unreadable_files;
        self.damaged |= part.damaged;
    }
}

/// Why a search gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the search was stopped")]
    Cancelled,
    #[error("`{root}` cannot be opened")]
    Root { root: String, source: io::Error },
}

/// Searches the files of `table`. Hits come in the order of paths.
///
/// Postings only save work: with and without them the answer is that of a search of every file.
pub fn search(
    table: &FileTable,
    known: Option<(&Postings, &Binding)>,
    pattern: &Pattern,
    options: &Options<'_>,
    each: &mut dyn FnMut(FileHit) -> ControlFlow<()>,
) -> Result<Summary, SearchError> {
    let mut tree = None;
    let postings = known.map(|(postings, _)| postings);
    let mut planner = Planner::new(table, known, pattern, options);
    let mut summary = Summary::default();
    while let Some(stage) = planner.next() {
        if stage.len() == 0 {
            continue;
        }
        let tree = match &tree {
            Some(tree) => tree,
            None => tree.insert(opened(table.root())?),
        };
        let jobs = Jobs::Planned { planner: &planner, stage: &stage, table, postings };
        Run { jobs, tree, pattern, options }.go(&mut summary, each)?;
        if summary.stopped {
            break;
        }
    }
    summary.damaged |= planner.damaged;
    if let Some(postings) = postings.filter(|_| summary.damaged) {
        postings.note_damage();
    }
    Ok(summary)
}

/// Searches files by their paths from `root`, in the order given.
pub fn search_paths(
    root: &Path,
    paths: &[Vec<u8>],
    pattern: &Pattern,
    options: &Options<'_>,
    each: &mut dyn FnMut(FileHit) -> ControlFlow<()>,
) -> Result<Summary, SearchError> {
    let tree = opened(root)?;
    let mut summary = Summary::default();
    Run { jobs: Jobs::Paths(paths), tree: &tree, pattern, options }.go(&mut summary, each)?;
    Ok(summary)
}

fn opened(root: &Path) -> Result<Tree, SearchError> {
    Tree::open(root)
        .map_err(|source| SearchError::Root { root: root.display().to_string(), source })
}

/// The files of a run.
#[derive(Clone, Copy)]
enum Jobs<'a> {
    Planned {
        planner: &'a Planner<'a>,
        stage: &'a Stage,
        table: &'a FileTable,
        postings: Option<&'a Postings>,
    },
    Paths(&'a [Vec<u8>]),
}

impl<'a> Jobs<'a> {
    fn len(&self) -> usize {
        match self {
            Jobs::Planned { stage, .. } => stage.len(),
            Jobs::Paths(paths) => paths.len(),
        }
    }

    fn get(&self, place: usize) -> Result<Option<Job>, Job> {
        match self {
            Jobs::Planned { planner, stage, .. } => planner.job(stage, place),
            Jobs::Paths(_) => Ok(u32::try_from(place).ok().map(Job::whole)),
        }
    }

    fn path(&self, file: u32) -> &'a [u8] {
        match self {
            Jobs::Planned { table, .. } => table.get(FileId(file)).path,
            Jobs::Paths(paths) => &paths[file as usize],
        }
    }

    fn id(&self, file: u32) -> Option<FileId> {
        matches!(self, Jobs::Planned { .. }).then_some(FileId(file))
    }

    /// Returns where to look in a file; `None` is everywhere.
    fn part(&self, job: Job) -> Option<Part<'a>> {
        let Jobs::Planned { planner, postings: Some(postings), .. } = self else { return None };
        let (segment, file, start, end) = job.part?;
        let blocks = &planner.blocks[start as usize..end as usize];
        Some(Part { segment: postings.segment(segment as usize), file: file as usize, blocks })
    }
}

/// A search under way.
struct Run<'a> {
    jobs: Jobs<'a>,
    tree: &'a Tree,
    pattern: &'a Pattern,
    options: &'a Options<'a>,
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    moved: Condvar,
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    next: usize,
    handed_over: usize,
    n_waiting: usize,
    ready: BTreeMap<usize, Done>,
}

impl State {
    /// Takes the next chunk of `n_chunks`, if there is one and it is not too early for it.
    fn claim(&mut self, n_chunks: usize) -> Option<usize> {
        let ahead = self.handed_over.clamp(LEAST_AHEAD, MOST_AHEAD);
        let chunk = self.next;
        (chunk < n_chunks && chunk < self.handed_over + ahead).then(|| {
            self.next += 1;
            chunk
        })
    }
}

/// What was found in one chunk.
#[derive(Default)]
struct Done {
    /// With the number of each file among the names.
    hits: Vec<(u32, FileHit)>,
    summary: Summary,
}

impl Run<'_> {
    fn go(
        &self,
        summary: &mut Summary,
        each: &mut dyn FnMut(FileHit) -> ControlFlow<()>,
    ) -> Result<(), SearchError> {
        let mut take = |done: Done| {
            summary.add(&done.summary);
            let flow = done.hits.into_iter().try_for_each(|(file, mut hit)| {
                hit.path = self.jobs.path(file).to_vec();
                summary.matched_files += 1;
                summary.matched_lines += hit.n_lines;
                each(hit)
            });
            summary.stopped |= flow.is_break();
            flow
        };
        let n_jobs = self.jobs.len();
        if n_jobs <= FEW || self.options.threads <= 1 {
            let (stop, mut scanner) = (AtomicBool::new(false), self.scanner());
            for place in 0..n_jobs {
                if (self.options.cancelled)() {
                    return Err(SearchError::Cancelled);
                }
                if take(self.scan(&mut scanner, place..place + 1, &stop)).is_break() {
                    break;
                }
            }
        } else {
            self.share_out(n_jobs.div_ceil(CHUNK), &mut take);
        }
        if (self.options.cancelled)() { Err(SearchError::Cancelled) } else { Ok(()) }
    }

    fn scanner(&self) -> Scanner<'_> {
        Scanner::new(self.tree, self.pattern, self.options)
    }

    /// Searches with several threads, of which this is one, and hands over in order what they find.
    fn share_out(&self, n_chunks: usize, take: &mut dyn FnMut(Done) -> ControlFlow<()>) {
        let shared = Shared::default();
        std::thread::scope(|scope| {
            // Nobody goes on for what is not taken any more, also if this thread breaks off.
            let _stop = StopAll(&shared);
            for _ in 1..self.options.threads {
                scope.spawn(|| self.work(n_chunks, &shared));
            }
            let mut scanner = self.scanner();
            let mut held = locked(&shared.state);
            while held.handed_over < n_chunks && !shared.is_stopped() {
                let next = held.handed_over;
                if let Some(done) = held.ready.remove(&next) {
                    held.handed_over += 1;
                    shared.tell(held);
                    if take(done).is_break() {
                        break;
                    }
                    held = locked(&shared.state);
                } else if let Some(chunk) = held.claim(n_chunks) {
                    drop(held);
                    if (self.options.cancelled)() {
                        break;
                    }
                    let done = self.chunk(&mut scanner, chunk, &shared);
                    held = locked(&shared.state);
                    held.ready.insert(chunk, done);
                } else {
                    held = shared.wait(held);
                }
            }
        });
    }

    fn work(&self, n_chunks: usize, shared: &Shared) {
        // Whoever waits is told also if this thread breaks off.
        let guard = StopAll(shared);
        let mut scanner = self.scanner();
        let mut held = locked(&shared.state);
        while held.next < n_chunks && !shared.is_stopped() {
            let Some(chunk) = held.claim(n_chunks) else {
                held = shared.wait(held);
                continue;
            };
            drop(held);
            if (self.options.cancelled)() {
                return;
            }
            let done = self.chunk(&mut scanner, chunk, shared);
            held = locked(&shared.state);
            held.ready.insert(chunk, done);
            if chunk == held.handed_over {
                shared.tell(held);
                held = locked(&shared.state);
            }
        }
        std::mem::forget(guard);
    }

    fn chunk(&self, scanner: &mut Scanner<'_>, chunk: usize, shared: &Shared) -> Done {
        let start = chunk * CHUNK;
        self.scan(scanner, start..(start + CHUNK).min(self.jobs.len()), &shared.stop)
    }

    fn scan(&self, scanner: &mut Scanner<'_>, places: Range<usize>, stop: &AtomicBool) -> Done {
        let mut done = Done::default();
        for place in places.take_while(|_| !stop.load(Ordering::Relaxed)) {
            let job = self.jobs.get(place).unwrap_or_else(|whole| {
                done.summary.damaged = true;
                Some(whole)
            });
            let Some(job) = job else { continue };
            let path = self.jobs.path(job.file);
            let whole_before = scanner.n_whole;
            let found = match self.jobs.part(job) {
                Some(part) => scanner.part(path, &part),
                None => scanner.file(path),
            };
            done.summary.read_files += 1;
            done.summary.whole_files += scanner.n_whole - whole_before;
            match found {
                Ok(mut hit) => {
                    done.summary.binary_files += usize::from(hit.binary.is_some());
                    if hit.n_lines > 0 {
                        hit.id = self.jobs.id(job.file);
                        done.hits.push((job.file, hit));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => done.summary.unreadable_files += 1,
            }
        }
        done
    }
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wait<'a>(&self, mut held: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        held.n_waiting += 1;
        let mut held = self.moved.wait(held).unwrap_or_else(PoisonError::into_inner);
        held.n_waiting -= 1;
        held
    }

    /// Lets go of the state, and wakes who waits for a change of it.
    fn tell(&self, held: MutexGuard<'_, State>) {
        let wanted = held.n_waiting > 0;
        drop(held);
        if wanted {
            self.moved.notify_all();
        }
    }
}

/// Stops the search when the thread that holds it is done with it or breaks off.
struct StopAll<'a>(&'a Shared);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        // Under the lock, so that nobody begins to wait who has not seen it.
        let held = locked(&self.0.state);
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.tell(held);
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
