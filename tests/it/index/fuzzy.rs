//! What is typed after `@`: paths off the index's table, best first.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use snick::index::fuzzy::Names;

use super::Place;

fn names(start: &str) -> (Place, Names) {
    let place = Place::repository();
    place
        .write(".gitignore", "*.o\n")
        .write("drivers/usb/core/hub.c", "")
        .write("drivers/usb/host/hub.h", "")
        .write("docs/usb.md", "")
        .write("src/Überall.rs", "")
        .write("built.o", "")
        .write("kept.o", "")
        .git("add -f kept.o");
    std::fs::write(place.top.join(std::ffi::OsStr::from_bytes(b"raw\xff")), "").unwrap();
    let names = Names::new(place.list(), Path::new(start));
    (place, names)
}

#[track_caller]
fn check(start: &str, typed: &str, expected: &[&str]) {
    assert_eq!(names(start).1.matching(typed), expected, "{typed}");
}

#[test]
fn the_best_match_comes_first() {
    check("", "hub", &["drivers/usb/core/hub.c", "drivers/usb/host/hub.h"]);
    check("", "hosthub", &["drivers/usb/host/hub.h"]);
    check("", "usb.md", &["docs/usb.md"]);
    check("", "uberall", &["src/Überall.rs"]);
    check("", "zzz", &[]);
}

#[test]
fn tracked_files_are_there_ignored_and_unreadable_names_are_not() {
    let all = [
        ".gitignore",
        "docs/usb.md",
        "drivers/usb/core/hub.c",
        "drivers/usb/host/hub.h",
        "kept.o",
        "src/Überall.rs",
    ];
    check("", "", &all);
    check("drivers/usb", "", &["core/hub.c", "host/hub.h"]);
    check("drivers", "usb/host", &["usb/host/hub.h"]);
}

#[test]
fn names_are_of_one_table() {
    let (place, names) = names("");
    assert!(names.are_of(&place.list()));
    place.write("new", "");
    assert!(!names.are_of(&place.list()));
}
