//! The index in a session: after a command that changes many files, the tools tell of the files as they are.

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use snick::approval::{Decision, Mode, Scope};
use snick::index::{Index, Options};

use super::git;
use crate::world::{World, call, reply};

/// Runs `command`, then the call, in a repository of 600 files; compares what the call gives, and
/// returns how often all files were looked at.
async fn check(command: &str, (name, arguments): (&str, Value), expected: Expect) -> u64 {
    let names: Vec<String> =
        (0..600).map(|number| format!("part_{}/file_{number:03}.txt", number / 200)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "before\n")).collect();
    let replies = vec![
        reply("", vec![call("search", &json!({"pattern": "before"}))]),
        reply("", vec![call("bash", &json!({"command": command}))]),
        reply("", vec![call(name, &arguments)]),
        reply("done", vec![]),
    ];
    // To move files by a pattern is always asked.
    let answer = [Decision::Accept(Scope::Once)];
    let mut world = World::new(Mode::Full, &files, replies).answering(answer);
    git(world.folder.path(), "init -q");
    git(world.folder.path(), "add .");
    world.turn("go").await.unwrap();
    let log = world.log();
    let last = log.rsplit_once("a done: ").unwrap().1;
    expected.assert_eq(last);
    world.agent.index.n_looks()
}

/// Changes 250 files, moves 250 others, and makes one that is ignored.
const COMMAND: &str = "for n in $(seq 200 449); do echo after > $(ls part_*/file_$n.txt); done
    mkdir moved; mv part_0/file_0??.txt part_0/file_1[0-4]?.txt part_2/file_5??.txt moved
    echo '*.log' > .gitignore; echo after > x.log";

#[tokio::test]
async fn a_search_after_a_command_that_changed_500_files_is_right_and_looks_once() {
    let asked = json!({"pattern": "after", "limit": 2});
    let expected = expect![[r#"
            part_1/file_200.txt:1: after
            part_1/file_201.txt:1: after
            [250 matching lines in 250 files; 2 shown; to see others give a `path`, a `glob` or a narrower pattern]
            [also in: part_1/file_202.txt (1), part_1/file_203.txt (1), part_1/file_204.txt (1), part_1/file_205.txt (1), part_1/file_206.txt (1), part_1/file_207.txt (1), part_1/file_208.txt (1), part_1/file_209.txt (1), part_1/file_210.txt (1), part_1/file_211.txt (1), part_1/file_212.txt (1), part_1/file_213.txt (1), and 236 more files]
            model: done
        "#]];
    assert_eq!(check(COMMAND, ("search", asked), expected).await, 2);
}

#[tokio::test]
async fn a_listing_after_a_command_that_changed_500_files_is_right_and_looks_once() {
    let expected = expect![[r#"
            .gitignore (6 B)
            moved/ (250 files)
            part_0/ (50 files)
            part_1/ (200 files)
            part_2/ (100 files)
            [601 files; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most 2000)]
            model: done
        "#]];
    assert_eq!(check(COMMAND, ("list_files", json!({"limit": 8})), expected).await, 2);
}

#[tokio::test]
async fn a_watched_index_looks_at_nothing_between_searches_and_at_all_after_a_command() {
    let search = || reply("", vec![call("search", &json!({"pattern": "before"}))]);
    let replies = vec![
        search(),
        reply("done", vec![]),
        search(),
        reply("", vec![call("read_file", &json!({"path": "a.txt"}))]),
        search(),
        reply("done", vec![]),
        reply("", vec![call("bash", &json!({"command": "true"}))]),
        search(),
        reply("done", vec![]),
    ];
    let mut world = World::new(Mode::Full, &[("a.txt", "before\n")], replies);
    git(world.folder.path(), "init -q");
    let (root, cache) = (world.agent.workspace.root().to_owned(), tempfile::tempdir().unwrap());
    let options = Options { watch_from: 0, ..Options::default() };
    world.agent.index = Arc::new(Index::open(&root, Some(cache.path()), options));
    world.turn("look").await.unwrap();
    let index = Arc::clone(&world.agent.index);
    // Until what was written a moment ago is old enough to be trusted, it is looked at again.
    let mut before = u64::MAX;
    while before != index.n_looks() {
        before = index.n_looks();
        std::thread::sleep(std::time::Duration::from_millis(30));
        index.refresh(&|| false).unwrap();
        index.finish();
    }
    world.turn("look again").await.unwrap();
    assert_eq!(index.n_looks(), before);
    world.turn("do something").await.unwrap();
    index.finish();
    assert!(index.n_looks() > before);
}
