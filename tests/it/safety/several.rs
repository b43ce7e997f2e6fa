//! Protected files that have other names, by which commands can write.

use super::{RUNGS, World, bubblewrap};

#[test]
fn what_is_written_by_another_name_is_put_back() {
    let protected =
        ["AGENTS.md", ".vscode/in/tasks.json", ".git/hooks/pre-commit", "mig/m", ".git/config"];
    let here = bubblewrap::is_here().then_some(bubblewrap::OPTIONS);
    for options in RUNGS.iter().copied().chain(here) {
        let world = World::new();
        world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"mig/\"\n");
        for name in &protected[..4] {
            world.write(&format!("ws/{name}"), "GOOD\n");
        }
        for (number, name) in protected.iter().enumerate() {
            world.outside(&format!("ln {name} other{number}"));
        }
        let list = format!("cat {}", protected.join(" "));
        let before = world.outside(&list);
        let answers = world.run(
            options,
            &[
                "cp other0 x; cat x > other0; touch other1",
                "for f in other*; do echo '[core] pager = evil' > $f; done",
                "for f in other*; do echo more >> $f; done; cat other0",
            ],
        );
        assert_eq!(world.outside(&list), before, "{options:?}: {answers:#?}");
        assert!(!answers[0].contains("undone"), "{options:?}: {answers:#?}");
        assert_eq!(answers[1].matches("undone").count(), protected.len(), "{answers:#?}");
        // What was put back has no other name any more.
        assert_eq!(answers[2], "done: [core] pager = evil\nmore\n[exit code: 0]", "{options:?}");
    }
}
