//! Symbols that are kept: the same answers as without, whatever changed or was damaged meanwhile.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use snick::index::files::table::{FileTable, Flags};
use snick::index::symbols::{self, BuildOptions, Corpus, Query, Stored};

const IDENTITY: &[u8] = b"here";
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
    let open = || Stored::open(kept.path(), IDENTITY);
    assert!(open().is_none());
    symbols::build(&settled(folder.path()), kept.path(), IDENTITY, &OPTIONS).unwrap();
    let stored = open().unwrap();
    assert_eq!((stored.len(), stored.n_files_with(b"parse_config")), (3, Some(2)));
    agree(&settled(folder.path()), Some(&stored));
    write(folder.path(), "a.rs", "pub fn other() {}\n");
    write(folder.path(), "d.go", "package d\nfunc Config() {}\n");
    std::fs::remove_file(folder.path().join("b/c.py")).unwrap();
    let table = settled(folder.path());
    agree(&table, Some(&stored));
    symbols::update(&table, kept.path(), IDENTITY, &OPTIONS).unwrap();
    let updated = open().unwrap();
    assert_eq!((updated.len(), updated.n_files_with(b"other")), (3, Some(1)));
    agree(&table, Some(&updated));
    assert!(Stored::open(kept.path(), b"elsewhere").is_none());
}

#[test]
fn what_was_written_just_now_is_lexed_again() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let fresh = FileTable::from_walk(folder.path()).unwrap();
    symbols::build(&fresh, kept.path(), IDENTITY, &OPTIONS).unwrap();
    // As long as before, so that only the time can tell, if it does.
    write(folder.path(), "a.rs", "pub fn parse_cOnfig() {}\npub struct CONfig;\n");
    let stored = Stored::open(kept.path(), IDENTITY).unwrap();
    agree(&FileTable::from_walk(folder.path()).unwrap(), Some(&stored));
}

#[test]
fn damage_anywhere_makes_it_unusable_and_never_wrong() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let table = settled(folder.path());
    symbols::build(&table, kept.path(), IDENTITY, &OPTIONS).unwrap();
    let file = kept.path().join("symbols");
    let whole = std::fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&file, &bytes).unwrap();
        assert!(Stored::open(kept.path(), IDENTITY).is_none(), "byte {at}");
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(Stored::open(kept.path(), IDENTITY).is_none(), "cut at {at}");
    }
}

#[test]
fn a_stopped_build_leaves_nothing() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let options = BuildOptions { threads: 1, cancelled: &|| true };
    let stopped = symbols::build(&settled(folder.path()), kept.path(), IDENTITY, &options);
    assert_eq!(stopped.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 0);
}
