//! A search with postings gives what a search of every file gives, whatever happens to the files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use snick::index::files::FileTable;
use snick::index::store::{self, WriterLock};
use snick::index::text::{
    BuildError, BuildOptions, FileHit, Options, Pattern, Postings, Summary, build, search, update,
};
use tempfile::TempDir;

use super::text_tree::{Asked, Chance, Found, asked, file, plainly, text};

pub(super) const IDENTITY: &[u8] = b"this tree";

/// A tree with its index.
pub(super) struct Indexed {
    pub tree: TempDir,
    pub cache: TempDir,
}

/// Takes the right to write in `folder`.
pub(super) fn lock(folder: &Path) -> WriterLock {
    store::lock(folder, "lock").unwrap().unwrap()
}

/// Makes the options of an undisturbed build.
pub(super) fn options() -> BuildOptions<'static> {
    BuildOptions { threads: 2, in_background: false, cancelled: &|| false, progress: &|_, _| {} }
}

impl Indexed {
    /// Makes a tree of `n_files` files of all kinds.
    pub(super) fn new(chance: &mut Chance, n_files: usize) -> Indexed {
        let indexed =
            Indexed { tree: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        for number in 0..n_files {
            let path = indexed.path(number);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file(chance)).unwrap();
        }
        indexed
    }

    /// Makes a tree of small texts.
    pub(super) fn small(chance: &mut Chance, n_files: usize) -> Indexed {
        let indexed = Indexed::new(chance, 0);
        for number in 0..n_files {
            fs::write(indexed.root().join(format!("{number}.rs")), text(chance, 12)).unwrap();
        }
        indexed
    }

    pub(super) fn root(&self) -> &Path {
        self.tree.path()
    }

    pub(super) fn path(&self, number: usize) -> std::path::PathBuf {
        self.root().join(format!("{}/dir {}/file-{number}.rs", number % 3, number % 7))
    }

    pub(super) fn table(&self) -> FileTable {
        FileTable::from_walk(self.root()).unwrap()
    }

    /// Builds until the clock has moved on from the last write, so that all is described.
    pub(super) fn build(&self) {
        loop {
            let table = self.table();
            let (folder, lock) = (self.cache.path(), lock(self.cache.path()));
            build(&table, folder, IDENTITY, &lock, &options()).unwrap();
            let postings = Postings::open(self.cache.path(), IDENTITY).unwrap();
            if postings.bind(&table).n_unbound() == 0 {
                return;
            }
        }
    }

    pub(super) fn update(&self) {
        let table = self.table();
        let postings = Postings::open(self.cache.path(), IDENTITY).unwrap();
        let binding = postings.bind(&table);
        let (folder, lock) = (self.cache.path(), lock(self.cache.path()));
        update(&table, &postings, &binding, folder, &lock, &options()).unwrap();
    }

    pub(super) fn search(&self, asked: &Asked) -> Option<(Vec<Found>, Summary)> {
        found(&self.table(), Postings::open(self.cache.path(), IDENTITY).as_ref(), asked)
    }
}

/// Searches `table`; `None` if the pattern is none.
pub(super) fn found(
    table: &FileTable,
    postings: Option<&Postings>,
    asked: &Asked,
) -> Option<(Vec<Found>, Summary)> {
    let pattern = Pattern::new(&asked.pattern, asked.options).ok()?;
    let options = Options {
        threads: 2,
        context: 0,
        keep: usize::MAX,
        stop_when_full: false,
        spans: 0,
        filter: &|_| true,
        cancelled: &|| false,
    };
    let binding = postings.map(|postings| (postings, postings.bind(table)));
    let known = binding.as_ref().map(|(postings, binding)| (*postings, binding));
    let mut found = Vec::new();
    let mut each = |hit: FileHit| {
        for line in hit.lines() {
            let (mut number, mut place) = (line.number, line.offset);
            for bytes in line.bytes.split_inclusive(|byte| *byte == b'\n') {
                found.push((hit.path.clone(), number, place, bytes.to_vec()));
                number += 1;
                place += bytes.len() as u64;
            }
        }
        ControlFlow::Continue(())
    };
    let summary = search(table, known, &pattern, &options, &mut each).unwrap();
    Some((found, summary))
}

#[track_caller]
fn check(indexed: &Indexed, asked: &Asked) -> Option<Summary> {
    let expected = plainly(indexed.root(), asked);
    let found = indexed.search(asked);
    assert_eq!(found.as_ref().map(|(found, _)| found), expected.as_ref(), "{asked:?}");
    found.map(|(_, summary)| summary)
}

#[test]
fn a_thousand_patterns_find_what_a_search_of_every_file_finds() {
    let mut chance = Chance::new(1);
    let indexed = Indexed::new(&mut chance, 70);
    // One file is so large that its blocks are small.
    fs::write(indexed.root().join("large.c"), text(&mut chance, 12_000)).unwrap();
    indexed.build();
    let (mut n_read, mut n_searched) = (0, 0);
    for _ in 0..1_000 {
        let asked = asked(&mut chance);
        if let Some(summary) = check(&indexed, &asked) {
            n_read += summary.read_files;
            n_searched += 71;
        }
    }
    // Most files were ruled out, else this would prove little.
    assert!(n_read * 4 < n_searched * 3, "{n_read} of {n_searched}");
}

/// Does something to the tree, as editors, tools and people do.
fn disturb(indexed: &Indexed, chance: &mut Chance, number: usize) {
    let path = indexed.path(chance.below(40));
    let other = indexed.path(chance.below(50));
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    match chance.below(8) {
        0 => drop(fs::remove_file(path)),
        1 => drop(fs::rename(path, other)),
        2 => fs::write(path, file(chance)).unwrap(),
        3 => {
            // The same size, and the time of the last write put back.
            let Ok(mut bytes) = fs::read(&path) else { return };
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            bytes.reverse();
            fs::write(&path, bytes).unwrap();
            fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
        }
        4 => {
            let mode =
                fs::Permissions::from_mode(if number.is_multiple_of(2) { 0o755 } else { 0o644 });
            drop(fs::set_permissions(path, mode));
        }
        5 => {
            // A clock that went back.
            let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
            if let Ok(open) = fs::File::options().append(true).open(&path) {
                open.set_modified(long_ago).unwrap();
            }
        }
        6 => {
            // Twice within one tick of the clock.
            fs::write(&path, b"spin_lock first\n").unwrap();
            fs::write(&path, b"spin_lock later\n").unwrap();
        }
        _ => {
            let open = fs::File::options().append(true).create(true).open(&path);
            open.unwrap().write_all(b"fn parse_all() { TODO }\n").unwrap();
        }
    }
}

#[test]
fn after_any_change_the_answer_is_that_of_the_files_as_they_are() {
    let mut chance = Chance::new(2);
    let indexed = Indexed::new(&mut chance, 40);
    indexed.build();
    for number in 0..150 {
        for _ in 0..chance.below(4) {
            disturb(&indexed, &mut chance, number);
        }
        if chance.below(3) == 0 {
            indexed.update();
        }
        for _ in 0..2 {
            check(&indexed, &asked(&mut chance));
        }
    }
}

/// Returns the files in the index's folder.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    files.collect()
}

#[test]
fn a_writer_that_dies_leaves_the_old_index_or_the_new_one() {
    let mut chance = Chance::new(3);
    let indexed = Indexed::new(&mut chance, 40);
    indexed.build();
    let before = kept(indexed.cache.path());
    for number in 0..30 {
        disturb(&indexed, &mut chance, number);
    }
    indexed.update();
    let after = kept(indexed.cache.path());
    let is_new = |name: &&String| !before.contains_key(*name);
    let new: Vec<&String> = after.keys().filter(is_new).collect();
    // The steps of the writer: new segments one by one, each first under another name and only
    // in part; the list of them; then the removal of what it no longer names.
    let mut states = Vec::new();
    let mut state = before.clone();
    for name in &new {
        let bytes = &after[*name];
        state.insert("1-2-3.text-segment-new".to_owned(), bytes[..bytes.len() / 2].to_vec());
        states.push(state.clone());
        state.remove("1-2-3.text-segment-new");
        state.insert((*name).clone(), bytes.clone());
        states.push(state.clone());
    }
    state.insert("text".to_owned(), after["text"].clone());
    states.push(state.clone());
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        state.remove(name);
        states.push(state.clone());
    }
    assert!(states.len() > 3);
    for state in states {
        fs::remove_dir_all(indexed.cache.path()).unwrap();
        fs::create_dir(indexed.cache.path()).unwrap();
        for (name, bytes) in &state {
            fs::write(indexed.cache.path().join(name), bytes).unwrap();
        }
        for _ in 0..5 {
            check(&indexed, &asked(&mut chance));
        }
        // The next writer puts all in order.
        indexed.build();
        let names = kept(indexed.cache.path());
        assert!(names.keys().all(|name| !name.ends_with("-new")), "{:?}", names.keys());
        check(&indexed, &asked(&mut chance));
    }
}

#[test]
fn readers_are_right_while_another_writes() {
    let mut chance = Chance::new(4);
    let indexed = Indexed::new(&mut chance, 30);
    indexed.build();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..20 {
                let (table, folder) = (indexed.table(), indexed.cache.path());
                build(&table, folder, IDENTITY, &lock(folder), &options()).unwrap();
            }
        });
        while !writer.is_finished() {
            check(&indexed, &asked(&mut chance));
        }
    });
}

#[test]
fn two_writers_do_not_meet() {
    let indexed = Indexed::new(&mut Chance::new(5), 3);
    indexed.build();
    let (folder, table) = (indexed.cache.path(), indexed.table());
    let lock = lock(folder);
    assert!(store::lock(folder, "lock").unwrap().is_none());
    let old = Postings::open(folder, IDENTITY).unwrap();
    build(&table, folder, IDENTITY, &lock, &options()).unwrap();
    // What one opened before the other wrote is not what it may build upon.
    let updated = update(&table, &old, &old.bind(&table), folder, &lock, &options());
    assert!(matches!(updated, Err(BuildError::Busy)));
    drop(lock);
    assert!(store::lock(folder, "lock").unwrap().is_some());
}

#[test]
fn a_build_that_is_stopped_keeps_what_was_there() {
    let indexed = Indexed::new(&mut Chance::new(6), 70);
    indexed.build();
    let before = kept(indexed.cache.path());
    let n_read = AtomicU64::new(0);
    let options = BuildOptions {
        cancelled: &|| n_read.load(Ordering::Relaxed) > 0,
        progress: &|done, _| n_read.store(done, Ordering::Relaxed),
        ..options()
    };
    let folder = indexed.cache.path();
    let built = build(&indexed.table(), folder, IDENTITY, &lock(folder), &options);
    assert!(matches!(built, Err(BuildError::Cancelled)));
    assert_eq!(kept(indexed.cache.path()), before);
}
