//! The index as the program holds it: kept between runs, never trusted unseen.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

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
