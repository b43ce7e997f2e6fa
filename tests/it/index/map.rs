//! The map: what is referred to most, within its budget, the same every time.

use std::path::Path;

use expect_test::expect;
use snick::index::IndexFolder;
use snick::index::files::table::FileTable;
use snick::index::layers::Building;
use snick::index::map::{self, Focus};
use snick::index::symbols::{self, BuildOptions};

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
