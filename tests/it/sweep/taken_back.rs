//! Changes by commands in the journal: kept apart from those of tools, taken back only as they were shown.

use std::path::Path;

use expect_test::{Expect, expect};

use snick::change::{Journal, last_by_commands, restore, undo};
use snick::index::sweep::Own;
use snick::message::CallId;
use snick::workspace::Workspace;

use super::found::{look, workspace};

/// Has a "command" do `work`, then somebody do `since`, and takes back what can be.
#[track_caller]
fn check(work: &[fn(&Path)], since: fn(&Path), expected: &Expect) {
    let files = [("a.txt", "one\n"), ("b.txt", "b\n"), ("dir/c.txt", "c\n")];
    let (folder, workspace) = workspace(&files);
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(place.path()).unwrap();
    journal.begin_turn();
    let mut before = look(&workspace, None);
    for work in work {
        work(folder.path());
        let after = look(&workspace, Some(&before));
        for found in after.changes_since(&before, &Own::new()).changes {
            journal.record_by_command(&CallId("call".to_owned()), &found).unwrap();
        }
        before = after;
    }
    since(folder.path());
    // A later program run reads the same from disk.
    let mut journal = Journal::open(place.path()).unwrap();
    assert!(undo::undo(&workspace, &mut journal).unwrap().is_none());
    let mut told = taken_back(&workspace, &mut journal);
    let left = last_by_commands(&workspace, &journal).unwrap();
    told.push(format!("left: {:?}", left.iter().map(|file| &file.path).collect::<Vec<_>>()));
    for name in ["a.txt", "b.txt", "dir/c.txt", "new.txt"] {
        let text = std::fs::read(folder.path().join(name));
        let text = text.map_or("(absent)".to_owned(), |bytes| bytes.escape_ascii().to_string());
        told.push(format!("{name} = {text}"));
    }
    expected.assert_eq(&told.join("\n"));
}

fn taken_back(workspace: &Workspace, journal: &mut Journal) -> Vec<String> {
    let mut told = Vec::new();
    for file in last_by_commands(workspace, journal).unwrap() {
        let done = match &file.way_back {
            Ok(restorable) => match restore(workspace, journal, restorable) {
                Ok(()) => "taken back".to_owned(),
                Err(error) => error.to_string(),
            },
            Err(why) => why.clone(),
        };
        told.push(format!("{}: {done}", file.path));
    }
    told
}

fn nothing(_: &Path) {}

fn wreak(at: &Path) {
    std::fs::write(at.join("a.txt"), "two\n").unwrap();
    std::fs::remove_file(at.join("b.txt")).unwrap();
    std::fs::remove_dir_all(at.join("dir")).unwrap();
    std::fs::write(at.join("new.txt"), "new\n").unwrap();
}

#[test]
fn everything_that_a_command_did_is_taken_back() {
    check(
        &[wreak],
        nothing,
        &expect![[r#"
        a.txt: taken back
        b.txt: taken back
        dir/c.txt: taken back
        new.txt: taken back
        left: []
        a.txt = one\n
        b.txt = b\n
        dir/c.txt = c\n
        new.txt = (absent)"#]],
    );
}

#[test]
fn what_several_commands_did_to_a_file_is_taken_back_as_one() {
    let work: [fn(&Path); 3] = [
        |at| std::fs::write(at.join("a.txt"), "two\n").unwrap(),
        |at| std::fs::write(at.join("a.txt"), "three\n").unwrap(),
        |at| std::fs::remove_file(at.join("a.txt")).unwrap(),
    ];
    check(
        &work,
        nothing,
        &expect![[r#"
        a.txt: taken back
        left: []
        a.txt = one\n
        b.txt = b\n
        dir/c.txt = c\n
        new.txt = (absent)"#]],
    );
}

#[test]
fn what_somebody_changed_since_is_left_alone() {
    let since = |at: &Path| {
        std::fs::write(at.join("a.txt"), "by hand\n").unwrap();
        std::fs::write(at.join("b.txt"), "by hand\n").unwrap();
        std::fs::write(at.join("new.txt"), "by hand\n").unwrap();
    };
    check(
        &[wreak],
        since,
        &expect![[r#"
        a.txt: it was changed since
        b.txt: it was changed since
        dir/c.txt: taken back
        new.txt: it was changed since
        left: ["a.txt", "b.txt", "new.txt"]
        a.txt = by hand\n
        b.txt = by hand\n
        dir/c.txt = c\n
        new.txt = by hand\n"#]],
    );
}

#[test]
fn a_file_too_large_to_be_kept_is_named_and_left() {
    let work: [fn(&Path); 1] =
        [|at| std::fs::write(at.join("a.txt"), "x".repeat(300 << 10)).unwrap()];
    check(
        &work,
        |at| std::fs::remove_file(at.join("a.txt")).unwrap(),
        &expect![[r#"
        a.txt: it is too large to be compared
        left: ["a.txt"]
        a.txt = (absent)
        b.txt = b\n
        dir/c.txt = c\n
        new.txt = (absent)"#]],
    );
}
