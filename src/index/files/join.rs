//! What was kept of a table, what a walk found and what git tracks, put together into one table.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::git_index::Tracked;
use super::list::Part;
use super::rules::{NAMES, Rules, Said, Sources};
use super::table::{FileTable, Flags, Layout, Mark, NOWHERE, State, Tally};
use crate::index::snapshot::Cut;
use crate::workspace::Stamp;
use crate::workspace::scan::{Tree, joined};

/// The name of Snick's own file with rules.
const SNICK_RULES: &str = ".snickignore";

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) folders: Vec<Part>,
    pub(super) sources: Sources,
    pub(super) tally: Tally,
}

/// A table of which some folders are kept, with what is known of each file by now.
pub(super) struct Kept<'a> {
    pub(super) table: &'a FileTable,
    pub(super) states: Vec<State>,
    /// Whether each folder is kept.
    pub(super) folders: Vec<bool>,
}

/// One file on its way into a table.
#[derive(Clone, Copy)]
struct Item<'a> {
    path: &'a [u8],
    home: u32,
    state: State,
}

/// Puts a table together.
pub(super) fn assemble(
    tree: &Tree,
    root: &Path,
    kept: Option<&Kept<'_>>,
    found: Parts,
    mut sources: Sources,
    tracked: &Tracked,
) -> FileTable {
    let Parts { folders: parts, tally, .. } = found;
    let mut layout = Layout::default();
    let mut marks = Vec::new();
    let mut items = Vec::new();
    if let Some(kept) = kept {
        let homes = kept_folders(kept, &mut layout, &mut marks);
        let old = &kept.table.layout;
        for (index, home) in old.homes.iter().enumerate() {
            if let Some(home) = homes.get(*home as usize).copied().filter(|home| *home != NOWHERE) {
                items.push(Item { path: old.path(index), home, state: kept.states[index] });
            }
        }
    }
    let fresh = Fresh::new(&parts, marks.len());
    layout.folders.extend(parts.iter().map(|part| part.path.clone()));
    marks.extend(parts.iter().map(|part| part.mark));
    let mut items = merged(items, fresh.items());
    let places = layout.sort_folders(&mut marks);
    let unreadable = marks.iter().filter(|mark| !mark.readable).count();
    let mut tally = Tally { unreadable: u32::try_from(unreadable).unwrap_or(u32::MAX), ..tally };
    let mut strays = mark_tracked(&mut items, tracked);
    let found = stray_items(tree, root, &marks, &layout, &mut strays, &mut sources);
    let items = merged(items, found);
    sources.strays = strays.into_iter().map(Box::from).collect();
    let mut states = Vec::with_capacity(items.len());
    layout.ends.reserve_exact(items.len());
    layout.homes.reserve_exact(items.len());
    for item in items {
        let home = places.get(item.home as usize).copied().unwrap_or(NOWHERE);
        if !layout.push(item.path, home) {
            tally.cut = Some(Cut::Files);
            break;
        }
        states.push(item.state);
    }
    layout.names.shrink_to_fit();
    layout.group_files();
    let (layout, sources) = (Arc::new(layout), Arc::new(sources));
    FileTable { root: root.to_owned(), layout, states, marks, sources, tally }
}

/// Takes the folders over that are kept; returns the new number of each.
fn kept_folders(kept: &Kept<'_>, layout: &mut Layout, marks: &mut Vec<Mark>) -> Vec<u32> {
    let old = &kept.table.layout.folders;
    let old = old.iter().map(|path| &**path);
    let pairs = old.zip(&kept.table.marks).zip(&kept.folders);
    let take = |((path, mark), is_kept): ((&[u8], &Mark), &bool)| {
        if !is_kept {
            return NOWHERE;
        }
        layout.folders.push(path.into());
        marks.push(*mark);
        u32::try_from(marks.len() - 1).unwrap_or(NOWHERE)
    };
    pairs.map(take).collect()
}

/// The files of walked folders, with their whole paths, in order.
struct Fresh<'a> {
    names: Vec<u8>,
    runs: Vec<Run<'a>>,
    n_files: usize,
}

/// Files of one folder that follow one another in the order of all paths.
struct Run<'a> {
    part: &'a Part,
    home: u32,
    files: Range<usize>,
    /// Where the path of the first one stands, for sorting.
    first: Range<usize>,
}

impl<'a> Fresh<'a> {
    /// Takes the files of folders of which the first gets the number `from`.
    fn new(parts: &'a [Part], from: usize) -> Fresh<'a> {
        let (mut firsts, mut runs) = (Vec::new(), Vec::new());
        for (part, home) in parts.iter().zip(from..) {
            let home = u32::try_from(home).unwrap_or(NOWHERE);
            for files in part.runs() {
                let start = firsts.len();
                let first = part.files(files.clone()).next().map_or(&[][..], |(name, _)| name);
                put_path(&mut firsts, &part.path, first);
                runs.push(Run { part, home, files, first: start..firsts.len() });
            }
        }
        let path = |run: &Run<'_>| &firsts[run.first.clone()];
        runs.sort_unstable_by(|left, right| path(left).cmp(path(right)));
        let (mut names, mut n_files) = (Vec::new(), 0);
        for run in &runs {
            n_files += run.files.len();
            for (name, _) in run.part.files(run.files.clone()) {
                put_path(&mut names, &run.part.path, name);
            }
        }
        Fresh { names, runs, n_files }
    }

    fn items(&self) -> Vec<Item<'_>> {
        let mut items = Vec::with_capacity(self.n_files);
        let mut rest = &self.names[..];
        for run in &self.runs {
            let folder = run.part.path.len();
            let folder = if folder == 0 { 0 } else { folder + 1 };
            for (name, state) in run.part.files(run.files.clone()) {
                let (path, others) = rest.split_at(folder + name.len());
                rest = others;
                items.push(Item { path, home: run.home, state });
            }
        }
        items
    }
}

/// Adds the path of what is called `name` in `folder`.
fn put_path(names: &mut Vec<u8>, folder: &[u8], name: &[u8]) {
    if !folder.is_empty() {
        names.extend_from_slice(folder);
        names.push(b'/');
    }
    names.extend_from_slice(name);
}

/// Merges two lists that are in order.
fn merged<'a>(left: Vec<Item<'a>>, right: Vec<Item<'a>>) -> Vec<Item<'a>> {
    if left.is_empty() || right.is_empty() {
        return if left.is_empty() { right } else { left };
    }
    let mut all = Vec::with_capacity(left.len() + right.len());
    let mut right = right.into_iter().peekable();
    for item in left {
        while let Some(before) = right.next_if(|other| other.path < item.path) {
            all.push(before);
        }
        all.push(item);
    }
    all.extend(right);
    all
}

/// Flags what git tracks; returns the tracked paths that no walk found.
fn mark_tracked<'a>(items: &mut [Item<'_>], tracked: &'a Tracked) -> Vec<&'a [u8]> {
    let mut strays = Vec::new();
    let git = Flags::TRACKED | Flags::SUBMODULE | Flags::SKIPPED | Flags::INTENDED;
    for item in items.iter_mut() {
        item.state.flags = item.state.flags.without(git);
    }
    let mut at = 0;
    for (path, flags) in tracked.iter() {
        while items.get(at).is_some_and(|item| item.path < path) {
            at += 1;
        }
        if flags.has(Flags::SUBMODULE) {
            // Between a folder and what is beneath it other names may stand, such as `a-b`.
            let beneath = [path, b"/"].concat();
            let from = at + items[at..].partition_point(|item| *item.path < *beneath);
            let inside = items[from..].iter_mut();
            for item in inside.take_while(|item| item.path.starts_with(&beneath)) {
                item.state.flags |= Flags::SUBMODULE;
            }
        } else if let Some(item) = items.get_mut(at).filter(|item| item.path == path) {
            item.state.flags |= flags.without(Flags::SYMLINK);
        } else if !flags.any(Flags::SKIPPED | Flags::FOLDER) {
            strays.push(path);
        }
    }
    strays
}

/// Looks up tracked files that no walk found: they are in ignored folders, ignored themselves, or gone.
///
/// Those that `.snickignore` names are struck from `strays`.
fn stray_items<'a>(
    tree: &Tree,
    root: &Path,
    marks: &[Mark],
    layout: &Layout,
    strays: &mut Vec<&'a [u8]>,
    sources: &mut Sources,
) -> Vec<Item<'a>> {
    sources.stray_rules.clear();
    let mut items = Vec::new();
    if strays.is_empty() {
        return items;
    }
    let mut chains = Chains::new(tree, root, marks, layout);
    strays.retain(|path| {
        let Some(state) = stray_state(tree, path) else { return true };
        if chains.is_shut(path) {
            return false;
        }
        items.push(Item { path, home: NOWHERE, state });
        true
    });
    sources.stray_rules = chains.watched;
    items
}

/// Looks up one tracked file that no walk found.
pub(super) fn stray_state(tree: &Tree, path: &[u8]) -> Option<State> {
    let (folder, name) = split(path);
    let stamp = tree.branch(folder).ok()?.stamp_of(name)?;
    let hidden = path.split(|byte| *byte == b'/').any(|name| name.starts_with(b"."));
    let hidden = if hidden { Flags::HIDDEN } else { Flags::default() };
    let flags = Flags::TRACKED | Flags::IGNORED | hidden;
    (!stamp.is_folder()).then(|| State::of(stamp, flags, SystemTime::now()))
}

/// Parts a path into its folder and its name.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

impl State {
    /// Makes it of what was looked up at `now`, and of what the folder's path says.
    pub(super) fn of(stamp: Stamp, flags: Flags, now: SystemTime) -> State {
        let mut flags = flags.without(Flags::SYMLINK | Flags::SPECIAL | Flags::RACY);
        if stamp.is_link() {
            flags |= Flags::SYMLINK;
        } else if !stamp.is_regular() {
            flags |= Flags::SPECIAL;
        }
        if stamp.is_racy(now) {
            flags |= Flags::RACY;
        }
        State { stamp, flags }
    }
}

/// The rules of folders, made again one by one where they are asked for.
pub(super) struct Chains<'a> {
    tree: &'a Tree,
    root: &'a Path,
    /// Which files with rules stand in the folders that are known.
    known: HashMap<&'a [u8], u8>,
    made: HashMap<Vec<u8>, Arc<Rules>>,
    global: Arc<Rules>,
    /// Files with rules in folders that are not walked, and what stands there.
    watched: Vec<(PathBuf, Option<Stamp>)>,
}

impl<'a> Chains<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        root: &'a Path,
        marks: &[Mark],
        layout: &'a Layout,
    ) -> Chains<'a> {
        let known = layout.folders.iter().zip(marks).map(|(path, mark)| (&**path, mark.rules));
        Chains {
            tree,
            root,
            known: known.collect(),
            made: HashMap::new(),
            global: Rules::global(&mut Sources::default()),
            watched: Vec::new(),
        }
    }

    /// Returns the rules that hold in `folder`.
    pub(super) fn of(&mut self, folder: &[u8]) -> Arc<Rules> {
        if let Some(made) = self.made.get(folder) {
            return Arc::clone(made);
        }
        let above = self.above(folder);
        let marks = self.known.get(folder).copied();
        let mut rules = Arc::clone(&above);
        if marks != Some(0)
            && let Ok(branch) = self.tree.branch(folder)
        {
            let probe =
                |(place, name): (usize, &&[u8])| u8::from(branch.followed(name).is_some()) << place;
            let probed = || NAMES.iter().enumerate().map(probe).sum();
            let marks = marks.unwrap_or_else(probed);
            if !self.known.contains_key(folder) {
                let path = joined(self.root, folder).join(SNICK_RULES);
                let stamp = Stamp::followed(&path);
                self.watched.push((path, stamp));
            }
            let mut sources = Sources::default();
            let made = Rules::of(&above, self.root, folder, &branch, marks, &mut sources);
            rules = made.unwrap_or(rules);
        }
        self.made.insert(folder.to_vec(), Arc::clone(&rules));
        rules
    }

    /// Returns the rules that hold in the folder above `folder`.
    pub(super) fn above(&mut self, folder: &[u8]) -> Arc<Rules> {
        if folder.is_empty() {
            return Arc::clone(&self.global);
        }
        self.of(split(folder).0)
    }

    /// Whether a `.snickignore` names `path` or a folder on the way to it.
    fn is_shut(&mut self, path: &[u8]) -> bool {
        let folders = memchr::memchr_iter(b'/', path).map(|at| (&path[..at], true));
        folders
            .chain(std::iter::once((path, false)))
            .any(|(part, is_folder)| self.above(part).judge(part, is_folder) == Said::Shut)
    }
}
