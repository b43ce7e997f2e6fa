//! The map: what is referred to most, within its budget, the same every time.

use std::path::Path;

use expect_test::expect;
use snick::index::IndexFolder;
use snick::index::files::table::FileTable;
use snick::index::layers::Building;
use snick::index::map::{self, Focus};
use snick::index::store::{Reader, Writer};
use snick::index::symbols::{self, BuildOptions, Stored};

use super::kept::settled;

/// Renders the map of a folder of which nothing is kept.
fn rendered(folder: &Path, threads: usize, focus: &Focus, budget: usize) -> String {
    let table = FileTable::from_walk(folder).unwrap();
    let options = BuildOptions { threads, cancelled: &|| false };
    map::render(&table, None, focus, budget, &options).unwrap()
}

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "core.py",
            "class Engine:\n    def ignite(self):\n        pass\n\ndef unused_thing():\n    pass\n",
        ),
        ("a.py", "from core import Engine\nEngine().ignite()\n\ndef use_a():\n    pass\n"),
        ("b.py", "from core import Engine\nfrom a import use_a\nEngine()\nuse_a()\n"),
        ("tests/test_core.py", "from core import Engine\n\ndef check_engine():\n    Engine()\n"),
        ("c.py", "def lonely_function():\n    pass\n"),
        ("notes.txt", "Engine Engine\n"),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn what_others_use_comes_first() {
    let folder = workspace();
    let whole = rendered(folder.path(), 2, &Focus::default(), map::BUDGET);
    let little = rendered(folder.path(), 1, &Focus::default(), 60);
    expect![[r#"
        a.py:
          4 function use_a
        c.py:
          1 function lonely_function
        core.py:
          1 class Engine
          2 method Engine.ignite
          5 function unused_thing
        tests/test_core.py:
          3 function check_engine
    "#]]
    .assert_eq(&whole);
    expect![[r#"
        core.py:
          1 class Engine
          2 method Engine.ignite
    "#]]
    .assert_eq(&little);
}

#[test]
fn a_focus_draws_the_map_towards_it() {
    let folder = workspace();
    let focus = Focus { files: vec![b"b.py".to_vec()], names: vec!["use_a".to_owned()] };
    expect![[r#"
        a.py:
          4 function use_a
        core.py:
          1 class Engine
    "#]]
    .assert_eq(&rendered(folder.path(), 1, &focus, 60));
}

#[test]
fn the_same_files_give_the_same_map_in_any_number_of_threads() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let source = if source.join("index").is_dir() { source } else { return };
    let first = rendered(&source, 1, &Focus::default(), map::BUDGET);
    assert!(first.len() > map::BUDGET / 2 && first.len() <= map::BUDGET, "{first}");
    for threads in [2, 5] {
        let again = rendered(&source, threads, &Focus::default(), map::BUDGET);
        assert_eq!(again, first);
    }
}

/// Brings the symbols and the map that are kept beneath `cache` up to date; returns the map.
fn updated(table: &FileTable, cache: &Path) -> Option<String> {
    let folder = IndexFolder::of(cache, table.root()).unwrap();
    let lock = folder.lock_or_fail().unwrap();
    let (lock, threads, progress) = (&lock, 2, &|_| {});
    let building = Building { lock, threads, cancelled: &|| false, progress };
    symbols::update(table, &folder, &building).unwrap();
    map::update(table, &folder, &building).unwrap();
    map::kept(folder.path(), folder.identity())
}

#[test]
fn the_map_that_is_kept_is_made_anew_when_what_it_shows_changed() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let live = || rendered(folder.path(), 1, &Focus::default(), map::BUDGET);
    let first = updated(&settled(folder.path()), kept.path()).unwrap();
    assert_eq!(first, live());
    let file = IndexFolder::of(kept.path(), folder.path()).unwrap().file("map");
    let modified = || std::fs::metadata(&file).unwrap().modified().unwrap();
    let before = modified();
    assert_eq!(updated(&settled(folder.path()), kept.path()).as_ref(), Some(&first));
    assert_eq!(modified(), before);
    std::fs::write(folder.path().join("c.py"), "\n\ndef moved_function():\n    pass\n").unwrap();
    let second = updated(&settled(folder.path()), kept.path()).unwrap();
    assert!(second.contains("c.py:\n  3 function moved_function\n"), "{second}");
    assert_eq!(second, live());
}

#[test]
fn the_map_that_is_left_is_of_its_workspace_only() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let map = updated(&settled(folder.path()), kept.path());
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    assert_eq!(map::kept(at.path(), at.identity()), map);
    assert_eq!(map::kept(at.path(), b"two"), None);
    let mut bytes = std::fs::read(at.file("map")).unwrap();
    for place in 0..bytes.len() {
        bytes[place] ^= 1;
        std::fs::write(at.file("map"), &bytes).unwrap();
        assert_eq!(map::kept(at.path(), at.identity()), None, "byte {place}");
        bytes[place] ^= 1;
    }
}

#[test]
fn a_map_leaves_out_the_files_that_are_kept_from_it() {
    let map = "a/b.py:\n  1 class A\n\"c\\n.py\":\n  1 class C\nd.py:\n  1 class D\n  2 class E\n";
    let without = |name: &'static str| map::without(map, &|path| path == Path::new(name));
    assert_eq!(without("a/b.py"), "d.py:\n  1 class D\n  2 class E\n");
    assert_eq!(without("d.py"), "a/b.py:\n  1 class A\n");
    assert_eq!(without("b.py"), "a/b.py:\n  1 class A\nd.py:\n  1 class D\n  2 class E\n");
}

/// What maps may be drawn towards.
fn foci() -> Vec<Focus> {
    let file = |path: &str| Focus { files: vec![path.into()], names: Vec::new() };
    let name = Focus { files: Vec::new(), names: vec!["lonely_function".to_owned()] };
    vec![Focus::default(), file("b.py"), file("tests/test_core.py"), name]
}

/// Renders the maps of a folder by what is kept beneath `cache`.
fn by_what_is_kept(table: &FileTable, cache: &Path) -> Vec<String> {
    let folder = IndexFolder::of(cache, table.root()).unwrap();
    let stored = Stored::open(folder.path(), folder.identity());
    assert!(stored.is_some());
    let options = BuildOptions { threads: 1, cancelled: &|| false };
    let map = |focus| map::render(table, stored.as_ref(), &focus, 70, &options).unwrap();
    foci().into_iter().map(map).collect()
}

#[test]
fn the_graph_that_is_kept_gives_the_maps_that_the_files_give() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let live =
        || foci().iter().map(|focus| rendered(folder.path(), 1, focus, 70)).collect::<Vec<_>>();
    updated(&settled(folder.path()), kept.path()).unwrap();
    let maps = by_what_is_kept(&settled(folder.path()), kept.path());
    assert_eq!(maps, live());
    assert_ne!(maps[1], maps[0]);
    let at = |name: &str| folder.path().join(name);
    let changes: [&dyn Fn(); 4] = [
        &|| std::fs::write(at("c.py"), "import core\n\ndef other():\n    core.Engine()\n").unwrap(),
        &|| std::fs::rename(at("a.py"), at("z.py")).unwrap(),
        &|| std::fs::remove_file(at("b.py")).unwrap(),
        &|| std::fs::write(at(".gitignore"), "c.py\n").unwrap(),
    ];
    for change in changes {
        change();
        // Both before the graph was made anew, and by the new one.
        assert_eq!(by_what_is_kept(&settled(folder.path()), kept.path()), live());
        updated(&settled(folder.path()), kept.path()).unwrap();
        assert_eq!(by_what_is_kept(&settled(folder.path()), kept.path()), live());
    }
}

#[test]
fn a_damaged_graph_is_none_and_a_forged_one_breaks_nothing() {
    let (folder, kept) = (workspace(), tempfile::tempdir().unwrap());
    let table = settled(folder.path());
    updated(&table, kept.path()).unwrap();
    let at = IndexFolder::of(kept.path(), folder.path()).unwrap();
    let (file, truth) = (at.file("graph"), by_what_is_kept(&table, kept.path()));
    let whole = std::fs::read(&file).unwrap();
    let replace = |bytes: &[u8]| {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, bytes).unwrap();
    };
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        replace(&bytes);
        assert_eq!(by_what_is_kept(&table, kept.path()), truth, "byte {place}");
        replace(&whole[..place]);
        assert_eq!(by_what_is_kept(&table, kept.path()), truth, "cut at {place}");
    }
    replace(&whole);
    let tags = [*b"made", *b"asid", *b"name", *b"qual", *b"levl", *b"defi", *b"used"];
    let version = u32::from_le_bytes(whole[12..16].try_into().unwrap());
    let forged = |change: &dyn Fn([u8; 4], &mut Vec<u8>)| {
        let reader = Reader::open(&file, *b"rgra", version, at.identity()).unwrap();
        let mut writer = Writer::new(*b"rgra", version, at.identity());
        for tag in tags {
            let mut bytes = reader.section(tag).unwrap().to_vec();
            change(tag, &mut bytes);
            writer.section(tag, bytes);
        }
        writer.write(&file).unwrap();
        let maps = by_what_is_kept(&table, kept.path());
        replace(&whole);
        maps
    };
    // It is what is used: a graph without names gives maps without any.
    let no_names = forged(&|tag, bytes| match &tag {
        b"name" | b"qual" => bytes.clear(),
        b"defi" | b"used" => *bytes = vec![0],
        _ => {}
    });
    assert!(no_names.iter().all(String::is_empty), "{no_names:?}");
    // Its sums are right, what it says is not: whatever comes of it, it is a map.
    for tag in tags {
        let reader = Reader::open(&file, *b"rgra", version, at.identity()).unwrap();
        let length = reader.section(tag).unwrap().len();
        for place in 0..length {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                forged(&|other, bytes| {
                    if other == tag {
                        bytes[place] = value;
                    }
                });
            }
            forged(&|other, bytes| bytes.truncate(if other == tag { place } else { usize::MAX }));
        }
    }
}
