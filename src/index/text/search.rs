//! A search: what the plan leaves is read by several threads and handed over in the order of paths.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use super::file_flags::{ALWAYS, BINARY, WHOLE};
use super::hit::FileHit;
use super::lookup::Lookup;
use super::plan::Plan;
use super::postings::{Binding, Postings};
use super::query::Pattern;
use super::scan::{Part, Scanner};
use crate::index::files::{FileEntry, FileId, FileTable};
use crate::workspace::Tree;

/// Files that a thread takes at a time.
const CHUNK: usize = 16;
/// How many chunks may be done ahead of what was handed over.
const AHEAD: usize = 256;
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
    let mut jobs = Jobs::default();
    if let Some((postings, binding)) = known {
        jobs.of_plan(table, postings, binding, pattern, options);
    } else {
        let all = table.iter().filter(|entry| is_searched(entry, options));
        jobs.list.extend(all.map(|entry| Job::whole(entry.id.0)));
    }
    let postings = known.map(|(postings, _)| postings);
    if let Some(postings) = postings.filter(|_| jobs.damaged) {
        postings.note_damage();
    }
    let names = Names::Table(table);
    Run { names, postings, jobs: &jobs, pattern, options }.go(table.root(), each)
}

/// Searches files by their paths from `root`, in the order given.
pub fn search_paths(
    root: &Path,
    paths: &[Vec<u8>],
    pattern: &Pattern,
    options: &Options<'_>,
    each: &mut dyn FnMut(FileHit) -> ControlFlow<()>,
) -> Result<Summary, SearchError> {
    let list = (0..u32::try_from(paths.len()).unwrap_or(u32::MAX)).map(Job::whole).collect();
    let jobs = Jobs { list, ..Jobs::default() };
    Run { names: Names::Paths(paths), postings: None, jobs: &jobs, pattern, options }.go(root, each)
}

fn is_searched(entry: &FileEntry<'_>, options: &Options<'_>) -> bool {
    entry.stamp.is_regular() && (options.filter)(entry)
}

/// What is to be read of one file.
#[derive(Clone, Copy)]
struct Job {
    /// Its number among the names.
    file: u32,
    /// Segment, file there, and its candidates in [`Jobs::blocks`]; `None` is all of it.
    part: Option<(u32, u32, u32, u32)>,
}

impl Job {
    fn whole(file: u32) -> Job {
        Job { file, part: None }
    }
}

#[derive(Default)]
struct Jobs {
    list: Vec<Job>,
    blocks: Vec<u16>,
    damaged: bool,
}

impl Jobs {
    /// Lists what the plan does not rule out.
    fn of_plan(
        &mut self,
        table: &FileTable,
        postings: &Postings,
        binding: &Binding,
        pattern: &Pattern,
        options: &Options<'_>,
    ) {
        self.damaged = postings.is_damaged() || binding.is_damaged();
        let mut files: Vec<FileId> = [&binding.always[..], &binding.unbound].concat();
        for (place, bound) in binding.segments.iter().enumerate() {
            let before = self.list.len();
            if self.of_segment(postings, place, bound, pattern).is_err() {
                // Nothing is known then: all of its files are searched.
                self.damaged = true;
                self.list.truncate(before);
                files.extend(bound.iter().flatten());
            }
        }
        self.list.extend(files.into_iter().map(|id| Job::whole(id.0)));
        self.list.sort_unstable_by_key(|job| job.file);
        self.list.dedup_by_key(|job| job.file);
        self.list.retain(|job| is_searched(&table.get(FileId(job.file)), options));
    }

    fn of_segment(
        &mut self,
        postings: &Postings,
        place: usize,
        bound: &[Option<FileId>],
        pattern: &Pattern,
    ) -> Result<(), crate::index::store::StoreError> {
        let segment = postings.segment(place);
        let number = u32::try_from(place).unwrap_or(u32::MAX);
        if pattern.plan == Plan::All {
            for (file, id) in bound.iter().enumerate() {
                let Some(id) = id else { continue };
                if segment.row(file)?.flags & (BINARY | ALWAYS) == 0 {
                    self.list.push(Job::whole(id.0));
                }
            }
            return Ok(());
        }
        let blocks = Lookup::new(segment, pattern.reach())?.follow(&pattern.plan)?;
        let mut last = None;
        for block in blocks.iter() {
            let (file, ..) = segment.block(block)?;
            let id = bound.get(file as usize).ok_or(crate::index::store::StoreError::Damaged)?;
            let Some(id) = id else { continue };
            let start = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.blocks.push(u16::try_from(block).unwrap_or(u16::MAX));
            if last == Some(file) {
                if let Some(Job { part: Some((.., end)), .. }) = self.list.last_mut() {
                    *end = start + 1;
                }
                continue;
            }
            last = Some(file);
            let flags = segment.row(file as usize)?.flags;
            if flags & (BINARY | ALWAYS) != 0 {
                last = None;
            } else if flags & WHOLE != 0 {
                self.list.push(Job::whole(id.0));
            } else {
                self.list.push(Job { file: id.0, part: Some((number, file, start, start + 1)) });
            }
        }
        Ok(())
    }
}

/// Where the paths of files come from.
#[derive(Clone, Copy)]
enum Names<'a> {
    Table(&'a FileTable),
    Paths(&'a [Vec<u8>]),
}

impl<'a> Names<'a> {
    fn path(&self, file: u32) -> &'a [u8] {
        match self {
            Names::Table(table) => table.get(FileId(file)).path,
            Names::Paths(paths) => &paths[file as usize],
        }
    }

    fn id(&self, file: u32) -> Option<FileId> {
        matches!(self, Names::Table(_)).then_some(FileId(file))
    }
}

/// A search under way.
struct Run<'a> {
    names: Names<'a>,
    postings: Option<&'a Postings>,
    jobs: &'a Jobs,
    pattern: &'a Pattern,
    options: &'a Options<'a>,
}

/// What the threads share.
#[derive(Default)]
struct State {
    next: usize,
    handed_over: usize,
    stop: bool,
    ready: BTreeMap<usize, Done>,
}

/// What was found in one chunk.
#[derive(Default)]
struct Done {
    hits: Vec<FileHit>,
    summary: Summary,
}

impl Run<'_> {
    fn go(
        &self,
        root: &Path,
        each: &mut dyn FnMut(FileHit) -> ControlFlow<()>,
    ) -> Result<Summary, SearchError> {
        let mut summary = Summary { damaged: self.jobs.damaged, ..Summary::default() };
        let tree = Tree::open(root)
            .map_err(|source| SearchError::Root { root: root.display().to_string(), source })?;
        let mut take = |done: Done| {
            add(&mut summary, &done.summary);
            let flow = done.hits.into_iter().try_for_each(|hit| {
                summary.matched_files += 1;
                summary.matched_lines += hit.n_lines;
                each(hit)
            });
            summary.stopped |= flow.is_break();
            flow
        };
        let jobs = &self.jobs.list;
        if jobs.len() <= FEW || self.options.threads <= 1 {
            let mut scanner = Scanner::new(&tree, self.pattern, self.options);
            for job in jobs {
                if (self.options.cancelled)() {
                    return Err(SearchError::Cancelled);
                }
                if take(self.scan(&mut scanner, std::slice::from_ref(job))).is_break() {
                    break;
                }
            }
        } else {
            self.share_out(&tree, &mut take);
        }
        if (self.options.cancelled)() { Err(SearchError::Cancelled) } else { Ok(summary) }
    }

    /// Lets several threads search, and hands over in order what they find.
    fn share_out(&self, tree: &Tree, take: &mut dyn FnMut(Done) -> ControlFlow<()>) {
        let n_chunks = self.jobs.list.len().div_ceil(CHUNK);
        let (state, moved) = (Mutex::new(State::default()), Condvar::new());
        std::thread::scope(|scope| {
            for _ in 0..self.options.threads {
                scope.spawn(|| self.work(tree, &state, &moved));
            }
            for chunk in 0..n_chunks {
                let mut held = locked(&state);
                let done = loop {
                    if let Some(done) = held.ready.remove(&chunk) {
                        break Some(done);
                    }
                    if held.stop {
                        break None;
                    }
                    held = moved.wait(held).unwrap_or_else(PoisonError::into_inner);
                };
                held.handed_over = chunk + 1;
                drop(held);
                moved.notify_all();
                if done.is_none_or(|done| take(done).is_break()) {
                    break;
                }
            }
            locked(&state).stop = true;
            moved.notify_all();
        });
    }

    fn work(&self, tree: &Tree, state: &Mutex<State>, moved: &Condvar) {
        // Whoever waits is told also if this thread breaks off.
        let guard = StopOnPanic { state, moved };
        let mut scanner = Scanner::new(tree, self.pattern, self.options);
        loop {
            let mut held = locked(state);
            let chunk = held.next;
            held.next += 1;
            while !held.stop && chunk >= held.handed_over + AHEAD {
                held = moved.wait(held).unwrap_or_else(PoisonError::into_inner);
            }
            let stop = held.stop;
            drop(held);
            let start = chunk * CHUNK;
            let Some(jobs) = self.jobs.list.get(start..).filter(|jobs| !stop && !jobs.is_empty())
            else {
                break;
            };
            if (self.options.cancelled)() {
                locked(state).stop = true;
                moved.notify_all();
                break;
            }
            let done = self.scan(&mut scanner, &jobs[..jobs.len().min(CHUNK)]);
            locked(state).ready.insert(chunk, done);
            moved.notify_all();
        }
        std::mem::forget(guard);
    }

    fn scan(&self, scanner: &mut Scanner<'_>, jobs: &[Job]) -> Done {
        let mut done = Done::default();
        for job in jobs {
            let path = self.names.path(job.file);
            let whole_before = scanner.n_whole;
            let found = match (job.part, self.postings) {
                (Some((segment, file, start, end)), Some(postings)) => {
                    let blocks = &self.jobs.blocks[start as usize..end as usize];
                    let segment = postings.segment(segment as usize);
                    scanner.part(path, &Part { segment, file: file as usize, blocks })
                }
                _ => scanner.file(path),
            };
            done.summary.read_files += 1;
            done.summary.whole_files += scanner.n_whole - whole_before;
            match found {
                Ok(mut hit) => {
                    done.summary.binary_files += usize::from(hit.binary.is_some());
                    if hit.n_lines > 0 {
                        hit.id = self.names.id(job.file);
                        done.hits.push(hit);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => done.summary.unreadable_files += 1,
            }
        }
        done
    }
}

/// Stops the search when the thread that holds it breaks off.
struct StopOnPanic<'a> {
    state: &'a Mutex<State>,
    moved: &'a Condvar,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        locked(self.state).stop = true;
        self.moved.notify_all();
    }
}

fn locked(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(all: &mut Summary, part: &Summary) {
    all.read_files += part.read_files;
    all.whole_files += part.whole_files;
    all.binary_files += part.binary_files;
    all.unreadable_files += part.unreadable_files;
}
