//! The scripted turn of `snick demo` fits its project.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use super::{check_tree, root, tree};

/// Copies the project of the demo to `folder`.
fn copy_project(folder: &Path) {
    for source in tree("fixtures/workspaces/demo") {
        let path = folder.join(source.path.strip_prefix("fixtures/workspaces/demo/").unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, source.text).unwrap();
    }
}

/// Does what a call says, as plainly as can be, and tells what came of it.
#[expect(clippy::disallowed_methods, reason = "a bare bash shows that the project needs only that")]
fn play(folder: &Path, call: &Value) -> String {
    let name = call["name"].as_str().unwrap();
    let argument = |name: &str| call["arguments"][name].as_str().unwrap_or_default();
    let path = folder.join(argument("path"));
    match name {
        "list_files" | "read_file" => assert!(path.exists(), "{call}"),
        "write_file" => fs::write(&path, argument("content")).unwrap(),
        "edit_file" => {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches(argument("old_string")).count(), 1, "{call}");
            fs::write(&path, text.replace(argument("old_string"), argument("new_string"))).unwrap();
        }
        "bash" => {
            let mut command = Command::new("bash");
            let output = command.current_dir(folder).args(["-c", argument("command")]).output();
            let output = output.unwrap();
            return format!("{}{}\n", String::from_utf8_lossy(&output.stdout), output.status);
        }
        other => panic!("the demo calls `{other}`"),
    }
    format!("{name} {}\n", argument("path"))
}

#[test]
fn the_demo_leaves_a_project_whose_checks_pass() {
    let dir = tempfile::tempdir().unwrap();
    copy_project(dir.path());
    let replies = fs::read_to_string(root().join("fixtures/turns/demo.jsonl")).unwrap();
    let mut played = String::new();
    for reply in replies.lines() {
        let reply: Value = serde_json::from_str(reply).unwrap();
        assert!(!reply["text"].as_str().unwrap().is_empty());
        let calls = reply["calls"].as_array().unwrap();
        played.extend(calls.iter().map(|call| play(dir.path(), call)));
        played += "--\n";
    }
    expect![[r"
        list_files 
        read_file todo
        read_file lib/store.sh
        --
        read_file tests/add.sh
        ok      tests/add.sh
        ok      tests/done.sh
        exit status: 0
        --
        edit_file todo
        edit_file todo
        edit_file todo
        edit_file lib/store.sh
        write_file tests/urgent.sh
        --
        ok      tests/add.sh
        ok      tests/done.sh
        ok      tests/urgent.sh
        exit status: 0
        --
        edit_file README.md
        --
        --
    "]]
    .assert_eq(&played);
}

#[test]
fn the_demo_brings_its_whole_project() {
    let code = fs::read_to_string(root().join("src/app/demo.rs")).unwrap();
    let files = tree("fixtures/workspaces/demo").into_iter().map(|source| source.path);
    let names = files.map(|path| path.replace("fixtures/workspaces/demo/", ""));
    let lost = names.filter(|name| !code.contains(&format!("{name:?}")));
    check_tree(lost.map(|name| format!("src/app/demo.rs does not bring `{name}`")));
}
