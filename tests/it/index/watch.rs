//! A watched index: nothing is looked at while nothing happens, and whatever happens is seen.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use snick::index::files::{FileTable, Limits, list};
use snick::index::{Index, Options};

use super::{Place, shown};

/// A repository with a file of each kind, and a link to one of its files from outside.
fn place() -> Place {
    let place = Place::new();
    place
        .write("w/a/b/c.txt", "one\n")
        .write("w/a/d.txt", "two\n")
        .write("w/e/f/g.txt", "three\n")
        .write("w/.gitignore", "out/\n")
        .write("w/out/tracked.txt", "four\n")
        .write("w/linked.txt", "five\n");
    super::git(&place.path("w"), "init -q");
    super::git(&place.path("w"), "add -f .");
    std::fs::hard_link(place.path("w/linked.txt"), place.path("elsewhere.txt")).unwrap();
    place.settle();
    place
}

/// Opens it as a session does, however small it is.
fn open(place: &Place) -> Index {
    let options = Options { watch_from: 0, ..Options::default() };
    let index = Index::open(&place.path("w"), Some(&place.path("cache")), options);
    index.refresh(&|| false).unwrap();
    index.finish();
    index
}

/// Everything that a table tells but when a stamp may be trusted, which only time changes.
fn told(table: &FileTable) -> String {
    let stamps: Vec<_> = table.iter().map(|entry| entry.stamp).collect();
    format!("{}{stamps:?}", shown(table))
}

/// Asks what is there; whether that took a look at all files.
#[track_caller]
fn asked(index: &Index) -> (Arc<FileTable>, bool) {
    let before = index.n_looks();
    let table = index.refresh(&|| false).unwrap();
    let is_looked = index.n_looks() > before;
    let anew = list(index.root(), Limits::default(), &|| false).unwrap();
    assert_eq!(told(&table), told(&anew));
    (table, is_looked)
}

/// Makes sure that a watch is there and heard nothing.
#[track_caller]
fn is_quiet(index: &Index) {
    // What was written a moment ago is looked at once more when it is old enough to be trusted.
    for _ in 0..100 {
        index.refresh(&|| false).unwrap();
        index.finish();
        if !asked(index).1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it looks again and again");
}

#[test]
fn while_nothing_happens_nothing_is_looked_at() {
    let place = place();
    let index = open(&place);
    is_quiet(&index);
    let (table, _) = asked(&index);
    for _ in 0..10 {
        let (same, is_looked) = asked(&index);
        assert!(Arc::ptr_eq(&table, &same) && !is_looked);
    }
    std::fs::read(place.path("w/a/d.txt")).unwrap();
    std::fs::read_dir(place.path("w/a")).unwrap().for_each(drop);
    assert!(!asked(&index).1, "reading is no change");
    index.note_activity();
    assert!(asked(&index).1, "what Snick itself does is always looked after");
    is_quiet(&index);
}

#[test]
fn small_trees_and_passing_uses_are_not_watched() {
    let place = place();
    let usual = Index::open(&place.path("w"), Some(&place.path("cache")), Options::default());
    let passing = Options { background: false, watch_from: 0, ..Options::default() };
    let passing = Index::open(&place.path("w"), Some(&place.path("cache")), passing);
    for index in [usual, passing] {
        index.refresh(&|| false).unwrap();
        index.finish();
        assert!(asked(&index).1 && asked(&index).1);
    }
}

type Change = (&'static str, fn(&Place));

/// What others may do to a workspace.
const CHANGES: &[Change] = &[
    ("a longer file", |place| {
        place.write("w/a/d.txt", "two and more\n");
    }),
    ("other bytes of the same length, and the old time", |place| {
        let path = place.path("w/a/d.txt");
        let time = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, "owt\n").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }),
    ("other permissions", |place| {
        let permissions = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(place.path("w/a/b/c.txt"), permissions).unwrap();
    }),
    ("a new file", |place| {
        place.write("w/a/b/new.txt", "");
    }),
    ("a file less", |place| {
        place.remove("w/e/f/g.txt");
    }),
    ("another name", |place| rename(place, "w/a/d.txt", "w/a/e.txt")),
    ("another file in its place", |place| {
        place.write("other.txt", "replaced\n");
        rename(place, "other.txt", "w/a/d.txt");
    }),
    ("a new folder with folders", |place| {
        place.write("w/h/i/j/k.txt", "");
    }),
    ("a folder less", |place| {
        place.remove("w/a");
    }),
    ("a folder of another name", |place| rename(place, "w/a", "w/z")),
    ("a folder in another", |place| rename(place, "w/e/f", "w/a/f")),
    ("a folder that left", |place| rename(place, "w/e", "gone")),
    ("a folder that came", |place| {
        place.write("coming/x.txt", "");
        rename(place, "coming", "w/came");
    }),
    ("a folder made anew", |place| {
        place.remove("w/e").write("w/e/f/g.txt", "three\n").write("w/e/f/h.txt", "");
    }),
    ("a link", |place| {
        std::os::unix::fs::symlink("d.txt", place.path("w/a/link.txt")).unwrap();
    }),
    ("a write through another name", |place| {
        place.write("elsewhere.txt", "by the other\n");
    }),
    ("a tracked file in an ignored folder", |place| {
        place.write("w/out/tracked.txt", "other\n");
    }),
    ("other rules", |place| {
        place.write("w/.gitignore", "out/\n*.txt\n");
    }),
    ("rules in a folder", |place| {
        place.write("w/a/.ignore", "d.txt\n");
    }),
    ("rules of the repository", |place| {
        place.write("w/.git/info/exclude", "a/\n");
    }),
    ("another index of git", |place| {
        super::git(&place.path("w"), "rm -q --cached -f out/tracked.txt");
    }),
    ("a write through a mapping, closed", |place| {
        let program = "import mmap, sys\n\
            with open(sys.argv[1], 'r+b') as file:\n    mmap.mmap(file.fileno(), 0)[0] = 84\n";
        python(program, &place.path("w/a/d.txt"));
    }),
    ("more than a queue holds", |place| {
        let path = place.path("w/a/d.txt");
        for round in 0..20_000 {
            let mode = if round % 2 == 0 { 0o600 } else { 0o640 };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let other = place.path("w/e/f/g.txt");
            std::fs::set_permissions(&other, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }),
    ("another folder in the place of the root", |place| {
        rename(place, "w", "was");
        place.write("w/only.txt", "");
        super::git(&place.path("w"), "init -q");
    }),
];

#[expect(clippy::disallowed_methods, reason = "a mapping is written by a program")]
fn python(program: &str, file: &Path) {
    let mut command = std::process::Command::new("python3");
    assert!(command.args(["-c", program]).arg(file).status().unwrap().success());
}

fn rename(place: &Place, from: &str, to: &str) {
    std::fs::rename(place.path(from), place.path(to)).unwrap();
}

#[test]
fn every_change_is_seen_at_once_and_then_it_is_quiet_again() {
    let mut unseen = Vec::new();
    for (what, change) in CHANGES {
        let place = place();
        let index = open(&place);
        is_quiet(&index);
        change(&place);
        if !asked(&index).1 {
            unseen.push(*what);
        }
        is_quiet(&index);
        // What came with the change is watched as well.
        let folders = ["w/a/b", "w/h/i/j", "w/z/b", "w/a/f", "w/came", "w/e/f"];
        for folder in folders.into_iter().filter(|folder| place.path(folder).is_dir()) {
            place.write(&format!("{folder}/after.txt"), what);
            if !asked(&index).1 {
                unseen.push(folder);
            }
        }
    }
    assert_eq!(unseen, Vec::<&str>::new());
}

#[test]
fn another_folder_under_the_path_of_the_root_is_seen() {
    let place = Place::new();
    place.write("up/w/a.txt", "");
    super::git(&place.path("up/w"), "init -q");
    let options = Options { watch_from: 0, ..Options::default() };
    let index = Index::open(&place.path("up/w"), Some(&place.path("cache")), options);
    is_quiet(&index);
    // No folder that is watched was touched.
    rename(&place, "up", "was");
    place.write("up/w/b.txt", "");
    super::git(&place.path("up/w"), "init -q");
    assert!(asked(&index).1);
}

/// One step of a made-up history.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    /// The index catches up in the background.
    Finish,
    Ask,
}

const PATHS: [&str; 8] = ["a", "a/b", "a/b/c", "a/b/d", "a/e", "f", "f/g", "f/g/h"];

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), 0..3_usize).prop_map(|(path, length)| Step::Write(path, length)),
        2 => path().prop_map(Step::Remove),
        3 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => Just(Step::Finish),
        3 => Just(Step::Ask),
    ]
}

/// Does it as far as it can be done.
fn perform(root: &Path, step: &Step) {
    let path = |index: usize| root.join(PATHS[index]);
    match step {
        Step::Write(at, length) => {
            std::fs::create_dir_all(path(*at).parent().unwrap()).ok();
            std::fs::write(path(*at), "x".repeat(*length)).ok();
        }
        Step::Remove(at) => {
            std::fs::remove_file(path(*at)).or_else(|_| std::fs::remove_dir_all(path(*at))).ok();
        }
        Step::Rename(from, to) => drop(std::fs::rename(path(*from), path(*to))),
        Step::Finish | Step::Ask => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_is_seen_at_every_step(steps in prop::collection::vec(step(), 1..40)) {
        let place = Place::new();
        place.write("w/keep", "");
        super::git(&place.path("w"), "init -q");
        let index = open(&place);
        for one in &steps {
            perform(&place.path("w"), one);
            match one {
                Step::Finish => index.finish(),
                Step::Ask => drop(asked(&index)),
                _ => {}
            }
        }
        asked(&index);
    }
}

#[test]
fn what_no_watch_hears_is_seen_when_snick_has_done_something() {
    let place = place();
    let index = open(&place);
    is_quiet(&index);
    // A name made outside later is not heard of; what it leads to is looked at after any activity.
    std::fs::hard_link(place.path("w/a/d.txt"), place.path("later.txt")).unwrap();
    std::fs::write(place.path("later.txt"), "through it\n").unwrap();
    index.note_activity();
    assert!(asked(&index).1);
    is_quiet(&index);
    std::fs::write(place.path("later.txt"), "through it again\n").unwrap();
    assert!(asked(&index).1, "now it is known to have other names");
}
