//! Symbols that are kept: the same answers as without, whatever changed or was damaged meanwhile.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect;
use snick::index::IndexFolder;
use snick::index::files::table::{FileTable, Flags};
use snick::index::layers::Building;
use snick::index::map::{self, Focus};
use snick::index::symbols::{self, BuildOptions, Definition, Query, Stored};

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
pub(super) fn settled(folder: &Path) -> FileTable {
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
    let lock = folder.lock_or_fail().unwrap();
    let (lock, threads, progress) = (&lock, 2, &|_| {});
    let building = Building { lock, threads, cancelled: &|| cancelled, progress };
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
    let found = symbols::definitions(table, stored, &query, None, &OPTIONS).unwrap();
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

/// Makes sure that queries and the map say the same with what is kept and without.
#[track_caller]
fn agree(table: &FileTable, stored: Option<&Stored>) {
    for name in ["Config", "parse_config", "load", "cfg", "other", ""] {
        assert_eq!(found(table, stored, name), found(table, None, name), "{name}");
    }
    assert_eq!(listed(table, stored), listed(table, None));
    let map =
        |stored| map::render(table, stored, &Focus::default(), map::BUDGET, &OPTIONS).unwrap();
    assert_eq!(map(stored), map(None));
}

/// Lists all definitions.
fn listed(table: &FileTable, stored: Option<&Stored>) -> String {
    let mut text = String::new();
    let mut each = |path: &[u8], one: &Definition| {
        writeln!(text, "{}: {one:?}", path.escape_ascii()).unwrap();
        Ok(())
    };
    symbols::each_definition(table, stored, &Query::default(), &OPTIONS, &mut each).unwrap();
    text
}

/// Counts the segments that stand beneath `cache`.
fn n_segments(root: &Path, cache: &Path) -> usize {
    let sizes = IndexFolder::of(cache, root).unwrap().sizes();
    sizes.iter().filter(|(name, _)| name.ends_with("symbols-segment")).count()
}

#[test]
fn what_is_kept_gives_the_same_answers_after_any_change() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let open = || stored(folder.path(), kept.path());
    assert!(open().is_none());
    update(&settled(folder.path()), kept.path(), false).unwrap();
    let first = open().unwrap();
    assert_eq!((first.len(), first.lexed()), (1, 3));
    agree(&settled(folder.path()), Some(&first));
    // An edit, a new file, one that is gone and one that has another name.
    write(folder.path(), "a.rs", "pub fn other() {}\n");
    write(folder.path(), "d.go", "package d\nfunc Config() {}\n");
    std::fs::remove_file(folder.path().join("b/c.py")).unwrap();
    std::fs::rename(folder.path().join("b/test_c.py"), folder.path().join("e.py")).unwrap();
    let table = settled(folder.path());
    agree(&table, Some(&first));
    update(&table, kept.path(), false).unwrap();
    let updated = open().unwrap();
    agree(&table, Some(&updated));
    assert_eq!((updated.len(), updated.lexed()), (1, 6));
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    assert!(Stored::open(at.path(), b"elsewhere").is_none());
}

#[test]
fn a_branch_and_back_is_right_at_every_step() {
    let kept = tempfile::tempdir().unwrap();
    let place = super::Place::repository();
    place.write("a.rs", "pub fn one() {}\n").write("b.py", "class Config:\n    pass\n");
    place.git("add .");
    place.git("commit -qm one");
    place.git("branch -M one");
    place.git("checkout -qb other");
    place.write("a.rs", "pub fn other() { Config }\n").remove("b.py");
    place.write("c/d.c", "int parse_config(void)\n{\n}\n");
    place.git("add .");
    place.git("commit -qm two");
    for branch in ["one", "other", "one"] {
        place.git(&format!("checkout -q {branch}"));
        let table = settled(&place.top);
        agree(&table, stored(&place.top, kept.path()).as_ref());
        update(&table, kept.path(), false).unwrap();
        agree(&table, stored(&place.top, kept.path()).as_ref());
    }
}

#[test]
fn nothing_is_written_where_nothing_changed() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    update(&settled(folder.path()), kept.path(), false).unwrap();
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    let modified = || std::fs::metadata(at.file("symbols")).unwrap().modified().unwrap();
    let before = (modified(), at.sizes());
    update(&settled(folder.path()), kept.path(), false).unwrap();
    assert_eq!((modified(), at.sizes()), before);
}

#[test]
fn small_segments_are_put_together() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let mut counts = Vec::new();
    for round in 0..24 {
        write(folder.path(), &format!("n{round}.rs"), &format!("fn other{round}() {{}}\n"));
        let table = settled(folder.path());
        update(&table, kept.path(), false).unwrap();
        counts.push(n_segments(folder.path(), kept.path()));
    }
    assert_eq!(counts.iter().max(), Some(&9));
    agree(&settled(folder.path()), stored(folder.path(), kept.path()).as_ref());
}

#[test]
fn what_was_written_just_now_is_lexed_again() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let fresh = FileTable::from_walk(folder.path()).unwrap();
    update(&fresh, kept.path(), false).unwrap();
    // As long as before, so that only the time can tell, if it does.
    write(folder.path(), "a.rs", "pub fn parse_cOnfig() {}\npub struct CONfig;\n");
    let stored = stored(folder.path(), kept.path());
    agree(&FileTable::from_walk(folder.path()).unwrap(), stored.as_ref());
}

#[test]
fn damage_anywhere_never_makes_an_answer_wrong_and_is_mended() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let table = settled(folder.path());
    update(&table, kept.path(), false).unwrap();
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    let whole: Vec<(PathBuf, Vec<u8>)> = at
        .sizes()
        .iter()
        .map(|(name, _)| (at.file(name), std::fs::read(at.file(name)).unwrap()))
        .collect();
    let truth = (listed(&table, None), ["Config", "cfg"].map(|name| found(&table, None, name)));
    let check = |what: &str| {
        let stored = stored(folder.path(), kept.path());
        let stored = stored.as_ref();
        let names = ["Config", "cfg"].map(|name| found(&table, stored, name));
        assert_eq!((listed(&table, stored), names), truth, "{what}");
    };
    for (file, bytes) in &whole {
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x10;
            std::fs::write(file, &other).unwrap();
            check(&format!("byte {at}"));
            std::fs::write(file, &bytes[..at]).unwrap();
            check(&format!("cut at {at}"));
        }
        std::fs::remove_file(file).ok();
        check("gone");
        update(&table, kept.path(), false).unwrap();
        agree(&table, self::stored(folder.path(), kept.path()).as_ref());
        for (file, bytes) in &whole {
            std::fs::write(file, bytes).unwrap();
        }
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
