//! `edit_file` and `write_file` as the model meets them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::approval::{
    Decision, Effect, Grant, HunkDecision, Mode, Policy, Settled, judge, settle,
};

use super::world::World;

/// Performs calls one after the other and tells each answer and what the file holds then.
async fn check(world: &mut World, file: &str, calls: &[(&str, Value)], expected: Expect) {
    let mut told = String::new();
    for (name, arguments) in calls {
        told += &world.call(name, arguments.clone()).await;
        told += "\n";
    }
    told += &[file, ": ", &world.read(file)].concat();
    let top = world.workspace.start().parent().unwrap().display().to_string();
    expected.assert_eq(&told.replace(&top, "TOP"));
}

/// Allows an effect whole.
fn granted(effect: &Effect) -> Grant {
    let policy = Policy { mode: Mode::Auto, ..Policy::default() };
    match settle(effect, &judge(&policy, effect), None) {
        Settled::Granted { grant, .. } => grant,
        other => panic!("{other:?}"),
    }
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": "a.txt", "old_string": old, "new_string": new }))
}

fn write(content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": "a.txt", "content": content }))
}

fn append(content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": "a.txt", "content": content, "append": true }))
}

fn read() -> (&'static str, Value) {
    ("read_file", json!({ "path": "a.txt" }))
}

#[tokio::test]
async fn edits_follow_each_other_and_show_what_is_there_now() {
    let mut world = World::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let calls = [edit("two", "2"), edit("one\n2", "1\n2\nII"), edit("two", "x")];
    check(
        &mut world,
        "a.txt",
        &calls,
        expect![[r"
        Changed `a.txt`: +1 -1 lines
        lines 1-3 are now:
        one
        2
        three
        Changed `a.txt`: +2 -1 lines
        lines 1-4 are now:
        1
        2
        II
        three
        error: `a.txt` was not changed: old_string was not found; nothing in the file resembles it
        a.txt: 1\n2\nII\nthree\n"]],
    )
    .await;
}

#[tokio::test]
async fn a_loose_match_and_parted_names_are_said() {
    let mut world = World::new(&[("a.txt", "if x {\n\tgo_on();\n}\n")]);
    std::fs::hard_link(world.path("a.txt"), world.path("b.txt")).unwrap();
    let calls = [edit("    go_on();\n", "    stop();\n")];
    check(
        &mut world,
        "a.txt",
        &calls,
        expect![[r"
        Changed `a.txt`: +1 -1 lines
        lines 1-3 are now:
        if x {
        	stop();
        }
        [old_string matched only apart from its indentation, which was fitted to the file's]
        [the file has 2 names (hard links); this one will be a file of its own]
        a.txt: if x {\n\tstop();\n}\n"]],
    )
    .await;
    assert_eq!(world.read("b.txt"), "if x {\\n\\tgo_on();\\n}\\n");
}

#[tokio::test]
async fn a_file_is_replaced_only_as_it_was_seen() {
    let mut world = World::new(&[("a.txt", "old\n")]);
    check(&mut world, "a.txt", &[write("new\n")], expect![[r"
        error: `a.txt` was not changed: it exists and was not read in this session, so replacing it could lose what is in it. Read it first, change a part with edit_file, or set append
        a.txt: old\n"]]).await;
    check(
        &mut world,
        "a.txt",
        &[read(), write("new\n"), write("newer\n")],
        expect![[r"
            old

            Changed `a.txt`: +1 -1 lines
            line 1 is now:
            new
            Changed `a.txt`: +1 -1 lines
            line 1 is now:
            newer
            a.txt: newer\n"]],
    )
    .await;
    world.put("a.txt", b"by hand\n");
    check(
        &mut world,
        "a.txt",
        &[write("again\n"), edit("newer", "x"), edit("hand", "foot")],
        expect![[r"
            error: `a.txt` was not changed: it has changed since you read it, so replacing it would lose that change. Read it again first
            error: `a.txt` was not changed: it has changed since you read it, so read it again; old_string was not found; nothing in the file resembles it
            Changed `a.txt`: +1 -1 lines
            line 1 is now:
            by foot
            [the file had changed since it was last read]
            a.txt: by foot\n"]],
    )
    .await;
}

#[tokio::test]
async fn a_deleted_file_does_not_come_back() {
    let mut world = World::new(&[("a.txt", "old\n"), ("ab.txt", "")]);
    world.call("read_file", json!({ "path": "a.txt" })).await;
    std::fs::remove_file(world.path("a.txt")).unwrap();
    check(&mut world, "a.txt", &[edit("old", "new")], expect![[r"
        error: `a.txt` does not exist; did you mean `ab.txt`? It was there when you last saw it, and has been deleted since
        a.txt: (absent)"]]).await;
}

#[tokio::test]
async fn what_stands_for_text_left_out_is_not_written() {
    let mut world = World::new(&[("a.txt", "one\ntwo\n")]);
    let calls = [
        read(),
        write("one\n// ... rest of the file unchanged ...\n"),
        edit("two", "2\n# ... existing code ..."),
        edit("two", "[lines 1-2 of 9; go on with offset=3]"),
        edit("two", "def f() -> int: ..."),
    ];
    check(&mut world, "a.txt", &calls, expect![[r"
        one
        two

        error: `a.txt` was not changed: `// ... rest of the file unchanged ...` stands for text left out, but would be written in place of it. Give the whole text, or use edit_file
        error: `a.txt` was not changed: `# ... existing code ...` in new_string stands for text left out, but would be written as it is. Write new_string in full, or make the edit smaller
        error: `a.txt` was not changed: `[lines 1-2 of 9; go on with offset=3]` in new_string stands for text left out, but would be written as it is. Write new_string in full, or make the edit smaller
        Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        one
        def f() -> int: ...
        a.txt: one\ndef f() -> int: ...\n"]]).await;
}

#[tokio::test]
async fn appending_keeps_line_ends_and_needs_no_read() {
    let mut world = World::new(&[("a.txt", "one\r\ntwo")]);
    check(
        &mut world,
        "a.txt",
        &[append("three\nfour\n"), append("")],
        expect![[r"
        Changed `a.txt`: +3 -1 lines
        lines 1-4 are now:
        one
        two
        three
        four
        error: `a.txt` was not changed: content is empty, so there is nothing to append
        a.txt: one\r\ntwo\r\nthree\r\nfour\r\n"]],
    )
    .await;
}

#[tokio::test]
async fn a_rewrite_keeps_mark_and_line_ends() {
    let mut world = World::new(&[("a.txt", "\u{FEFF}one\r\ntwo\r\n")]);
    check(
        &mut world,
        "a.txt",
        &[read(), write("one\n2\nthree\n")],
        expect![[r"
        one
        two

        Changed `a.txt`: +2 -1 lines
        lines 1-3 are now:
        one
        2
        three
        a.txt: \xef\xbb\xbfone\r\n2\r\nthree\r\n"]],
    )
    .await;
    let mut world = World::new(&[("a.txt", "one\r\ntwo\nthree\r\n")]);
    check(
        &mut world,
        "a.txt",
        &[read(), write("one\n2\nthree\nfour\n")],
        expect![[r"
        one
        two
        three

        Changed `a.txt`: +2 -1 lines
        lines 1-4 are now:
        one
        2
        three
        four
        a.txt: one\r\n2\nthree\r\nfour\r\n"]],
    )
    .await;
}

#[tokio::test]
async fn other_encodings_keep_every_other_byte() {
    let mut world = World::new(&[]);
    world.put("a.txt", b"Show('Opera\xE7\xE3o feita');\nend\n");
    let calls = [
        edit("end", "END"),
        edit("Opera\u{e7}\u{e3}o feita", "Opera\u{e7}\u{e3}o ok"),
        edit("END", "\u{fc}ber"),
        append("done\n"),
    ];
    check(&mut world, "a.txt", &calls, expect![[r"
        Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        Show('Operação feita');
        END
        Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        Show('Operação ok');
        END
        error: `a.txt` was not changed: it is not UTF-8; its encoding looks like windows-1252, which is not certain enough to write `ü`. Use ASCII characters and those the file has, or convert the file first
        Changed `a.txt`: +1 -0 lines
        lines 1-3 are now:
        Show('Operação ok');
        END
        done
        a.txt: Show(\'Opera\xe7\xe3o ok\');\nEND\ndone\n"]]).await;
    world.put("a.txt", b"\xFF\xFEa\0\r\0\n\0b\0");
    check(
        &mut world,
        "a.txt",
        &[edit("b", "B\nc")],
        expect![[r"
        Changed `a.txt`: +2 -1 lines
        lines 1-3 are now:
        a
        B
        c
        [the file had changed since it was last read]
        a.txt: \xff\xfea\x00\r\x00\n\x00B\x00\r\x00\n\x00c\x00"]],
    )
    .await;
    world.put("a.txt", b"\x7fELF\0\0");
    check(
        &mut world,
        "a.txt",
        &[edit("ELF", "FLE"), append("x")],
        expect![[r"
        error: `a.txt` was not changed: it is binary, so its text cannot be edited
        error: `a.txt` was not changed: it is binary, so no text can be appended to it
        a.txt: \x7fELF\x00\x00"]],
    )
    .await;
}

#[tokio::test]
async fn files_are_made_with_their_folders() {
    let mut world = World::new(&[("file", "x")]);
    let create = |path: &str| ("write_file", json!({ "path": path, "content": "1\n" }));
    let calls = [
        create("x/y/z.txt"),
        create("file/a.txt"),
        create("x"),
        create("../out.txt"),
        create("~/a"),
        create(""),
    ];
    check(&mut world, "x/y/z.txt", &calls, expect![[r"
        Created `x/y/z.txt`: 1 line
        error: a folder on the way to `file/a.txt` is not a directory
        error: `x` is a directory
        error: `TOP/out.txt` is outside the workspace, where file tools do not write; the person can add its folder with `--add-dir`
        error: `~/a` begins with `~`, which is expanded for reading only; write the path out
        error: the path is empty
        x/y/z.txt: 1\n"]]).await;
    assert_eq!(world.tree(), ["file", "x/", "x/y/", "x/y/z.txt"]);
}

#[tokio::test]
async fn an_absent_or_empty_old_text_says_what_to_use() {
    let mut world = World::new(&[("a.txt", "x")]);
    check(&mut world, "a.txt", &[edit("", "y")], expect![[r"
        error: `a.txt` was not changed: old_string is empty. To append use write_file with append; to insert, give a line beside the place in old_string and repeat it in new_string
        a.txt: x"]]).await;
    let arguments = json!({ "path": "b.txt", "old_string": "", "new_string": "y" });
    check(
        &mut world,
        "b.txt",
        &[("edit_file", arguments)],
        expect![[r"
            error: `b.txt` does not exist; did you mean `a.txt`? To create it use write_file
            b.txt: (absent)"]],
    )
    .await;
}

#[tokio::test]
async fn a_link_stays_and_its_target_changes() {
    let mut world = World::new(&[("real.txt", "one\n")]);
    symlink("real.txt", world.path("a.txt")).unwrap();
    check(
        &mut world,
        "real.txt",
        &[edit("one", "two")],
        expect![[r"
            Changed `real.txt`: +1 -1 lines
            line 1 is now:
            two
            real.txt: two\n"]],
    )
    .await;
    assert!(world.path("a.txt").is_symlink());
}

#[tokio::test]
async fn permissions_are_kept_and_respected() {
    let mut world = World::new(&[("a.txt", "one\n")]);
    let mode = |world: &World| std::fs::metadata(world.path("a.txt")).unwrap().mode() & 0o777;
    let set = |world: &World, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path("a.txt"), permissions).unwrap();
    };
    set(&world, 0o755);
    check(
        &mut world,
        "a.txt",
        &[edit("one", "two")],
        expect![[r"
            Changed `a.txt`: +1 -1 lines
            line 1 is now:
            two
            a.txt: two\n"]],
    )
    .await;
    assert_eq!(mode(&world), 0o755);
    set(&world, 0o444);
    check(&mut world, "a.txt", &[edit("two", "three")], expect![[r"
        error: `a.txt` is read-only (mode 444); nothing was written. If it is meant to be changed, its mode must be changed first
        a.txt: two\n"]]).await;
    assert_eq!((mode(&world), world.tree()), (0o444, vec!["a.txt".to_owned()]));
}

#[tokio::test]
async fn calls_of_one_reply_see_earlier_proposals() {
    let mut world = World::new(&[("a.txt", "one\n")]);
    let first = world.prepare("edit_file", &edit("one", "two").1).await.unwrap();
    let Effect::Write(change) = &first.effect else { panic!("not a write") };
    world.ledger.propose(change);
    let second = world.prepare("edit_file", &edit("two", "three").1).await.unwrap();
    for prepared in [first, second] {
        let grant = granted(&prepared.effect);
        world.run(prepared, grant).await.unwrap();
    }
    assert_eq!(world.read("a.txt"), "three\\n");
}

#[tokio::test]
async fn only_accepted_hunks_are_written_and_told() {
    let mut world = World::new(&[("a.txt", "a\n1\n2\n3\n4\n5\n6\n7\nb\n")]);
    let (name, arguments) = (
        "edit_file",
        json!({ "path": "a.txt", "old_string": "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "new_string": "A\n1\n2\n3\n4\n5\n6\n7\nB\n" }),
    );
    let hunk = |accepted| HunkDecision { accepted, comment: String::new() };
    let decision = Decision::Hunks(vec![hunk(false), hunk(true)]);
    let told = world.decide(name, arguments, decision).await;
    expect![[r"
        Changed `a.txt`: +1 -1 lines
        lines 7-9 are now:
        6
        7
        B"]]
    .assert_eq(&told);
    assert_eq!(world.read("a.txt"), "a\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\nB\\n");
}

#[tokio::test]
async fn a_change_between_proposal_and_write_writes_nothing() {
    let mut world = World::new(&[("a.txt", "one\n")]);
    let (name, arguments) = edit("one", "two");
    let prepared = world.prepare(name, &arguments).await.unwrap();
    world.put("a.txt", b"one\nby hand\n");
    let grant = granted(&prepared.effect);
    let error = world.run(prepared, grant).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`a.txt` changed since the change was proposed; nothing was written"
    );
    assert_eq!(
        (world.read("a.txt").as_str(), world.tree()),
        ("one\\nby hand\\n", vec!["a.txt".to_owned()])
    );
}
