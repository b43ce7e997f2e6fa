//! A search with postings gives what a search of every file gives, whatever happens to the files.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use snick::index::files::FileTable;
use snick::index::text::{
    BuildOptions, FileHit, Options, Pattern, Postings, Summary, build, search, update,
};
use tempfile::TempDir;

use super::text_tree::{Asked, Chance, Found, asked, file, plainly, text};

const IDENTITY: &[u8] = b"this tree";

/// A tree with its index.
pub(super) struct Indexed {
    pub tree: TempDir,
    pub cache: TempDir,
}

/// Makes the options of an undisturbed build.
pub(super) fn options(progress: &AtomicU64) -> BuildOptions<'_> {
    BuildOptions { threads: 2, in_background: false, cancelled: &|| false, progress }
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
        let progress = AtomicU64::new(0);
        loop {
            let table = self.table();
            build(&table, self.cache.path(), IDENTITY, &options(&progress)).unwrap();
            let postings = Postings::open(self.cache.path(), IDENTITY).unwrap();
            if postings.bind(&table).n_unbound() == 0 {
                return;
            }
        }
    }

    pub(super) fn update(&self) {
        let table = self.table();
        let postings = Postings::open(self.cache.path(), IDENTITY).unwrap();
        let (progress, binding) = (AtomicU64::new(0), postings.bind(&table));
        update(&table, &postings, &binding, self.cache.path(), &options(&progress)).unwrap();
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
        spans: false,
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
