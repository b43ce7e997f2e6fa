//! Any bytes in the place of what an index keeps, with and without right checksums: nothing breaks off, no line is
//! found that is not there, and what a checksum shows to be damaged changes no answer.

#![no_main]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use snick::index::files::git_index::Tracked;
use snick::index::files::{FileTable, Limits, refreshed};
use snick::index::layers::Building;
use snick::index::store::{Writer, WriterLock};
use snick::index::symbols::{self, BuildOptions, Query, Stored};
use snick::index::text::{FileHit, Options, Pattern, PatternOptions, Postings, search};
use snick::index::{self, Index, IndexFolder, map};
use tempfile::TempDir;

/// What is searched for; all but the last are found in one way or another.
const PATTERNS: [&str; 6] =
    ["two", "needle.*hay", "[a-z]+_irq", "(?i)THREE\\nfour", "^o", "nothing at all"];
/// Names that are looked up: whole, in the middle, of a container, and none.
const NAMES: [&str; 5] = ["Parser", "pars", "Parser.next", "nxt", "zzz"];
/// Bytes before the identity in the header of a kept file, and of one row of its table.
const FIXED: usize = 40;
const ROW: usize = 24;

/// A small tree, and what a sound index keeps of it.
struct Place {
    // Removes everything in the end.
    tree: TempDir,
    _cache: TempDir,
    folder: IndexFolder,
    lock: WriterLock,
    table: Arc<FileTable>,
    kept: Vec<Kept>,
    patterns: Vec<Pattern>,
    /// What is found without an index: of each pattern, then of each name.
    lines: Vec<Vec<String>>,
    definitions: Vec<String>,
    /// The map about one of the files.
    map: String,
}

/// One sound file of an index.
struct Kept {
    name: String,
    whole: Vec<u8>,
    kind: [u8; 4],
    version: u32,
    sections: Vec<([u8; 4], Vec<u8>)>,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| Place::new().expect("a sound index"));

/// Makes a folder in memory, where there is any: what is written is not synced to a disk then.
fn folder() -> Option<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).ok()
}

impl Place {
    fn new() -> Option<Place> {
        let (tree, cache) = (folder()?, folder()?);
        let root = tree.path().canonicalize().ok()?;
        std::fs::create_dir_all(root.join("a/b")).ok()?;
        for (path, text) in [
            ("one", "one\ntwo\nthree\nfour\n".repeat(2_000)),
            ("a/two.rs", "struct Parser;\nimpl Parser {\n    fn next() {}\n}\n".to_owned()),
            ("a/four.py", "class Parser:\n    def next(self):\n        parse()\n".to_owned()),
            ("a/hay", "a needle in hay\nspin_lock_irq\n".to_owned()),
            ("a/b/three", "\u{feff}two with a mark\n".to_owned()),
            ("binary", "two\0".to_owned()),
            ("empty", String::new()),
            (".gitignore", "*.o\n".to_owned()),
        ] {
            std::fs::write(root.join(path), text).ok()?;
        }
        let options = index::Options { background: false, ..index::Options::default() };
        let index = Index::open(&root, Some(cache.path()), options);
        let folder = index.folder()?;
        let table = loop {
            // Until no file is so new that its stamp proves nothing.
            let table = index.rebuild(&|_| {}, &|| false).ok()?;
            if Postings::open(folder.path(), folder.identity())?.bind(&table).n_unbound() == 0 {
                break table;
            }
        };
        let names = folder.sizes().into_iter();
        let kept: Option<Vec<Kept>> = names.map(|(name, _)| Kept::read(&folder, name)).collect();
        let patterns = PATTERNS.iter().map(|text| Pattern::new(text, PatternOptions::default()));
        let mut place = Place {
            lock: folder.lock_or_fail().ok()?,
            kept: kept?,
            patterns: patterns.collect::<Result<_, _>>().ok()?,
            tree,
            _cache: cache,
            folder,
            table,
            lines: Vec::new(),
            definitions: Vec::new(),
            map: String::new(),
        };
        place.lines = place.patterns.iter().map(|pattern| place.lines(pattern, None, 0)).collect();
        place.definitions = NAMES.iter().map(|name| place.definitions(name, None)).collect();
        place.map = place.focused(None);
        Some(place)
    }

    fn stored(&self) -> Option<Stored> {
        Stored::open(self.folder.path(), self.folder.identity())
    }

    /// Searches with what stands there now.
    fn search(&self, choice: usize) -> Vec<String> {
        let postings = Postings::open(self.folder.path(), self.folder.identity());
        let context = usize::from(choice > 200);
        self.lines(&self.patterns[choice % self.patterns.len()], postings.as_ref(), context)
    }

    /// Returns the lines that match; all lines that are found must be in their files.
    fn lines(
        &self,
        pattern: &Pattern,
        postings: Option<&Postings>,
        context: usize,
    ) -> Vec<String> {
        let binding = postings.map(|postings| postings.bind(&self.table));
        let options = Options {
            threads: 1,
            context,
            keep: 10_000,
            stop_when_full: false,
            spans: usize::MAX,
            filter: &|_| true,
            cancelled: &|| false,
        };
        let mut lines = Vec::new();
        let mut each = |hit: FileHit| {
            let path = String::from_utf8_lossy(&hit.path).into_owned();
            let whole = std::fs::read(self.tree.path().join(&path)).unwrap_or_default();
            let at = |place: u64| usize::try_from(place).ok().and_then(|at| whole.get(at..));
            for line in hit.lines() {
                let is_there = at(line.offset).is_some_and(|rest| rest.starts_with(line.bytes))
                    || whole.starts_with(&[0xEF, 0xBB, 0xBF]);
                assert!(is_there, "{line:?}");
                if line.is_match {
                    lines.push(format!("{path}:{}:{}", line.number, line.offset));
                }
            }
            ControlFlow::Continue(())
        };
        let known = postings.zip(binding.as_ref());
        assert!(search(&self.table, known, pattern, &options, &mut each).is_ok());
        lines
    }

    /// Looks a name up with what stands there now.
    fn definitions(&self, name: &str, stored: Option<&Stored>) -> String {
        let query = Query { name: name.to_owned(), limit: 9, ..Query::default() };
        let options = BuildOptions { threads: 1, cancelled: &|| false };
        let found = symbols::definitions(&self.table, stored, &query, None, &options).expect("an answer");
        format!("{found:?}")
    }

    /// Renders the map about one of the files with what stands there now.
    fn focused(&self, stored: Option<&Stored>) -> String {
        let focus = map::Focus { files: vec![b"a/two.rs".to_vec()], names: Vec::new() };
        let options = BuildOptions { threads: 1, cancelled: &|| false };
        map::render(&self.table, stored, &focus, map::BUDGET, &options).expect("a map")
    }

    /// Reads the map that stands there now, and has it made anew if it is too old.
    fn map(&self) {
        map::kept(self.folder.path(), self.folder.identity());
        let building =
            Building { lock: &self.lock, threads: 1, cancelled: &|| false, progress: &|_| {} };
        assert!(map::update(&self.table, &self.folder, &building).is_ok());
    }

    /// Reads the table that stands there now, and looks at its files again.
    fn table(&self) -> Option<Arc<FileTable>> {
        let (root, file) = (self.table.root(), self.folder.file("files"));
        let table = FileTable::load(&file, root, self.folder.identity()).ok()?;
        for file in table.iter() {
            table.find(file.path);
        }
        let limits = Limits { threads: 1, ..Limits::default() };
        let new = refreshed(&Arc::new(table), limits, &|| false);
        assert!(new.is_ok());
        new.ok()
    }

    /// Uses what stands there now in the way that the file `name` is used.
    fn ask(&self, name: &str, choice: u8) {
        match name {
            "files" => drop(self.table()),
            "map" => self.map(),
            "graph" => drop(self.focused(self.stored().as_ref())),
            _ if name.starts_with("symbols") || name.ends_with("symbols-segment") => {
                self.definitions(NAMES[usize::from(choice) % NAMES.len()], self.stored().as_ref());
            }
            _ => drop(self.search(usize::from(choice))),
        }
    }

    /// Asks what could be other than it was, and makes sure that it is not.
    fn ask_right(&self, name: &str, choice: u8) {
        let choice = usize::from(choice);
        match name {
            "files" => {
                let table = self.table();
                assert!(table.is_none_or(|table| table.has_names_of(&self.table)));
            }
            "map" => self.map(),
            "graph" => assert_eq!(self.focused(self.stored().as_ref()), self.map),
            _ if name.starts_with("symbols") || name.ends_with("symbols-segment") => {
                let place = choice % NAMES.len();
                let found = self.definitions(NAMES[place], self.stored().as_ref());
                assert_eq!(found, self.definitions[place]);
            }
            _ => assert_eq!(self.search(choice), self.lines[choice % self.lines.len()]),
        }
    }
}

impl Kept {
    /// Takes a file apart, whatever its kind and version.
    fn read(folder: &IndexFolder, name: String) -> Option<Kept> {
        let whole = std::fs::read(folder.file(&name)).ok()?;
        let short = |at: usize| Some(u32::from_le_bytes(whole.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| usize::try_from(short(at)?).ok();
        let (body, n_identity, n_sections) = (long(16)?, long(32)?, long(36)?);
        let section = |number: usize| {
            let row = FIXED + n_identity + number * ROW;
            let (start, length) = (body + long(row + 8)?, long(row + 16)?);
            let tag = whole.get(row..row + 4)?.try_into().ok()?;
            Some((tag, whole.get(start..start + length)?.to_vec()))
        };
        let sections = (0..n_sections).map(section).collect::<Option<_>>()?;
        let (kind, version) = (whole.get(8..12)?.try_into().ok()?, short(12)?);
        Some(Kept { name, kind, version, sections, whole })
    }

    /// Changes sections as `data` says: which one, where, how, and with what.
    fn changed(&self, folder: &IndexFolder, data: &[u8]) {
        let mut sections = self.sections.clone();
        let n_sections = sections.len();
        for step in data.chunks_exact(8) {
            let (_, bytes) = &mut sections[usize::from(step[0]) % n_sections];
            change(bytes, &step[1..]);
        }
        let mut writer = Writer::new(self.kind, self.version, folder.identity());
        for (tag, bytes) in sections {
            writer.section(tag, bytes);
        }
        // What is not written is not there, which is one more case.
        writer.write_unsynced(&folder.file(&self.name)).ok();
    }

    /// Damages the file as `data` says.
    fn damaged(&self, folder: &IndexFolder, data: &[u8]) {
        let mut bytes = self.whole.clone();
        data.chunks_exact(7).for_each(|step| change(&mut bytes, step));
        put(&folder.file(&self.name), &bytes);
    }
}

/// Changes bytes in one way.
fn change(bytes: &mut Vec<u8>, step: &[u8]) {
    let at = usize::from(u16::from_le_bytes([step[1], step[2]]));
    let at = at.checked_rem(bytes.len()).unwrap_or(0);
    match step[0] % 5 {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_slice(&step[3..]),
        2 => bytes.iter_mut().skip(at).zip(&step[3..]).for_each(|(old, new)| *old = *new),
        3 => bytes.iter_mut().skip(at).zip(&step[3..]).for_each(|(old, new)| *old ^= *new),
        _ => drop(bytes.splice(at..at, step[3..].iter().copied())),
    }
}

fn put(path: &Path, bytes: &[u8]) {
    // In the place of another, as a writer does: what is mapped stays whole.
    let other = path.with_extension("other");
    if std::fs::write(&other, bytes).is_ok() {
        std::fs::rename(other, path).ok();
    }
}

fuzz_target!(|data: &[u8]| {
    let place = LazyLock::force(&PLACE);
    let [what, which, choice, data @ ..] = data else { return };
    let kept = &place.kept[usize::from(*which) % place.kept.len()];
    match what % 4 {
        0 => return drop(Tracked::decode(data, &mut |_| Some(data.to_vec()))),
        1 => {
            put(&place.folder.file(&kept.name), data);
            place.ask_right(&kept.name, *choice);
        }
        2 => {
            kept.damaged(&place.folder, data);
            place.ask_right(&kept.name, *choice);
        }
        _ => {
            kept.changed(&place.folder, data);
            place.ask(&kept.name, *choice);
        }
    }
    // Damage to one file at a time: what is left is sound again.
    put(&place.folder.file(&kept.name), &kept.whole);
});
