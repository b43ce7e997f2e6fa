//! Writing through the opened parent folder of a file.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use expect_test::expect;
use snick::message::ContentHash;
use snick::workspace::{CreateFolders, FileError, Folder, Permissions};

use super::Tree;

fn folder(tree: &Tree, path: &str) -> Result<Folder, FileError> {
    let workspace = tree.open("");
    workspace.folder_of(&workspace.locate(path).unwrap(), CreateFolders::No)
}

fn names(tree: &Tree) -> Vec<String> {
    let names = fs::read_dir(tree.path()).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn replace(tree: &Tree, path: &str, base: &str, new: &str) -> Result<(), FileError> {
    let folder = folder(tree, path)?;
    folder
        .write_temporary(new.as_bytes(), Permissions::Kept)?
        .replace(ContentHash::of(base.as_bytes()))?;
    folder.sync()
}

#[test]
fn a_file_is_replaced_if_it_is_the_base() {
    let tree = Tree::new().file("a.txt", "one");
    replace(&tree, "a.txt", "one", "two").unwrap();
    assert_eq!(fs::read_to_string(tree.path().join("a.txt")).unwrap(), "two");
    assert_eq!(names(&tree), ["a.txt"]);
}

#[test]
fn another_version_is_put_back() {
    let tree = Tree::new().file("a.txt", "theirs");
    let before = fs::metadata(tree.path().join("a.txt")).unwrap().ino();
    let error = replace(&tree, "a.txt", "one", "two").unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    assert_eq!(fs::read_to_string(tree.path().join("a.txt")).unwrap(), "theirs");
    assert_eq!(fs::metadata(tree.path().join("a.txt")).unwrap().ino(), before);
    assert_eq!(names(&tree), ["a.txt"]);
}

#[test]
fn what_turned_up_or_vanished_is_respected() {
    let tree = Tree::new().file("a.txt", "theirs").folder("sub");
    let hash = ContentHash::of(b"theirs");
    let error = replace(&tree, "gone.txt", "one", "two").unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    let there = folder(&tree, "a.txt").unwrap();
    let error = there.write_temporary(b"mine", Permissions::Kept).unwrap().create().unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    let error = folder(&tree, "sub").unwrap().write_temporary(b"", Permissions::Kept).unwrap_err();
    assert!(matches!(error, FileError::Directory { .. }), "{error}");
    // A folder under the name while the temporary file waits is put back as well.
    let waiting = there.write_temporary(b"mine", Permissions::Kept).unwrap();
    fs::remove_file(tree.path().join("a.txt")).unwrap();
    fs::create_dir(tree.path().join("a.txt")).unwrap();
    waiting.replace(hash).unwrap_err();
    assert_eq!(names(&tree), ["a.txt", "sub"]);
}

#[test]
fn a_new_file_gets_the_usual_permissions_or_those_given() {
    let tree = Tree::new().folder("x");
    let usual = fs::File::create(tree.path().join("usual")).unwrap().metadata().unwrap().mode();
    folder(&tree, "a").unwrap().write_temporary(b"1", Permissions::Kept).unwrap().create().unwrap();
    let exactly = Permissions::Exactly(0o750);
    folder(&tree, "b").unwrap().write_temporary(b"2", exactly).unwrap().create().unwrap();
    let mode = |name: &str| fs::metadata(tree.path().join(name)).unwrap().mode();
    assert_eq!((mode("a"), mode("b") & 0o7777), (usual, 0o750));
}

#[test]
fn mode_and_attributes_of_a_replaced_file_are_kept() {
    let tree = Tree::new().file("a.sh", "one");
    let path = tree.path().join("a.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    // Not every file system has attributes.
    let has_attributes = rustix::fs::setxattr(&path, "user.tag", b"v", flags).is_ok();
    replace(&tree, "a.sh", "one", "two").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o754);
    let mut value = [0; 8];
    let length = rustix::fs::getxattr(&path, "user.tag", &mut value[..]).ok();
    assert_eq!(length, has_attributes.then_some(1));
}

#[test]
fn a_dropped_temporary_leaves_nothing() {
    let tree = Tree::new().file("a.txt", "one");
    let folder = folder(&tree, "a.txt").unwrap();
    let temporary = folder.write_temporary(b"two", Permissions::Kept).unwrap();
    assert_eq!(names(&tree).len(), 2);
    drop(temporary);
    assert_eq!(names(&tree), ["a.txt"]);
}

#[test]
fn a_file_is_removed_only_if_it_is_the_base() {
    let tree = Tree::new().file("a.txt", "one");
    let folder = folder(&tree, "a.txt").unwrap();
    let error = folder.remove(ContentHash::of(b"other")).unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    assert_eq!(names(&tree), ["a.txt"]);
    folder.remove(ContentHash::of(b"one")).unwrap();
    assert_eq!(names(&tree), Vec::<String>::new());
}

#[test]
fn a_folder_that_is_moved_or_linked_away_takes_the_write_with_it() {
    let tree = Tree::new().file("sub/a.txt", "one");
    let held = folder(&tree, "sub/a.txt").unwrap();
    fs::rename(tree.path().join("sub"), tree.path().join("moved")).unwrap();
    std::os::unix::fs::symlink("../outside", tree.path().join("sub")).unwrap();
    let base = ContentHash::of(b"one");
    held.write_temporary(b"two", Permissions::Kept).unwrap().replace(base).unwrap();
    assert_eq!(fs::read_to_string(tree.path().join("moved/a.txt")).unwrap(), "two");
    assert_eq!(fs::read_dir(tree.top.join("outside")).unwrap().count(), 0);
}

#[test]
fn a_link_planted_after_the_look_is_not_followed() {
    let tree = Tree::new().file("sub/a.txt", "one");
    let workspace = tree.open("");
    let at = workspace.locate("sub/a.txt").unwrap();
    fs::write(tree.top.join("outside/a.txt"), "secret").unwrap();
    fs::remove_dir_all(tree.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("../outside", tree.path().join("sub")).unwrap();
    let errors = [
        workspace.read(&at, 99).unwrap_err().to_string(),
        workspace.folder_of(&at, CreateFolders::Yes).unwrap_err().to_string(),
    ];
    fs::remove_file(tree.path().join("sub")).unwrap();
    fs::create_dir(tree.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("../../outside/a.txt", tree.path().join("sub/a.txt")).unwrap();
    let last = workspace.read(&at, 99).unwrap_err();
    expect![[r"
        `sub/a.txt` became a symbolic link after it was looked up; try again
        `sub/a.txt` became a symbolic link after it was looked up; try again
        `sub/a.txt` became a symbolic link after it was looked up; try again"]]
    .assert_eq(&format!("{}\n{last}", errors.join("\n")));
}

#[test]
fn missing_folders_are_made_on_request_only() {
    let tree = Tree::new();
    let workspace = tree.open("");
    let at = workspace.locate("new/deep/a.txt").unwrap();
    let missing = workspace.folder_of(&at, CreateFolders::No).unwrap_err();
    assert!(matches!(missing, FileError::Missing { .. }), "{missing}");
    let folder = workspace.folder_of(&at, CreateFolders::Yes).unwrap();
    let made: Vec<String> =
        folder.made().iter().map(|path| tree.hide(&path.display().to_string())).collect();
    assert_eq!(made, ["/top/w/new", "/top/w/new/deep"]);
    folder.write_temporary(b"x", Permissions::Kept).unwrap().create().unwrap();
    assert_eq!(&*folder.read(9).unwrap().unwrap().bytes, b"x");
}

#[test]
fn nothing_is_opened_for_writing_outside() {
    let tree = Tree::new().file("a.txt", "").link("out", "../outside");
    let refused = |path| match folder(&tree, path) {
        Ok(folder) => format!("opened: {folder:?}"),
        Err(error) => tree.hide(&error.to_string()),
    };
    let refused = ["out/x", "/etc/x", "../state/x", ".", "a.txt/x"].map(refused).join("\n");
    expect![[r"
        `/top/outside/x` is outside the workspace, where nothing is written; the person can add its folder with `--add-dir`
        `/etc/x` is outside the workspace, where nothing is written; the person can add its folder with `--add-dir`
        `/top/state/x` is outside the workspace, where nothing is written; the person can add its folder with `--add-dir`
        `.` is a directory
        a folder on the way to `a.txt/x` is not a directory"]].assert_eq(&refused);
}
