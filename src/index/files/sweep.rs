//! Looking at a table's files again: what is as it was stays, what is not is listed anew.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use super::join::{Chains, Kept, assemble, split, stray_state};
use super::list::{Limits, Task, Walk, is_gone, list};
use super::table::{FileTable, Flags, NOWHERE, State};
use crate::workspace::scan::{Branch, Tree};

/// Folders that one thread takes at a time.
const BATCH: usize = 32;
/// A folder with at most so many files is looked at from one above it: to open and close a folder
/// takes as long as to look up that many names by longer paths.
const FEW: usize = 8;
/// How many names may lead from the opened folder to such a one.
const NEAR: usize = 2;
/// A tree with more folders to be listed anew than one in so many is listed from nothing.
const MANY: usize = 2;

/// What one look found not to be as it was.
#[derive(Default)]
struct Seen {
    /// Files with another state.
    states: Vec<(u32, State)>,
    /// Folders whose names are to be read again.
    dirty: Vec<usize>,
    /// Folders that are no more.
    gone: Vec<usize>,
}

impl Seen {
    /// Takes note of a folder that could not be opened.
    fn unopened(&mut self, index: usize, error: &io::Error) {
        if is_gone(error) {
            self.gone.push(index);
        } else {
            self.dirty.push(index);
        }
    }
}

/// Returns the table as it is now; the same one if nothing is other than it was.
///
/// # Errors
/// A root that cannot be opened any more.
pub fn refreshed(
    table: &Arc<FileTable>,
    limits: Limits,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> io::Result<Arc<FileTable>> {
    let anew = || list(&table.root, limits, cancelled).map(Arc::new);
    if table.tally.cut.is_some() || table.tally.too_deep > 0 || !table.sources.rules_hold() {
        return anew();
    }
    let walk = Walk::new(&table.root, limits, cancelled)?;
    let (mut seen, is_whole) = look(table, &walk.tree, limits.threads, cancelled);
    if !is_whole {
        return Err(io::ErrorKind::Interrupted.into());
    }
    look_beneath_gone(table, &walk.tree, &mut seen);
    let strays = StrayLook::new(table, &walk.tree);
    seen.states.extend(strays.states);
    let is_listed_anew = !seen.dirty.is_empty() || !seen.gone.is_empty();
    if !is_listed_anew && !strays.came_or_went && table.sources.index_holds() {
        return Ok(patched(table, seen.states));
    }
    if seen.dirty.len() > BATCH && seen.dirty.len() > table.marks.len() / MANY {
        return anew();
    }
    let mut folders = vec![true; table.marks.len()];
    for index in seen.dirty.iter().chain(&seen.gone) {
        folders[*index] = false;
    }
    let layout = &table.layout;
    let mut known: Vec<&[u8]> = layout.folders.iter().map(|path| &**path).collect();
    known.sort_unstable();
    let is_known = |path: &[u8]| known.binary_search(&path).is_ok();
    let mut chains = Chains::new(&walk.tree, &table.root, &table.marks, layout);
    let task = |index: &usize| {
        let path = layout.folders[*index].clone();
        let above = chains.above(&path);
        Task { path, above, flags: table.marks[*index].flags }
    };
    let tasks = seen.dirty.iter().map(task).collect();
    let found = walk.run(tasks, &is_known);
    if found.tally.cut.is_some() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let rules = found.folders.iter().map(|part| (&*part.path, part.mark.rules));
    let rules: HashMap<&[u8], u8> = rules.collect();
    let has_same_rules = |index: &usize| {
        let now = rules.get(&*layout.folders[*index]);
        now.is_none_or(|rules| *rules == table.marks[*index].rules)
    };
    if !seen.dirty.iter().all(has_same_rules) {
        return anew();
    }
    let mut states = table.states.clone();
    for (index, state) in seen.states {
        states[index as usize] = state;
    }
    let mut sources = (*table.sources).clone();
    let mut found = found;
    sources.append(std::mem::take(&mut found.sources));
    let tracked = sources.read_index(&table.root);
    let kept = Kept { table, states, folders };
    let new = assemble(&walk.tree, &table.root, Some(&kept), found, sources, &tracked);
    Ok(Arc::new(new))
}

/// Returns the table with some states replaced.
fn patched(table: &Arc<FileTable>, states: Vec<(u32, State)>) -> Arc<FileTable> {
    if states.is_empty() {
        return Arc::clone(table);
    }
    let mut new = FileTable::clone(table);
    for (index, state) in states {
        new.states[index as usize] = state;
    }
    Arc::new(new)
}

/// Looks at every folder and every file in it; false if it was broken off.
fn look(
    table: &FileTable,
    tree: &Tree,
    n_threads: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> (Seen, bool) {
    let next = AtomicUsize::new(0);
    let broken_off = AtomicBool::new(false);
    let n_folders = table.marks.len();
    let work = || {
        let mut seen = Seen::default();
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            if from >= n_folders {
                return seen;
            }
            if cancelled() {
                broken_off.store(true, Ordering::Relaxed);
                return seen;
            }
            let mut near = Near { table, tree, base: None };
            for index in from..(from + BATCH).min(n_folders) {
                near.look_at(index, &mut seen);
            }
        }
    };
    let n_threads = n_threads.min(n_folders / BATCH + 1);
    let seen = std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        let mut seen = work();
        for other in others {
            match other.join() {
                Ok(mut found) => {
                    seen.states.append(&mut found.states);
                    seen.dirty.append(&mut found.dirty);
                    seen.gone.append(&mut found.gone);
                }
                Err(_) => broken_off.store(true, Ordering::Relaxed),
            }
        }
        seen
    });
    (seen, !broken_off.into_inner())
}

/// Looks at one folder after the other, most of them from one that is opened above them.
struct Near<'a> {
    table: &'a FileTable,
    tree: &'a Tree,
    /// The path of the folder that is open.
    base: Option<(&'a [u8], Branch)>,
}

impl Near<'_> {
    fn look_at(&mut self, index: usize, seen: &mut Seen) {
        let (table, folder) = (self.table, &*self.table.layout.folders[index]);
        if table.layout.files_of(index).len() > FEW || folder.is_empty() {
            match self.tree.branch(folder) {
                Ok(branch) => {
                    look_into(table, index, &branch, seen);
                    self.base = Some((folder, branch));
                }
                Err(error) => seen.unopened(index, &error),
            }
            return;
        }
        if self.base.as_ref().and_then(|(base, _)| rest(base, folder)).is_none() {
            let above = split(folder).0;
            self.base = self.tree.branch(above).ok().map(|branch| (above, branch));
        }
        let base = self.base.as_ref();
        let near = base.and_then(|(base, branch)| Some((rest(base, folder)?, branch)));
        let mark = &table.marks[index];
        match near {
            Some((rest, branch)) if branch.stamp_beneath(rest) == Some(mark.stamp) => {
                look_at_files(table, index, branch, rest, seen);
            }
            // What became of it is told where it is opened.
            _ => look_alone(table, self.tree, index, seen),
        }
    }
}

/// Returns how `folder` goes on from `base`, if it does and that is not far.
fn rest<'a>(base: &[u8], folder: &'a [u8]) -> Option<&'a [u8]> {
    let rest = folder.strip_prefix(base)?;
    let rest = if base.is_empty() { rest } else { rest.strip_prefix(b"/")? };
    (memchr::memchr_iter(b'/', rest).count() < NEAR).then_some(rest)
}

/// Opens one folder, and looks at it and its files.
fn look_alone(table: &FileTable, tree: &Tree, index: usize, seen: &mut Seen) {
    match tree.branch(&table.layout.folders[index]) {
        Ok(branch) => look_into(table, index, &branch, seen),
        Err(error) => seen.unopened(index, &error),
    }
}

/// Looks at the folder that is open as `branch`, and at its files.
fn look_into(table: &FileTable, index: usize, branch: &Branch, seen: &mut Seen) {
    if branch.stamp().ok() == Some(table.marks[index].stamp) {
        look_at_files(table, index, branch, b"", seen);
    } else {
        seen.dirty.push(index);
    }
}

/// Looks at the files of a folder that is as it was: `folder` is its path from the one that is open
/// as `branch`.
fn look_at_files(table: &FileTable, index: usize, branch: &Branch, folder: &[u8], seen: &mut Seen) {
    let (now, layout) = (SystemTime::now(), &table.layout);
    if table.marks[index].racy {
        return seen.dirty.push(index);
    }
    let skipped = layout.folders[index].len() - folder.len();
    for file in layout.files_of(index) {
        let path = &layout.path(*file as usize)[skipped..];
        let path = path.strip_prefix(b"/").unwrap_or(path);
        let old = table.states[*file as usize];
        let Some(stamp) = branch.stamp_beneath(path).filter(|stamp| !stamp.is_folder()) else {
            // It went while this look was under way.
            return seen.dirty.push(index);
        };
        let state = State::of(stamp, old.flags, now);
        if state != old {
            seen.states.push((*file, state));
        }
    }
}

/// Opens the folders beneath those that are no more: where one has become a link, they were looked
/// up through it.
fn look_beneath_gone(table: &FileTable, tree: &Tree, seen: &mut Seen) {
    if seen.gone.is_empty() {
        return;
    }
    let folders = &table.layout.folders;
    let gone: HashSet<&[u8]> = seen.gone.iter().map(|index| &*folders[*index]).collect();
    let is_doubtful = |path: &[u8]| {
        let mut above = memchr::memchr_iter(b'/', path).map(|at| &path[..at]);
        !gone.contains(path) && above.any(|above| gone.contains(above))
    };
    let doubtful: Vec<usize> =
        (0..folders.len()).filter(|index| is_doubtful(&folders[*index])).collect();
    seen.dirty.retain(|index| doubtful.binary_search(index).is_err());
    for index in doubtful {
        look_alone(table, tree, index, seen);
    }
}

/// Whether what tells which files there are, and the tracked files that lie in no walked folder, are
/// as they were when `table` was made.
pub(super) fn holds_beside_folders(table: &FileTable) -> bool {
    let Ok(tree) = Tree::open(&table.root) else { return false };
    let strays = StrayLook::new(table, &tree);
    table.sources.rules_hold()
        && table.sources.index_holds()
        && strays.states.is_empty()
        && !strays.came_or_went
}

/// What a look at the tracked files found that lie in no walked folder.
struct StrayLook {
    states: Vec<(u32, State)>,
    /// Whether one is there that was not, or the other way round.
    came_or_went: bool,
}

impl StrayLook {
    fn new(table: &FileTable, tree: &Tree) -> StrayLook {
        let mut look = StrayLook { states: Vec::new(), came_or_went: false };
        for path in &table.sources.strays {
            let id = table.find(path);
            let id = id.filter(|id| table.layout.homes[id.0 as usize] == NOWHERE);
            match (id, stray_state(tree, path)) {
                (None, None) => {}
                (Some(id), Some(mut state)) => {
                    let old = table.states[id.0 as usize];
                    state.flags |= old.flags.without(Flags::RACY | Flags::SYMLINK | Flags::SPECIAL);
                    if old != state {
                        look.states.push((id.0, state));
                    }
                }
                (None, Some(_)) | (Some(_), None) => look.came_or_went = true,
            }
        }
        look
    }
}
