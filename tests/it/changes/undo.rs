//! Taking back and doing again: only what was written, and only where nobody wrote since.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::world::World;

async fn edit(world: &mut World, path: &str, old: &str, new: &str) {
    let arguments = json!({ "path": path, "old_string": old, "new_string": new });
    let told = world.call("edit_file", arguments).await;
    assert!(told.starts_with("Changed"), "{told}");
}

async fn create(world: &mut World, path: &str, content: &str) {
    let told = world.call("write_file", json!({ "path": path, "content": content })).await;
    assert!(told.starts_with("Created"), "{told}");
}

#[tokio::test]
async fn a_turn_is_taken_back_as_one_and_done_again() {
    let mut world = World::new(&[("a.txt", "one\r\n"), ("b.txt", "b")]);
    edit(&mut world, "a.txt", "one", "two").await;
    edit(&mut world, "a.txt", "two", "three").await;
    create(&mut world, "new/deep/c.txt", "c\n").await;
    world.begin_turn();
    edit(&mut world, "b.txt", "b", "B").await;
    assert_eq!(world.undo(), "b.txt");
    assert_eq!(world.undo(), "new/deep/c.txt; a.txt");
    assert_eq!(world.undo(), "nothing");
    assert_eq!(world.read("a.txt"), "one\\r\\n");
    assert_eq!(world.tree(), ["a.txt", "b.txt"]);
    world.reopen_journal();
    assert_eq!(world.redo(), "new/deep/c.txt; a.txt");
    assert_eq!(world.redo(), "b.txt");
    assert_eq!(world.redo(), "nothing");
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("three\\r\\n", "B"));
    assert_eq!(world.read("new/deep/c.txt"), "c\\n");
    assert_eq!(world.undo(), "b.txt");
}

#[tokio::test]
async fn a_file_that_somebody_wrote_since_is_left_alone() {
    let mut world = World::new(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    edit(&mut world, "a.txt", "a", "A").await;
    world.begin_turn();
    for name in ["a", "b", "c"] {
        let (old, new) = if name == "a" { ("A", "AA") } else { (name, "x") };
        edit(&mut world, &format!("{name}.txt"), old, new).await;
    }
    create(&mut world, "d.txt", "d").await;
    world.put("b.txt", b"by hand");
    std::fs::remove_file(world.path("c.txt")).unwrap();
    world.put("d.txt", b"by hand");
    assert_eq!(
        world.undo(),
        "a.txt; d.txt: it was changed since; c.txt: it was removed since; b.txt: it was changed since"
    );
    assert_eq!(
        (world.read("b.txt").as_str(), world.read("d.txt").as_str()),
        ("by hand", "by hand")
    );
    assert_eq!(world.undo(), "a.txt");
    assert_eq!(world.read("a.txt"), "a");
}

#[tokio::test]
async fn a_change_of_a_person_between_two_writes_survives() {
    let mut world = World::new(&[("a.txt", "one\ntwo\n")]);
    edit(&mut world, "a.txt", "one", "1").await;
    world.put("a.txt", b"1\ntwo\nby hand\n");
    edit(&mut world, "a.txt", "two", "2").await;
    assert_eq!(world.undo(), "a.txt; a.txt: it was changed since");
    assert_eq!(world.read("a.txt"), "1\\ntwo\\nby hand\\n");
}

#[tokio::test]
async fn folders_that_others_use_by_now_stay() {
    let mut world = World::new(&[]);
    create(&mut world, "x/y/a.txt", "a").await;
    world.put("x/other.txt", b"o");
    assert_eq!(world.undo(), "x/y/a.txt");
    assert_eq!(world.tree(), ["x/", "x/other.txt"]);
}

#[tokio::test]
async fn undo_does_not_follow_a_link_that_was_put_in_the_way() {
    let mut world = World::new(&[("dir/a.txt", "a"), ("other/a.txt", "b")]);
    edit(&mut world, "dir/a.txt", "a", "b").await;
    std::fs::remove_dir_all(world.path("dir")).unwrap();
    symlink("other", world.path("dir")).unwrap();
    assert_eq!(world.undo(), "dir/a.txt: a symbolic link stands there or on the way now");
    assert_eq!(world.read("other/a.txt"), "b");
}

#[tokio::test]
async fn a_large_file_is_written_and_said_to_be_out_of_reach_of_undo() {
    let mut world = World::new(&[("a.txt", &("line\n".repeat(2 << 20) + "END"))]);
    let arguments = json!({ "path": "a.txt", "old_string": "END", "new_string": "DONE" });
    let told = world.call("edit_file", arguments).await;
    assert!(told.ends_with("[cannot be undone: the file is larger than 8 MiB]"), "{told}");
    assert_eq!(world.undo(), "a.txt: its earlier bytes are not in the undo journal");
}

#[tokio::test]
async fn a_torn_line_of_the_journal_loses_nothing_else() {
    let mut world = World::new(&[("a.txt", "one")]);
    edit(&mut world, "a.txt", "one", "two").await;
    let index = world.journal_folder().join("index.jsonl");
    let text = std::fs::read_to_string(&index).unwrap();
    std::fs::write(&index, format!("{text}{}", &text[..text.len() / 2])).unwrap();
    world.reopen_journal();
    world.begin_turn();
    edit(&mut world, "a.txt", "two", "three").await;
    world.reopen_journal();
    assert_eq!((world.undo(), world.undo()), ("a.txt".to_owned(), "a.txt".to_owned()));
    assert_eq!(world.read("a.txt"), "one");
}

#[tokio::test]
async fn a_damaged_blob_is_never_restored() {
    let mut world = World::new(&[("a.txt", "one")]);
    edit(&mut world, "a.txt", "one", "two").await;
    for blob in std::fs::read_dir(world.journal_folder().join("blobs")).unwrap() {
        std::fs::write(blob.unwrap().path(), "other").unwrap();
    }
    assert_eq!(world.undo(), "a.txt: its earlier bytes are not in the undo journal");
    assert_eq!(world.read("a.txt"), "two");
}
