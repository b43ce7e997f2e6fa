//! Symbols that are kept: the same answers as without, whatever changed or was damaged meanwhile.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use snick::index::IndexFolder;
use snick::index::files::table::{FileTable, Flags};
use snick::index::layers::Building;
use snick::index::symbols::{self, BuildOptions, Corpus, Query, Stored};

const OPTIONS: BuildOptions<'static> = BuildOptions { threads: 2, cancelled: &|| false };

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.rs", "pub fn parse_config() {}\npub struct Config;\n");
    write(folder.path(), "b/c.py", "class Config:\n    def load(self):\n        pass\n");
    write(folder.path(), "b/test_c.py", "def parse_config_twice():\n    parse_config()\n");
    folder
}

/// Lists a workspace once no file in it is so new that its stamp proves nothing.
fn settled(folder: &Path) -> FileTable {
    loop {
        let table = FileTable::from_walk(folder).unwrap();
        if table.iter().all(|entry| !entry.flags.has(Flags::RACY)) {
            return table;
        }
        std::thread::yield_now();
    }
}

/// Keeps what the files of `table` define beneath `cache`.
fn update(table: &FileTable, cache: &Path, cancelled: bool) -> std::io::Result<()> {
    let folder = IndexFolder::of(cache, table.root()).unwrap();
    let _lock = folder.lock_or_fail().unwrap();
    let building = Building { threads: 2, cancelled: &|| cancelled, progress: &|_| {} };
    symbols::update(table, &folder, &building)
}

/// Opens what is kept beneath `cache` of the files in `root`.
fn stored(root: &Path, cache: &Path) -> Option<Stored> {
    let folder = IndexFolder::of(cache, root).unwrap();
    Stored::open(folder.path(), folder.identity())
}

/// Says what a query finds.
fn found(table: &FileTable, stored: Option<&Stored>, name: &str) -> String {
    let query = Query { name: name.to_owned(), limit: 9, ..Query::default() };
    let found = symbols::definitions(table, stored, &query, &OPTIONS).unwrap();
    let mut text = format!("{}\n", found.total);
    for hit in found.hits {
        let (path, one) = (String::from_utf8(hit.path).unwrap(), hit.definition);
        writeln!(text, "{path}:{} {} {:?}", one.line, one.name, hit.closeness).unwrap();
    }
    text
}

#[test]
fn names_are_found_exactly_then_by_their_start_then_by_their_letters() {
    let folder = workspace();
    let table = settled(folder.path());
    let names = ["Config", "config", "parse_c", "pct", "Config.load", "Nothing.load", "zzz"];
    let text: String = names.map(|name| format!("{name}: {}", found(&table, None, name))).concat();
    expect![[r#"
        Config: 2
        a.rs:2 Config Exact
        b/c.py:1 Config Exact
        config: 2
        a.rs:2 Config Folded
        b/c.py:1 Config Folded
        parse_c: 2
        a.rs:1 parse_config Prefix
        b/test_c.py:1 parse_config_twice Prefix
        pct: 1
        b/test_c.py:1 parse_config_twice Fuzzy
        Config.load: 1
        b/c.py:2 load Exact
        Nothing.load: 1
        b/c.py:2 load Exact
        zzz: 0
    "#]]
    .assert_eq(&text);
}

/// What every query and the whole collection give, with and without what is kept.
fn agree(table: &FileTable, stored: Option<&Stored>) {
    for name in ["Config", "parse_config", "load", "cfg", ""] {
        assert_eq!(found(table, stored, name), found(table, None, name), "{name}");
    }
    let whole: Corpus = symbols::gather(table, stored, &OPTIONS).unwrap();
    assert_eq!(whole, symbols::gather(table, None, &OPTIONS).unwrap());
}

#[test]
fn what_is_kept_gives_the_same_answers_after_any_change() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let open = || stored(folder.path(), kept.path());
    assert!(open().is_none());
    update(&settled(folder.path()), kept.path(), false).unwrap();
    let first = open().unwrap();
    assert_eq!((first.len(), first.n_files_with(b"parse_config")), (3, Some(2)));
    agree(&settled(folder.path()), Some(&first));
    write(folder.path(), "a.rs", "pub fn other() {}\n");
    write(folder.path(), "d.go", "package d\nfunc Config() {}\n");
    std::fs::remove_file(folder.path().join("b/c.py")).unwrap();
    let table = settled(folder.path());
    agree(&table, Some(&first));
    update(&table, kept.path(), false).unwrap();
    let updated = open().unwrap();
    assert_eq!((updated.len(), updated.n_files_with(b"other")), (3, Some(1)));
    agree(&table, Some(&updated));
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    assert!(Stored::open(at.path(), b"elsewhere").is_none());
}

#[test]
fn what_was_written_just_now_is_lexed_again() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let fresh = FileTable::from_walk(folder.path()).unwrap();
    update(&fresh, kept.path(), false).unwrap();
    // As long as before, so that only the time can tell, if it does.
    write(folder.path(), "a.rs", "pub fn parse_cOnfig() {}\npub struct CONfig;\n");
    let stored = stored(folder.path(), kept.path()).unwrap();
    agree(&FileTable::from_walk(folder.path()).unwrap(), Some(&stored));
}

#[test]
fn damage_anywhere_makes_it_unusable_and_never_wrong() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let table = settled(folder.path());
    update(&table, kept.path(), false).unwrap();
    let file = IndexFolder::of(kept.path(), folder.path()).unwrap().file("symbols");
    let whole = std::fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&file, &bytes).unwrap();
        assert!(stored(folder.path(), kept.path()).is_none(), "byte {at}");
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(stored(folder.path(), kept.path()).is_none(), "cut at {at}");
    }
}

#[test]
fn a_stopped_build_leaves_nothing() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let table = settled(folder.path());
    let stopped = update(&table, kept.path(), true);
    assert_eq!(stopped.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    assert_eq!(at.sizes(), []);
}
