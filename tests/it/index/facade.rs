//! The index as the program holds it: kept between runs, never trusted unseen.

use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use snick::index::files::{Limits, list};
use snick::index::snapshot::Cut;
use snick::index::text::{self, FileHit, Pattern, PatternOptions};
use snick::index::{Index, Options};

use super::{Place, shown};

fn open(place: &Place, cap: u64) -> Index {
    Index::open(&place.path("w"), Some(&place.path("cache")), Options { cap, ..Options::default() })
}

#[test]
fn a_kept_table_is_read_back_and_brought_up_to_date() {
    let place = Place::new();
    place.write("w/a/b", "").write("w/.gitignore", "*.o\n").write("w/c", "");
    super::git(&place.path("w"), "init -q");
    super::git(&place.path("w"), "add .");
    let index = open(&place, 1 << 30);
    assert!(!place.path("cache").exists());
    index.refresh(&|| false).unwrap();
    index.finish();
    let folder = index.folder().unwrap();
    assert!(folder.file("files").is_file());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.path()), mode(&folder.file("files"))), (0o700, 0o600));
    drop(index);

    place.write("w/later", "").remove("w/c").write("w/x.o", "");
    let index = open(&place, 1 << 30);
    let table = index.refresh(&|| false).unwrap();
    assert_eq!(shown(&table), "th   .gitignore\nt    a/b\n     later\n");
    assert_eq!(index.status(&|| false).unwrap().files, 3);
    index.finish();
    index.remove().unwrap();
    assert!(!folder.path().exists());
    assert_eq!(index.rebuild(&|_| {}, &|| false).unwrap().len(), 3);
    assert!(folder.file("files").is_file());
}

#[test]
fn each_refresh_sees_the_disk_and_recent_sees_the_last_activity() {
    let place = Place::new();
    place.write("w/a", "");
    let index = Index::unkept(&place.path("w"));
    let age = Duration::from_hours(1);
    assert_eq!(index.recent(age, &|| false).unwrap().len(), 1);
    place.write("w/b", "");
    assert_eq!(index.recent(age, &|| false).unwrap().len(), 1);
    index.note_activity();
    assert_eq!(index.recent(age, &|| false).unwrap().len(), 2);
    place.remove("w/a");
    assert_eq!(index.refresh(&|| false).unwrap().len(), 1);
}

#[test]
fn a_refresh_that_is_stopped_leaves_what_was_known() {
    let place = Place::new();
    place.write("w/a", "");
    let index = Index::unkept(&place.path("w"));
    index.refresh(&|| false).unwrap();
    assert!(index.refresh(&|| true).is_err());
    place.write("w/b", "");
    assert_eq!(index.refresh(&|| false).unwrap().len(), 2);
}

#[test]
fn the_least_lately_used_make_room() {
    let place = Place::new();
    place.write("w/a", "");
    let old = |name: &str, age: u64| {
        let name = format!("cache/{}", name.repeat(32));
        place
            .write(&format!("{name}/lock"), "")
            .write(&format!("{name}/files"), &"x".repeat(100_000));
        let lock = std::fs::File::options().write(true).open(place.path(&name).join("lock"));
        lock.unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        place.path(&name)
    };
    let (oldest, older, newer) = (old("a", 300), old("b", 200), old("c", 100));
    place.write("cache/not-ours/file", &"x".repeat(900_000));
    let index = open(&place, 190_000);
    index.refresh(&|| false).unwrap();
    index.finish();
    let there = [&oldest, &older, &newer].map(|path| path.exists());
    assert_eq!(there, [false, false, true]);
    assert!(place.path("cache/not-ours").exists() && index.folder().unwrap().path().exists());
}

#[test]
fn two_at_once_write_one_after_the_other() {
    let place = Place::new();
    place.write("w/a", "");
    let (one, two) = (open(&place, 1 << 30), open(&place, 1 << 30));
    let held = one.folder().unwrap().lock().unwrap().unwrap();
    assert!(two.folder().unwrap().lock().unwrap().is_none());
    assert!(two.rebuild(&|_| {}, &|| false).is_err());
    two.refresh(&|| false).unwrap();
    two.finish();
    assert!(!two.folder().unwrap().file("files").exists());
    drop(held);
    assert!(two.folder().unwrap().lock().unwrap().is_some());
}

/// Searches what `index` knows; returns the paths of files with a match, and whether damage was met.
fn search_in(index: &Index, pattern: &str) -> (String, bool) {
    let table = index.refresh(&|| false).unwrap();
    let text = index.text(&table);
    let pattern = Pattern::new(pattern, PatternOptions::default()).unwrap();
    let options = text::Options {
        threads: 1,
        context: 0,
        keep: 1,
        stop_when_full: false,
        spans: 0,
        filter: &|_| true,
        cancelled: &|| false,
    };
    let mut found = Vec::new();
    let mut each = |hit: FileHit| {
        found.push(String::from_utf8(hit.path).unwrap());
        ControlFlow::Continue(())
    };
    let known = text.as_ref().map(|text| text.known());
    let summary = text::search(&table, known, &pattern, &options, &mut each).unwrap();
    (found.join(" "), summary.damaged)
}

/// Builds until the clock has moved on from the last write, so that every file is described.
fn settle(index: &Index) {
    let n_unbound = || {
        let table = index.refresh(&|| false).unwrap();
        index.text(&table).map(|text| text.known().1.n_unbound())
    };
    while n_unbound() != Some(0) {
        match index.rebuild(&|_| {}, &|| false) {
            // A process that another test has just forked holds the lock until it is a program.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            done => drop(done.unwrap()),
        }
    }
}

#[test]
fn the_text_stays_open_until_files_or_postings_are_others() {
    let place = Place::new();
    place.write("w/a", "one\n").write("w/b", "two\n").write("w/c", "\u{feff}two\n");
    let options = Options { background: false, ..Options::default() };
    let index = Index::open(&place.path("w"), Some(&place.path("cache")), options);
    settle(&index);
    let text = || {
        let table = index.refresh(&|| false).unwrap();
        index.text(&table).unwrap()
    };
    let first = text();
    assert!(Arc::ptr_eq(&first, &text()));
    place.write("w/a", "two and more\n");
    assert_eq!((text().known().1.n_unbound(), search_in(&index, "two").0), (1, "a b c".to_owned()));
    place.write("w/a", "two\n").write("w/d", "two\n").remove("w/b");
    assert_eq!((text().known().1.n_unbound(), search_in(&index, "two").0), (2, "a c d".to_owned()));
    settle(&index);
    assert_eq!((text().known().1.n_unbound(), search_in(&index, "two").0), (0, "a c d".to_owned()));
    index.remove().unwrap();
    let table = index.refresh(&|| false).unwrap();
    assert!(index.text(&table).is_none());
}

#[test]
fn what_a_search_finds_damaged_is_made_anew() {
    let place = Place::new();
    place.write("w/a", "one\n").write("w/b", "two\n");
    let cache = place.path("cache");
    let open = || Index::open(&place.path("w"), Some(&cache), Options::default());
    let index = open();
    settle(&index);
    let folder = index.folder().unwrap();
    drop(index);
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let segment = entries.into_iter().find(|path| path.to_string_lossy().ends_with("text-segment"));
    let segment = segment.unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let index = open();
    assert_eq!(search_in(&index, "two"), ("b".to_owned(), true));
    assert_eq!(search_in(&index, "two"), ("b".to_owned(), false));
    index.refresh(&|| false).unwrap();
    index.finish();
    assert!(!segment.exists());
    assert_eq!(search_in(&index, "two"), ("b".to_owned(), false));
}

#[test]
fn of_a_folder_that_is_never_listed_whole_no_text_is_kept() {
    let place = Place::new();
    place.write("w/a", "one\n").write("w/b", "two\n");
    let options = Options { is_bounded: true, ..Options::default() };
    let index = Index::open(&place.path("w"), Some(&place.path("cache")), options);
    assert!(index.is_bounded());
    assert_eq!(search_in(&index, "two"), ("b".to_owned(), false));
    index.finish();
    let kept = index.status(&|| false).unwrap().kept;
    assert_eq!(kept.iter().map(|(name, _)| name.as_str()).collect::<Vec<&str>>(), ["files"]);
    index.rebuild(&|_| {}, &|| false).unwrap();
    assert!(!index.has_text());
}

#[test]
fn a_listing_that_met_its_limit_says_so_and_is_not_kept() {
    let place = Place::new();
    for number in 0..9 {
        place.write(&format!("{number}/file"), "");
    }
    let limits = Limits { files: 3, threads: 1, ..Limits::bounded() };
    let table = list(&place.top, limits, &|| false).unwrap();
    assert!(table.len() < 9 && table.tally().cut == Some(Cut::Files));
    table.save(&place.path("kept"), b"here").unwrap();
    assert!(!place.path("kept").exists());
    let limits = Limits { time: Duration::ZERO, ..Limits::bounded() };
    assert_eq!(list(&place.top, limits, &|| false).unwrap().tally().cut, Some(Cut::Time));
}

#[test]
fn lines_are_known_of_files_that_were_read_whole() {
    let place = Place::new();
    let files = [
        ("a", "one\ntwo\n", Some(2)),
        ("b", "no end", Some(1)),
        ("c", "", Some(0)),
        ("d", "bin\0ary\n", None),
        ("e", &"long line\n".repeat(9_000), Some(9_000)),
    ];
    for (name, text, _) in files {
        place.write(&format!("w/{name}"), text);
    }
    let options = Options { background: false, ..Options::default() };
    let index = Index::open(&place.path("w"), Some(&place.path("cache")), options);
    settle(&index);
    let n_lines = |index: &Index| {
        let table = index.refresh(&|| false).unwrap();
        let text = index.text(&table).unwrap();
        table.iter().map(|file| text.n_lines(file.id)).collect::<Vec<Option<u32>>>()
    };
    let expected: Vec<Option<u32>> = files.iter().map(|(.., lines)| *lines).collect();
    assert_eq!(n_lines(&index), expected);
    place.write("w/a", "changed\n");
    assert_eq!(n_lines(&index)[..2], [None, Some(1)]);
}
