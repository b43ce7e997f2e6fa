//! What a search has to read, in the order of paths: planned as far ahead as it is needed.

use super::file_flags::{ALWAYS, BINARY, WHOLE};
use super::lookup::Lookup;
use super::plan::Plan;
use super::postings::{Binding, Postings};
use super::query::Pattern;
use super::search::Options;
use crate::index::files::{FileEntry, FileId, FileTable};
use crate::index::store::StoreError;

/// A search that may end early is planned on once fewer files than this are to be read.
const FEWEST: usize = 64;

/// What is to be read of one file.
#[derive(Clone, Copy)]
pub(super) struct Job {
    /// Its number among the names.
    pub file: u32,
    /// Segment, file there, and its candidates in [`Planner::blocks`]; `None` is all of it.
    pub part: Option<(u32, u32, u32, u32)>,
}

impl Job {
    pub(super) fn whole(file: u32) -> Job {
        Job { file, part: None }
    }
}

/// Files of one stage of a search.
pub(super) enum Stage {
    /// So many files, each of which is looked at when it is its turn.
    Every(usize),
    These(Vec<Job>),
}

impl Stage {
    pub(super) fn len(&self) -> usize {
        match self {
            Stage::Every(n_files) => *n_files,
            Stage::These(jobs) => jobs.len(),
        }
    }
}

pub(super) fn is_searched(entry: &FileEntry<'_>, options: &Options<'_>) -> bool {
    entry.stamp.is_regular() && (options.filter)(entry)
}

/// Says which files a pattern needs, stage by stage.
pub(super) struct Planner<'a> {
    table: &'a FileTable,
    known: Option<(&'a Postings, &'a Binding)>,
    pattern: &'a Pattern,
    /// What the pattern needs, the rarest first once a segment was asked.
    plan: Plan,
    options: &'a Options<'a>,
    /// The segments with the first file of each, in the order of those.
    order: &'a [(FileId, usize)],
    /// How many of these were asked.
    n_asked: usize,
    /// Jobs of later stages.
    ahead: Vec<Job>,
    is_done: bool,
    /// Candidates of all jobs so far.
    pub blocks: Vec<u16>,
    /// Whether something was found damaged, and is not used.
    pub damaged: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        table: &'a FileTable,
        known: Option<(&'a Postings, &'a Binding)>,
        pattern: &'a Pattern,
        options: &'a Options<'a>,
    ) -> Planner<'a> {
        let mut planner = Planner {
            table,
            known,
            pattern,
            plan: pattern.plan.clone(),
            options,
            order: &[],
            n_asked: 0,
            ahead: Vec::new(),
            is_done: false,
            blocks: Vec::new(),
            damaged: false,
        };
        if let Some((postings, binding)) = known {
            planner.damaged = postings.is_damaged() || binding.is_damaged();
            if planner.plan != Plan::All {
                // Links are among them, and as many more as are not asked for: for those no thread
                // is begun.
                let whole = binding.always.iter().chain(&binding.unbound);
                let whole = whole.filter(|id| is_searched(&table.get(**id), options));
                planner.ahead.extend(whole.map(|id| Job::whole(id.0)));
                planner.order = &binding.firsts;
            }
        }
        planner
    }

    /// Returns the files that come next; `None` if there are no more.
    pub(super) fn next(&mut self) -> Option<Stage> {
        if self.is_done {
            return None;
        }
        let (Some((postings, binding)), false) = (self.known, self.plan == Plan::All) else {
            self.is_done = true;
            return Some(Stage::Every(self.table.len()));
        };
        loop {
            if let Some((_, place)) = self.order.get(self.n_asked) {
                self.ask(postings, binding, *place);
                self.n_asked += 1;
            }
            // What comes before the first file of the next segment is all known.
            let end = self.order.get(self.n_asked).map(|(first, _)| first.0);
            if end.is_some() && !self.options.stop_when_full {
                continue;
            }
            // Those of each segment are in order; of two for one file, that of all of it is first.
            self.ahead.sort_by_key(|job| job.file);
            self.ahead.dedup_by_key(|job| job.file);
            let n_ready = end
                .map_or(self.ahead.len(), |end| self.ahead.partition_point(|job| job.file < end));
            if end.is_some() && n_ready < FEWEST {
                continue;
            }
            self.is_done = end.is_none();
            let later = self.ahead.split_off(n_ready);
            return Some(Stage::These(std::mem::replace(&mut self.ahead, later)));
        }
    }

    /// Adds the files of one segment that the plan leaves.
    fn ask(&mut self, postings: &Postings, binding: &Binding, place: usize) {
        let before = self.ahead.len();
        let bound = &binding.segments[place];
        if self.follow(postings, place, bound).is_err() {
            // Nothing is known then: all of its files are searched.
            self.damaged = true;
            self.ahead.truncate(before);
            self.ahead.extend(bound.iter().flatten().map(|id| Job::whole(id.0)));
        }
    }

    fn follow(
        &mut self,
        postings: &Postings,
        place: usize,
        bound: &[Option<FileId>],
    ) -> Result<(), StoreError> {
        let segment = postings.segment(place);
        let number = u32::try_from(place).unwrap_or(u32::MAX);
        let lookup = Lookup::new(segment, self.pattern.reach())?;
        if self.n_asked == 0 {
            lookup.order(&mut self.plan)?;
        }
        let mut last = None;
        for block in lookup.follow(&self.plan)? {
            let (file, ..) = segment.block(usize::from(block))?;
            let id = bound.get(file as usize).ok_or(StoreError::Damaged)?;
            let Some(id) = id else { continue };
            let start = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
            self.blocks.push(block);
            if last == Some(file) {
                if let Some(Job { part: Some((.., end)), .. }) = self.ahead.last_mut() {
                    *end = start + 1;
                }
                continue;
            }
            last = Some(file);
            self.ahead.push(Job { file: id.0, part: Some((number, file, start, start + 1)) });
        }
        Ok(())
    }

    /// Returns a job of a stage; `None` if that file is not to be read.
    ///
    /// # Errors
    /// Damage: then the file is to be searched as the job says that is handed back.
    pub(super) fn job(&self, stage: &Stage, place: usize) -> Result<Option<Job>, Job> {
        let planned = match stage {
            Stage::These(jobs) => jobs.get(place).copied(),
            Stage::Every(_) => u32::try_from(place).ok().map(Job::whole),
        };
        let Some(job) = planned else { return Ok(None) };
        if !is_searched(&self.table.get(FileId(job.file)), self.options) {
            return Ok(None);
        }
        let whole = Job::whole(job.file);
        let known = self.known.and_then(|(postings, binding)| {
            let (segment, file) = binding.place(FileId(job.file))?;
            Some(postings.segment(segment).row(file))
        });
        let flags = known.transpose().map_err(|_| whole)?.map_or(0, |row| row.flags);
        if flags & BINARY != 0 {
            return Ok(None);
        }
        Ok(Some(if flags & (ALWAYS | WHOLE) == 0 { job } else { whole }))
    }
}
