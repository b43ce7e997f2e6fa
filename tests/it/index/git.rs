//! Git's index read directly, held against what git itself lists.

use snick::index::files::git_index::{GitFolder, Tracked};
use snick::index::files::table::Flags;

use super::{Place, git};

/// Compares with `git ls-files`, in every form that git writes an index in.
#[track_caller]
fn check(place: &Place, folder: &str) {
    let folder = place.path(folder);
    let read = GitFolder::of(&folder).unwrap().read_index().unwrap();
    let ours: Vec<String> = read
        .tracked
        .iter()
        .map(|(path, flags)| {
            let tag = if flags.has(Flags::SKIPPED) { 'S' } else { 'H' };
            format!("{tag} {}", String::from_utf8_lossy(path))
        })
        .collect();
    let theirs = git(&folder, "ls-files -z -t --sparse");
    let mut theirs: Vec<&str> = theirs.split('\0').filter(|line| !line.is_empty()).collect();
    theirs.sort_by_key(|line| &line[2..]);
    // Where two sides are in conflict, git names the path once for each.
    theirs.dedup_by_key(|line| &line[2..]);
    let theirs: Vec<String> = theirs.iter().map(|line| line.replacen('M', "H", 1)).collect();
    assert_eq!(ours, theirs);
}

fn sample() -> Place {
    let place = Place::repository();
    for path in ["a", "a-b/c", "a.b", "b/c/d", "b/c/d2", "b/e", "src/long/name/of/one.rs", "z"] {
        place.write(path, path);
    }
    place.write(&"n".repeat(200), "").write("grün/ö.txt", "");
    std::os::unix::fs::symlink("a", place.path("link")).unwrap();
    place.git("add .");
    place
}

#[test]
fn every_version_is_read() {
    let place = sample();
    for version in [2, 3, 4] {
        place.git(&format!("update-index --index-version {version}"));
        check(&place, "");
    }
    place.git("update-index --skip-worktree b/e a.b");
    check(&place, "");
    place.write("later", "").git("add -N later");
    check(&place, "");
    place.git("update-index --index-version 2");
    check(&place, "");
    place.git("rm -q --cached a z later");
    check(&place, "");
    place.git("-c index.skipHash=true update-index --force-write-index");
    check(&place, "");
}

#[test]
fn no_index_and_an_empty_one_are_told_apart() {
    let place = Place::repository();
    assert!(GitFolder::of(&place.top).unwrap().read_index().is_none());
    place.write("a", "").git("add a");
    place.git("rm -q --cached a");
    check(&place, "");
    assert!(GitFolder::of(&Place::new().top).is_none());
}

#[test]
fn a_split_index_is_put_together() {
    let place = sample();
    for version in ["2", "4"] {
        place.git(&format!("update-index --index-version {version} --split-index"));
        check(&place, "");
        place.write("b/new", "1").write("b/e", "other").git("add b");
        check(&place, "");
        place.git("rm -q -f --cached a b/c/d z");
        check(&place, "");
        place.write("a", "again").git("add a");
        check(&place, "");
        place.git("update-index --no-split-index");
        check(&place, "");
        place.git("add .");
    }
}

#[test]
fn many_entries_fill_long_runs_of_a_bitmap() {
    let place = Place::repository();
    for number in 0..400 {
        place.write(&format!("f/{number:03}"), "");
    }
    place.git("add .");
    place.git("update-index --split-index");
    std::fs::remove_dir_all(place.path("f")).unwrap();
    for number in (0..400).filter(|number| !(100..300).contains(number)) {
        place.write(&format!("f/{number:03}"), if number % 7 == 0 { "new" } else { "" });
    }
    place.git("add -A .");
    check(&place, "");
}

#[test]
fn a_sparse_index_names_folders() {
    let place = sample();
    place.git("commit -q -m one");
    place.git("sparse-checkout init --cone --sparse-index");
    place.git("sparse-checkout set b/c");
    check(&place, "");
    let read = GitFolder::of(&place.top).unwrap().read_index().unwrap();
    assert!(read.tracked.iter().any(|(path, flags)| path == b"src/" && flags.has(Flags::FOLDER)));
}

#[test]
fn worktrees_submodules_and_conflicts_are_read() {
    let place = Place::new();
    std::fs::create_dir(place.path("one")).unwrap();
    let one = place.path("one");
    git(&one, "init -q -b main");
    place.write("one/a", "1");
    git(&one, "add a");
    git(&one, "commit -q -m 1");
    git(&one, "worktree add -q -b side ../two");
    place.write("two/b", "2").write("two/a", "side");
    git(&place.path("two"), "add .");
    git(&place.path("two"), "commit -q -m 2");
    check(&place, "one");
    check(&place, "two");
    git(&one, "submodule add -q ../two sub");
    check(&place, "one");
    check(&place, "one/sub");
    let read = GitFolder::of(&one).unwrap().read_index().unwrap();
    let sub = read.tracked.iter().find(|(path, _)| *path == b"sub").unwrap();
    assert!(sub.1.has(Flags::SUBMODULE));
}

#[test]
fn hashes_of_the_longer_kind_are_read() {
    let place = Place::new();
    place.git("init -q --object-format=sha256");
    place.write("a", "1").write("b/c", "2").git("add .");
    check(&place, "");
    place.git("update-index --split-index");
    place.write("d", "").git("add d");
    check(&place, "");
}

#[test]
fn what_is_no_index_is_none() {
    let place = sample();
    let bytes = std::fs::read(place.path(".git/index")).unwrap();
    let whole = Tracked::decode(&bytes, &mut |_| None).unwrap();
    assert_eq!(whole.len(), 11);
    for length in 0..bytes.len() {
        // No panic; and what is cut within the entries says nothing.
        Tracked::decode(&bytes[..length], &mut |_| None);
    }
    for (place, old) in bytes.iter().enumerate() {
        for new in [old ^ 1, old ^ 0x80, 0, 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] = new;
            Tracked::decode(&bytes, &mut |_| None);
        }
    }
    assert_eq!(Tracked::decode(b"", &mut |_| None), None);
    assert_eq!(Tracked::decode(&bytes[..100], &mut |_| None), None);
}

#[test]
fn paths_that_lead_elsewhere_are_left_out() {
    let place = Place::repository();
    place.write("aaaaaaaaaa", "").git("add .");
    let bytes = std::fs::read(place.path(".git/index")).unwrap();
    let at = bytes.windows(10).position(|window| window == b"aaaaaaaaaa").unwrap();
    for name in [b"/etc/passw", b"../etc/pas", b"a/../../bb", b"a//bbbbbbb", b".git/confi"] {
        let mut bytes = bytes.clone();
        bytes[at..at + 10].copy_from_slice(name);
        assert!(Tracked::decode(&bytes, &mut |_| None).unwrap().is_empty());
    }
}
