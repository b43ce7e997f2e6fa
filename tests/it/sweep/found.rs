//! Looks at a workspace, and what differs between two of them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use expect_test::{Expect, expect};

use snick::index::snapshot::{Cut, Limits, Snapshot};
use snick::index::sweep::{Found, Kind, Look, Own};
use snick::workspace::{Options, Workspace};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "out/\n"),
    ("a.txt", "one\ntwo\n"),
    ("dir/b.txt", "b\n"),
    ("dir/c.sh", "echo c\n"),
    ("out/built.txt", "built\n"),
];

pub(super) fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let start = folder.path().to_owned();
    let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
    (folder, workspace)
}

pub(super) fn look(workspace: &Workspace, before: Option<&Look>) -> Look {
    Look::take(workspace, Limits::default(), before, Vec::new(), &|| false)
}

fn told(found: &Found, workspace: &Workspace) -> String {
    let path = found.path.strip_prefix(workspace.start()).unwrap().display().to_string();
    let kind = match found.kind {
        Kind::Created => "created".to_owned(),
        Kind::Modified => "modified".to_owned(),
        Kind::Deleted => "deleted".to_owned(),
        Kind::Mode { before, after } => format!("mode {before:03o} {after:03o}"),
    };
    let mut text = format!("{kind} {path}");
    for image in [&found.before, &found.after] {
        let bytes = image.as_ref().map(|image| image.bytes.escape_ascii().to_string());
        write!(text, " | {}", bytes.unwrap_or_else(|| "-".to_owned())).unwrap();
    }
    text
}

/// Does `work` to a workspace of `FILES` between two looks; `own` is what tools wrote of it.
#[track_caller]
fn check(work: impl FnOnce(&Path), own: &[(&str, Option<&str>)], expected: &Expect) {
    let (folder, workspace) = workspace(FILES);
    let before = look(&workspace, None);
    work(folder.path());
    let after = look(&workspace, Some(&before));
    let own = own.iter().map(|(name, text)| {
        (workspace.start().join(name), text.map(|text| text.as_bytes().into()))
    });
    let own: Own = own.collect::<HashMap<_, _>>();
    let swept = after.changes_since(&before, &own);
    assert_eq!(swept.more, 0);
    let lines: Vec<String> = swept.changes.iter().map(|found| told(found, &workspace)).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn created_modified_and_deleted_files_are_found_with_what_they_were() {
    let work = |at: &Path| {
        std::fs::write(at.join("a.txt"), "one\n2\n").unwrap();
        std::fs::remove_file(at.join("dir/b.txt")).unwrap();
        std::fs::create_dir(at.join("new")).unwrap();
        std::fs::write(at.join("new/d.txt"), "d\n").unwrap();
    };
    check(
        work,
        &[],
        &expect![[r#"
            modified a.txt | one\ntwo\n | one\n2\n
            deleted dir/b.txt | b\n | -
            created new/d.txt | - | d\n"#]],
    );
}

#[test]
fn a_rename_is_a_file_that_went_and_one_that_came() {
    check(
        |at| std::fs::rename(at.join("a.txt"), at.join("dir/a2.txt")).unwrap(),
        &[],
        &expect![[r#"
            deleted a.txt | one\ntwo\n | -
            created dir/a2.txt | - | one\ntwo\n"#]],
    );
}

#[test]
fn other_permissions_alone_are_told_as_such() {
    let work = |at: &Path| {
        let path = at.join("dir/c.sh");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    check(work, &[], &expect![[r#"mode 644 755 dir/c.sh | echo c\n | echo c\n"#]]);
}

#[test]
fn ignored_files_and_touched_ones_are_no_changes() {
    let work = |at: &Path| {
        std::fs::write(at.join("out/built.txt"), "again\n").unwrap();
        std::fs::write(at.join("out/more.txt"), "more\n").unwrap();
        std::fs::write(at.join("a.txt"), "one\ntwo\n").unwrap();
    };
    check(work, &[], &expect![""]);
}

#[test]
fn an_edit_that_leaves_size_and_time_of_writing_is_found() {
    let work = |at: &Path| {
        let path = at.join("a.txt");
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "one\nTWO\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(written).unwrap();
    };
    check(work, &[], &expect![[r#"modified a.txt | one\ntwo\n | one\nTWO\n"#]]);
}

#[test]
fn a_link_is_told_by_its_name() {
    check(|at| symlink("a.txt", at.join("link")).unwrap(), &[], &expect!["created link | - | -"]);
}

#[test]
fn what_tools_wrote_is_not_a_change_by_commands() {
    let work = |at: &Path| {
        std::fs::write(at.join("a.txt"), "mine\n").unwrap();
        std::fs::write(at.join("made.txt"), "made\n").unwrap();
        std::fs::remove_file(at.join("dir/b.txt")).unwrap();
        std::fs::write(at.join("dir/c.sh"), "echo d\n").unwrap();
    };
    let own = [("a.txt", Some("mine\n")), ("made.txt", Some("made\n")), ("dir/b.txt", None)];
    check(work, &own, &expect![[r#"modified dir/c.sh | echo c\n | echo d\n"#]]);
}

#[test]
fn a_command_after_a_tool_is_compared_with_what_the_tool_wrote() {
    let work = |at: &Path| {
        std::fs::write(at.join("a.txt"), "mine and more\n").unwrap();
        std::fs::write(at.join("dir/b.txt"), "back\n").unwrap();
    };
    let own = [("a.txt", Some("mine\n")), ("made.txt", Some("made\n")), ("dir/b.txt", None)];
    check(
        work,
        &own,
        &expect![[r#"
            modified a.txt | mine\n | mine and more\n
            created dir/b.txt | - | back\n
            deleted made.txt | made\n | -"#]],
    );
}

#[test]
fn a_stamp_proves_nothing_while_the_clock_may_not_have_moved() {
    let (_folder, workspace) = workspace(&[("a.txt", "one\n")]);
    let stamp = Snapshot::take(&workspace, Limits::default(), &|| false)
        .stamp(&workspace.start().join("a.txt"))
        .unwrap();
    let altered = SystemTime::UNIX_EPOCH + Duration::from_nanos(stamp.altered.unsigned_abs());
    let rows = [(0, true), (10, true), (19, true), (21, false), (60_000, false)];
    for (after, expected) in rows {
        let now = altered + Duration::from_millis(after);
        assert_eq!(stamp.is_racy(now), expected, "{after} ms");
    }
    let whole = snick::workspace::Stamp { altered: 1_700_000_000_000_000_000, ..stamp };
    let altered = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (after, expected) in [(1_900, true), (2_100, false)] {
        assert_eq!(whole.is_racy(altered + Duration::from_millis(after)), expected, "{after} ms");
    }
}

#[test]
fn a_large_tree_is_cut_and_compared_as_far_as_both_looks_go() {
    let (folder, workspace) = workspace(&[("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]);
    let limits = Limits { files: 3, ..Limits::default() };
    let take = |limits| Snapshot::take(&workspace, limits, &|| false);
    let before = take(limits);
    assert_eq!((before.len(), before.cut), (3, Some(Cut::Files)));
    std::fs::write(folder.path().join("a0"), "new").unwrap();
    std::fs::write(folder.path().join("d"), "other").unwrap();
    std::fs::remove_file(folder.path().join("b")).unwrap();
    let after = take(limits);
    let changed = after.changes_since(&before).into_iter().filter(|found| !found.is_doubtful());
    let names: Vec<String> =
        changed.map(|found| found.path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["a0", "b"]);
    let no_time = Limits { time: Duration::ZERO, ..Limits::default() };
    assert_eq!(take(no_time).cut, Some(Cut::Time));
    assert_eq!(take(Limits::default()).cut, None);
}
