//! Any bytes in the place of what an index keeps, with and without right checksums: nothing breaks off, and no
//! line is found that is not there.

#![no_main]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use snick::index::files::git_index::Tracked;
use snick::index::files::{FileTable, Limits, refreshed};
use snick::index::store::{self, Reader, Writer};
use snick::index::text::{
    BuildOptions, FileHit, Options, Pattern, PatternOptions, Postings, build, search,
};
use tempfile::TempDir;

const IDENTITY: &[u8] = b"fuzzed";
const SEGMENT: [u8; 4] = *b"TXTS";
const TABLE: [u8; 4] = *b"file";
const SEGMENT_SECTIONS: [[u8; 4]; 6] = [*b"INFO", *b"FILE", *b"PATH", *b"BLOK", *b"GRAM", *b"LIST"];
const TABLE_SECTIONS: [[u8; 4]; 3] = [*b"fold", *b"file", *b"from"];
const PATTERNS: [&str; 5] = ["two", "needle.*hay", "[a-z]+_irq", "(?i)THREE\\nfour", "."];

/// A small tree, and what a sound index keeps of it.
struct Place {
    tree: TempDir,
    kept: TempDir,
    table: Arc<FileTable>,
    segment: String,
    sections: Vec<Vec<u8>>,
    table_sections: Vec<Vec<u8>>,
    patterns: Vec<Pattern>,
}

static PLACE: LazyLock<Option<Place>> = LazyLock::new(Place::new);

impl Place {
    fn new() -> Option<Place> {
        let (tree, kept) = (tempfile::tempdir().ok()?, tempfile::tempdir().ok()?);
        let root = tree.path().canonicalize().ok()?;
        std::fs::create_dir_all(root.join("a/b")).ok()?;
        for (path, text) in [
            ("one", "one\ntwo\nthree\nfour\n".repeat(2_000)),
            ("a/two", "a needle in hay\nspin_lock_irq\n".to_owned()),
            ("a/b/three", "\u{feff}two with a mark\n".to_owned()),
            ("binary", "two\0".to_owned()),
            ("empty", String::new()),
        ] {
            std::fs::write(root.join(path), text).ok()?;
        }
        let lock = store::lock(kept.path(), "lock").ok()??;
        let table = loop {
            let table = Arc::new(FileTable::from_walk(&root).ok()?);
            let options = BuildOptions {
                threads: 1,
                in_background: false,
                cancelled: &|| false,
                progress: &|_, _| {},
            };
            build(&table, kept.path(), IDENTITY, &lock, &options).ok()?;
            if Postings::open(kept.path(), IDENTITY)?.bind(&table).n_unbound() == 0 {
                break table;
            }
        };
        table.save(&kept.path().join("files"), IDENTITY).ok()?;
        let names = std::fs::read_dir(kept.path()).ok()?.flatten();
        let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let segment = names.find(|name| name.ends_with("text-segment"))?;
        let sections = |name: &str, kind, tags: &[[u8; 4]]| -> Option<Vec<Vec<u8>>> {
            let reader = Reader::open(&kept.path().join(name), kind, 1, IDENTITY).ok()?;
            tags.iter().map(|tag| reader.section(*tag).ok().map(<[u8]>::to_vec)).collect()
        };
        Some(Place {
            sections: sections(&segment, SEGMENT, &SEGMENT_SECTIONS)?,
            table_sections: sections("files", TABLE, &TABLE_SECTIONS)?,
            patterns: PATTERNS
                .iter()
                .filter_map(|pattern| Pattern::new(pattern, PatternOptions::default()).ok())
                .collect(),
            tree,
            kept,
            table,
            segment,
        })
    }

    fn write(&self, name: &str, kind: [u8; 4], tags: &[[u8; 4]], sections: Vec<Vec<u8>>) {
        let mut writer = Writer::new(kind, 1, IDENTITY);
        for (tag, bytes) in tags.iter().zip(sections) {
            writer.section(*tag, bytes);
        }
        // What is not written is not there, which is one more case.
        writer.write(&self.kept.path().join(name)).ok();
    }

    /// Searches with what stands there now; every line that is found must be in its file.
    fn search(&self, choice: u8) {
        let Some(pattern) = self.patterns.get(usize::from(choice) % self.patterns.len()) else {
            return;
        };
        let Some(postings) = Postings::open(self.kept.path(), IDENTITY) else { return };
        let binding = postings.bind(&self.table);
        let options = Options {
            threads: 1,
            context: usize::from(choice > 200),
            keep: 10_000,
            stop_when_full: false,
            spans: usize::MAX,
            filter: &|_| true,
            cancelled: &|| false,
        };
        let mut each = |hit: FileHit| {
            let path = String::from_utf8_lossy(&hit.path).into_owned();
            let whole = std::fs::read(self.tree.path().join(path)).unwrap_or_default();
            for line in hit.lines() {
                let is_there = whole.windows(line.bytes.len()).any(|part| part == line.bytes)
                    || whole.starts_with(&[0xEF, 0xBB, 0xBF]);
                assert!(is_there, "{line:?}");
            }
            ControlFlow::Continue(())
        };
        let known = Some((&postings, &binding));
        assert!(search(&self.table, known, pattern, &options, &mut each).is_ok());
    }

    /// Reads the table that stands there now, and looks at its files again.
    fn table(&self) {
        let root = self.table.root();
        let Ok(table) = FileTable::load(&self.kept.path().join("files"), root, IDENTITY) else {
            return;
        };
        for file in table.iter() {
            table.find(file.path);
        }
        let limits = Limits { threads: 1, ..Limits::default() };
        let new = refreshed(&Arc::new(table), limits, &|| false);
        assert!(new.is_ok());
    }
}

/// Changes sections as `data` says: which one, where, how, and with what.
fn changed(sections: &[Vec<u8>], data: &[u8]) -> Vec<Vec<u8>> {
    let mut sections = sections.to_vec();
    let n_sections = sections.len();
    for step in data.chunks_exact(8) {
        let Some(bytes) = sections.get_mut(usize::from(step[0]) % n_sections) else { continue };
        let at = usize::from(u16::from_le_bytes([step[2], step[3]]));
        let at = at.checked_rem(bytes.len()).unwrap_or(0);
        match step[1] % 5 {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_slice(&step[4..]),
            2 => bytes.iter_mut().skip(at).zip(&step[4..]).for_each(|(old, new)| *old = *new),
            3 => bytes.iter_mut().skip(at).zip(&step[4..]).for_each(|(old, new)| *old ^= *new),
            _ => drop(bytes.splice(at..at, step[4..].iter().copied())),
        }
    }
    sections
}

fn put(path: &Path, bytes: &[u8]) {
    // In the place of another, as a writer does: what is mapped stays whole.
    let other = path.with_extension("other");
    if std::fs::write(&other, bytes).is_ok() {
        std::fs::rename(other, path).ok();
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(place) = LazyLock::force(&PLACE) else { return };
    let [what, choice, data @ ..] = data else { return };
    match what % 5 {
        0 => drop(Tracked::decode(data, &mut |_| Some(data.to_vec()))),
        1 => {
            put(&place.kept.path().join(&place.segment), data);
            place.search(*choice);
        }
        2 => {
            put(&place.kept.path().join("files"), data);
            place.table();
        }
        3 => {
            let sections = changed(&place.table_sections, data);
            place.write("files", TABLE, &TABLE_SECTIONS, sections);
            place.table();
        }
        _ => {
            let sections = changed(&place.sections, data);
            place.write(&place.segment, SEGMENT, &SEGMENT_SECTIONS, sections);
            place.search(*choice);
        }
    }
});
