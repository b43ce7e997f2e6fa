//! What is typed after `@`: paths off the index's table, best first.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use snick::index::fuzzy::Names;

use super::Place;
use super::text_tree::Chance;

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

/// Scores every path, with no regard to letters, threads or earlier keys.
fn plainly(paths: &[String], typed: &str) -> Vec<String> {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, &String)> = paths
        .iter()
        .filter_map(|path| {
            Some((pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher)?, path))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(50).map(|(_, path)| path.clone()).collect()
}

#[test]
fn keys_one_after_the_other_give_what_scoring_every_path_gives() {
    let words = ["sched", "usb", "Core", "hub", "scsi", "net", "IPv4", "tcp_in", "a-b", "é", "x.y"];
    let mut chance = Chance::new(3);
    let mut paths: Vec<String> = (0..8_200)
        .map(|number| {
            let parts: Vec<&str> = (0..=chance.below(3)).map(|_| chance.one_of(&words)).collect();
            format!("{}/{}{number}.c", parts.join("/"), chance.one_of(&words))
        })
        .collect();
    paths.sort_unstable();
    let place = Place::new();
    for path in &paths {
        place.write(path, "");
    }
    let names = Names::new(place.list(), Path::new(""));
    for typed in ["scus9", "é7", "usb/Co", "'hub", "net !usb", "zz"] {
        // Typed key by key, then taken back to the first.
        for end in (1..=typed.len()).chain([1]) {
            let Some(typed) = typed.get(..end) else { continue };
            assert_eq!(names.matching(typed), plainly(&paths, typed), "{typed}");
        }
    }
}
