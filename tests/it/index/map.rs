//! The map: what is referred to most, within its budget, the same every time.

use std::path::Path;

use expect_test::expect;
use snick::index::files::table::FileTable;
use snick::index::map::{self, Focus};
use snick::index::symbols::{self, BuildOptions, Corpus};

fn corpus(folder: &Path, threads: usize) -> Corpus {
    let table = FileTable::from_walk(folder).unwrap();
    symbols::gather(&table, None, &BuildOptions { threads, cancelled: &|| false }).unwrap()
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
    let corpus = corpus(folder.path(), 2);
    let whole = map::render(&corpus, &Focus::default(), map::BUDGET);
    let little = map::render(&corpus, &Focus::default(), 60);
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
    let corpus = corpus(folder.path(), 1);
    let focus = Focus { files: vec![b"b.py".to_vec()], names: vec!["use_a".to_owned()] };
    expect![[r#"
        a.py:
          4 function use_a
        core.py:
          1 class Engine
    "#]]
    .assert_eq(&map::render(&corpus, &focus, 60));
}

#[test]
fn the_same_files_give_the_same_map_in_any_number_of_threads() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let source = if source.join("index").is_dir() { source } else { return };
    let first = map::render(&corpus(&source, 1), &Focus::default(), map::BUDGET);
    assert!(first.len() > map::BUDGET / 2 && first.len() <= map::BUDGET, "{first}");
    for threads in [2, 5] {
        let again = map::render(&corpus(&source, threads), &Focus::default(), map::BUDGET);
        assert_eq!(again, first);
    }
}

#[test]
fn the_map_that_is_left_is_of_its_workspace_only() {
    let folder = tempfile::tempdir().unwrap();
    map::keep("core.py:\n", folder.path(), b"one").unwrap();
    assert_eq!(map::kept(folder.path(), b"one").as_deref(), Some("core.py:\n"));
    assert_eq!(map::kept(folder.path(), b"two"), None);
    let file = folder.path().join("map");
    let mut bytes = std::fs::read(&file).unwrap();
    for at in 0..bytes.len() {
        bytes[at] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(map::kept(folder.path(), b"one"), None, "byte {at}");
        bytes[at] ^= 1;
    }
}
