//! The table of files: what is in it, and that looking again finds what a listing from nothing finds.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use expect_test::{Expect, expect};
use ignore::WalkBuilder;
use snick::index::files::{FileTable, Flags};
use snick::workspace::Stamp;

use super::text_tree::Chance;
use super::{Place, git, shown, usual};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot")]
fn check(place: &Place, expected: Expect) {
    expected.assert_eq(&shown(&place.list()));
}

/// Lists what ripgrep lists, by its own walker.
fn by_walker(root: &Path) -> Vec<String> {
    let walk = WalkBuilder::new(root).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let relative = files.map(|entry| entry.path().strip_prefix(root).unwrap().to_owned());
    let mut paths: Vec<String> =
        relative.map(|path| String::from_utf8_lossy(path.as_os_str().as_bytes()).into()).collect();
    paths.sort();
    paths
}

#[test]
fn tracked_ignored_and_hidden_files_are_told_apart() {
    let place = Place::repository();
    place
        .write(".gitignore", "*.log\n/out/\n")
        .write(".ignore", "vendor/\n!kept.log\n")
        .write(".snickignore", "shut\n")
        .write("out/tracked.c", "")
        .write("out/other.c", "")
        .write("vendor/v.go", "")
        .write("kept.log", "")
        .write("a.log", "")
        .write("shut/x", "")
        .write("out/shut/x", "")
        .write("src/main.rs", "")
        .write(".github/ci.yml", "")
        .write("new.rs", "");
    place.git("add -f .gitignore out/tracked.c out/shut/x vendor src shut a.log");
    place.remove("a.log");
    check(
        &place,
        expect![[r#"
            h    .github/ci.yml
            th   .gitignore
            h    .ignore
            h    .snickignore
                 kept.log
                 new.rs
            ti   out/tracked.c
            t    src/main.rs
            ti   vendor/v.go
        "#]],
    );
    place.remove(".snickignore");
    assert_eq!(usual(&place.list()), by_walker(&place.top));
}

#[test]
fn the_usual_files_are_those_of_the_walker() {
    let place = Place::repository();
    place
        .write(".gitignore", "*.o\nbuild/\n!/keep/build/\n!.wanted\n/.wanted/no\n\\#odd\n")
        .write("sub/.gitignore", "!*.o\n/x\n# note\n")
        .write("sub/deep/.ignore", "*.rs\n!a.rs\n")
        .write(".git/info/exclude", "mine\n")
        .write("nested/.gitignore", "inner\n")
        .write("a.o", "")
        .write("sub/a.o", "")
        .write("sub/x", "")
        .write("sub/deep/x", "")
        .write("sub/deep/a.rs", "")
        .write("sub/deep/b.rs", "")
        .write("build/a", "")
        .write("keep/build/a", "")
        .write(".wanted/a", "")
        .write(".wanted/no", "")
        .write(".wanted/.not", "")
        .write(".other/a", "")
        .write("#odd", "")
        .write("mine", "")
        .write("nested/a.o", "")
        .write("nested/inner/a", "")
        .write("a b/c d", "");
    git(&place.path("nested"), "init -q");
    std::os::unix::fs::symlink("a b", place.path("loop")).unwrap();
    let table = place.list();
    assert_eq!(usual(&table), by_walker(&place.top));
    assert!(usual(&table).contains(&"nested/a.o".to_owned()));
}

#[test]
fn odd_names_and_files_are_listed_and_not_opened() {
    let place = Place::repository();
    let odd = place.top.join(std::ffi::OsStr::from_bytes(b"caf\xe9\n.txt"));
    std::fs::write(odd, "").unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place.path("pipe"), kind, mode, 0).unwrap();
    std::os::unix::fs::symlink("..", place.path("up")).unwrap();
    std::os::unix::fs::symlink("self", place.path("self")).unwrap();
    place.write("a/b", "").write("a-b", "").write("a.b", "");
    check(
        &place,
        expect![[r#"
                 a-b
                 a.b
                 a/b
                 caf\xe9\n.txt
            s    pipe
            l    self
            l    up
        "#]],
    );
}

#[test]
fn submodules_and_nested_repositories_are_listed() {
    let place = Place::new();
    place.write("inner/a", "").write("one/b", "");
    for name in ["inner", "one"] {
        git(&place.path(name), "init -q");
        git(&place.path(name), "add .");
        git(&place.path(name), "commit -q -m 1");
    }
    git(&place.path("one"), "submodule add -q ../inner sub");
    place.write("one/sub-b", "").write("one/sub.b", "").write("one/other/c", "");
    git(&place.path("one/other"), "init -q");
    let table = FileTable::from_walk(&place.path("one")).unwrap();
    expect![[r#"
        th   .gitmodules
        t    b
             other/c
             sub-b
             sub.b
        m    sub/a
    "#]]
    .assert_eq(&shown(&table));
}

#[test]
fn a_folder_that_cannot_be_read_is_counted() {
    let place = Place::repository();
    place.write("a", "").write("odd/b", "");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place.path("odd/.ignore"), kind, mode, 0).unwrap();
    let table = place.list();
    assert_eq!((shown(&table).as_str(), table.tally().unreadable), ("     a\n", 1));
    let table = place.refresh(&table);
    assert_eq!(table.tally().unreadable, 1);
    place.remove("odd/.ignore");
    let table = place.refresh(&table);
    assert_eq!((table.len(), table.tally().unreadable), (2, 0));
}

/// Each step changes the disk; after each, looking again says what a listing from nothing says.
#[test]
fn looking_again_sees_every_change() {
    let place = Place::repository();
    place.write("a/b/c", "1").write("a/d", "1").write(".gitignore", "*.o\n").write("e/f.o", "");
    let mut table = place.list();
    let mut step = |work: &dyn Fn()| {
        work();
        let new = place.refresh(&table);
        let text = shown(&new);
        table = new;
        text
    };
    step(&|| {
        place.write("a/new", "");
    });
    step(&|| {
        place.write("a/b/x/y/z", "").write("n/m/.gitignore", "*\n").write("n/m/p", "");
    });
    step(&|| {
        place.remove("a/b");
    });
    step(&|| {
        place.write("a/b", "a file now");
    });
    step(&|| {
        place.remove("a/b").write("a/b/c/d/e", "");
    });
    step(&|| {
        place.git("add -f e/f.o a");
    });
    let text = step(&|| {
        place.write(".gitignore", "*.x\n");
    });
    assert!(text.contains("t    e/f.o"), "{text}");
    step(&|| {
        place.write("a/.ignore", "d\n");
    });
    step(&|| {
        place.remove("a/.ignore");
    });
    step(&|| {
        place.write(".git/info/exclude", "e\n");
    });
    step(&|| {
        place.remove("e");
    });
    step(&|| {
        place.write("e/f.o", "back").write("e/g", "");
    });
    step(&|| {
        place.git("commit -q -m 1");
    });
    step(&|| {
        place.git("rm -q -r --cached e");
    });
    step(&|| std::fs::rename(place.path("a"), place.path("moved")).unwrap());
    step(&|| {
        std::fs::create_dir(place.path("outside")).unwrap();
        std::os::unix::fs::symlink("moved", place.path("a")).unwrap();
    });
    step(&|| {
        place.remove("a").write("a/d", "");
    });
    step(&|| {
        place.write(".snickignore", "moved\n");
    });
    step(&|| {
        place.git("checkout -q -f HEAD .");
    });
    step(&|| {
        std::fs::remove_dir_all(place.path(".git")).unwrap();
    });
    step(&|| {
        place.git("init -q");
    });
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("a/d"), mode).unwrap();
    let new = place.refresh(&table);
    let id = new.find(b"a/d").unwrap();
    assert_eq!(new.get(id).stamp.permissions(), 0o755);
}

/// Folders with few files are looked up from one above them, so that a link on the way would be followed.
#[test]
fn what_moves_and_leaves_a_link_is_no_longer_there() {
    for moved in ["top", "top/a", "top/a/b", "top/a/b/c", "lone"] {
        let place = Place::repository();
        let files = ["top/f", "top/a/f", "top/a/b/f", "top/a/b/c/f", "top/a/b/c/d/e/f", "lone/f"];
        for file in files {
            place.write(file, "");
        }
        // Until then every folder is read anew, whatever is looked up.
        let is_racy = |path: &str| {
            Stamp::at(&place.path(path)).is_some_and(|stamp| stamp.is_racy(SystemTime::now()))
        };
        while files.iter().any(|file| is_racy(file) || is_racy(file.strip_suffix("/f").unwrap())) {
            std::thread::yield_now();
        }
        let table = place.list();
        let (from, to) = (place.path(moved), place.path("elsewhere"));
        std::fs::rename(&from, &to).unwrap();
        std::os::unix::fs::symlink(&to, &from).unwrap();
        let new = place.refresh(&table);
        let link = new.find(moved.as_bytes()).map(|id| new.get(id).flags.has(Flags::SYMLINK));
        assert_eq!(link, Some(true), "{moved}");
        assert_eq!(new.ids_beneath(moved.as_bytes()).count(), 0, "{moved}");
    }
}

#[test]
fn nothing_changed_gives_the_same_stamps() {
    let place = Place::repository();
    place.write("a/b", "1").write("c", "2").git("add c");
    let table = place.list();
    let again = place.refresh(&table);
    for file in again.iter() {
        assert_eq!(
            file.stamp,
            snick::workspace::Stamp::at(&place.path(std::str::from_utf8(file.path).unwrap(),))
                .unwrap()
        );
        assert_eq!(table.find(file.path), Some(file.id));
    }
    let beneath: Vec<&[u8]> = again.beneath(b"a").map(|file| file.path).collect();
    assert_eq!(beneath, [b"a/b"]);
    assert_eq!(again.find(b"a"), None);
}

#[test]
fn what_a_nested_repository_tracks_is_listed_as_its_rules_have_it() {
    let place = Place::repository();
    place.write("inner/.gitignore", "*.o\n").write("inner/a.o", "").write("inner/b", "");
    git(&place.path("inner"), "init -q");
    git(&place.path("inner"), "add -f .");
    // A known limit: the index of a repository within another is not read, so its rules alone decide,
    // and `inner/a.o` is passed over though it is tracked there.
    check(
        &place,
        expect![[r#"
            h    inner/.gitignore
                 inner/b
        "#]],
    );
}

/// A name made of a few letters, so that rules and names meet often.
fn name(chance: &mut Chance) -> String {
    let parts =
        ["a", "b", "ab", "c", "so", "mod", "x1", "-", "_", "#", ".o", ".c", ".h", ".so", ".tab"];
    (0..=chance.below(3)).map(|_| chance.one_of(&parts)).collect()
}

/// A line of a file with rules, of any kind.
fn rule(chance: &mut Chance) -> String {
    let odd =
        ["*", "**", "?", "[ab]", "[!a]", "[a-c]", "[]b]", "[a/]", "{a,b}", "\\", " ", "[", "]"];
    let mut rule = String::new();
    rule += chance.one_of(&["", "", "", "!", "/", "#", "\\#", "**/", "a/", "*/"]);
    for _ in 0..=chance.below(2) {
        rule += &name(chance);
        rule += if chance.below(2) == 0 { chance.one_of(&odd) } else { "" };
        rule += if chance.below(3) == 0 { "*" } else { "" };
    }
    if chance.below(2) == 0 {
        rule.insert_str(0, chance.one_of(&["*", "*.", "?", "!*"]));
    }
    rule + chance.one_of(&["", "", "", "/", "/*", "/**", " ", "\\ "])
}

#[test]
fn made_up_rules_are_read_as_the_walker_reads_them() {
    let mut n_seen = (0, 0);
    for seed in 0..100 {
        let mut chance = Chance::new(seed);
        let place = Place::new();
        place.write(".git/HEAD", "ref: refs/heads/main\n");
        let folders = ["", "a/", "a/b/", "mod.so/", "x1/"];
        for folder in folders {
            std::fs::create_dir_all(place.path(folder)).unwrap();
            for file in [".gitignore", ".ignore"] {
                if chance.below(3) == 0 {
                    let n_rules = 1 + chance.below(6);
                    let rules: Vec<String> = (0..n_rules).map(|_| rule(&mut chance)).collect();
                    place.write(&format!("{folder}{file}"), &rules.join("\n"));
                }
            }
        }
        let mut n_files = 0;
        for _ in 0..40 {
            let path = chance.one_of(&folders).to_owned() + &name(&mut chance);
            if !place.path(&path).exists() {
                place.write(&path, "");
                n_files += 1;
            }
        }
        let usual = usual(&place.list());
        assert_eq!(usual, by_walker(&place.top), "seed {seed}");
        n_seen = (n_seen.0 + usual.len(), n_seen.1 + n_files);
    }
    assert!(n_seen.0 > n_seen.1 / 4 && n_seen.0 < n_seen.1 * 3 / 4, "{n_seen:?}");
}
