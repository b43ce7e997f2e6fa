//! Files of a tree opened one after the other, some of them through a handle of their folder.

use std::fs;
use std::io::ErrorKind::NotFound;

use snick::workspace::{Opener, Tree};

#[test]
fn files_opened_one_after_the_other_are_those_of_their_paths() {
    let dir = tempfile::tempdir().unwrap();
    let (top, outside) = (dir.path().join("top"), dir.path().join("outside"));
    fs::create_dir_all(top.join("a")).unwrap();
    fs::write(&outside, "outside").unwrap();
    for name in ["1", "2", "3", "4"] {
        fs::write(top.join("a").join(name), name).unwrap();
    }
    std::os::unix::fs::symlink(&outside, top.join("a/link")).unwrap();
    let tree = Tree::open(&top).unwrap();
    let mut opener = Opener::new(&tree);
    let mut read = |path: &str| {
        let text = opener.file(path.as_bytes()).and_then(|(file, _)| std::io::read_to_string(file));
        text.unwrap_or_else(|error| {
            if error.kind() == NotFound { "none" } else { "refused" }.into()
        })
    };
    let before = ["a/1", "a/2", "a/link", "a/.", "a/..", "a/", "a/none", "a/3"].map(&mut read);
    fs::remove_dir_all(top.join("a")).unwrap();
    fs::create_dir(top.join("a")).unwrap();
    fs::write(top.join("a/4"), "new").unwrap();
    let after = ["a/3", "a/4"].map(&mut read);
    let expected = ["1", "2", "refused", "refused", "refused", "refused", "none", "3"];
    assert_eq!((before, after), (expected.map(str::to_owned), ["none", "new"].map(str::to_owned)));
}
