//! What commands may leave of git: no folder and no note that starts a program when the person uses git.

use super::protected::writes;
use super::{RUNGS, World};

/// Shell that makes the folder `at` a repository with these settings.
fn repository(at: &str, settings: &str) -> String {
    // Nothing that it writes is named by the command, which would be asked.
    format!(
        "mkdir -p {at}/objects {at}/refs && h=HEA && echo 'ref: refs/heads/main' > {at}/${{h}}D && \
         printf '[core]\\n\\tbare = false\\n{settings}' > {at}/config"
    )
}

const STARTS: &str = "\\tfsmonitor = touch ran; false\\n";

#[test]
fn a_folder_that_git_would_take_for_a_repository_starts_nothing() {
    for options in RUNGS {
        let world = World::new();
        world.write("ws/src/main.c", "int main;\n");
        world.write("ws/lib/main.c", "int main;\n");
        let commands = [
            repository("src", STARTS),
            repository("lib", ""),
            writes("lib/config", "[core]\\n\\tfsmonitor = x"),
            "git init -q --bare hooked; echo x > hooked/hooks/pre-push".to_owned(),
            "mkdir -p led/to && h=HEA && echo 'ref: refs/heads/main' > led/${h}D && \
             mkdir led/to/objects led/to/refs && echo to > led/commondir"
                .to_owned(),
            "git init -q --bare plain".to_owned(),
        ];
        let answers = world.run(options, &commands.each_ref().map(String::as_str));
        for (at, said) in [true, false, true, true, true, false].into_iter().enumerate() {
            assert_eq!(answers[at].contains("` is a protected name"), said, "{answers:#?}");
        }
        let root = world.path("ws");
        // Where contents are kept, the settings are again what they were.
        let lib = ("lib", *options == RUNGS[1]);
        for (name, is_one) in
            [("src", false), lib, ("hooked", false), ("led", false), ("plain", true)]
        {
            let found = world.outside(&format!("git -C {name} rev-parse --absolute-git-dir"));
            let expected = if is_one { root.join(name) } else { root.join(".git") };
            assert_eq!(found.trim(), expected.to_str().unwrap(), "{options:?}: {answers:#?}");
        }
        assert_eq!(world.outside("git -C lib config core.fsmonitor"), "", "{answers:#?}");
        let kept = ["src/main.c", "lib/main.c"].map(|name| root.join(name).exists());
        assert_eq!(kept, [true, true], "{answers:#?}");
    }
}

#[test]
fn a_repository_with_hooks_that_was_there_before_is_kept_as_it_was() {
    for options in RUNGS {
        let world = World::new();
        world.outside("git init -q --bare remote.git && echo x > remote.git/hooks/post-receive");
        let answers = world.run(
            options,
            &[
                &writes("remote.git/hooks/post-receive", "evil"),
                &writes("remote.git/config", "evil"),
                "git -C remote.git rev-parse --is-bare-repository",
            ],
        );
        assert_eq!(answers[2], "done: true\n[exit code: 0]", "{answers:#?}");
        let hook = std::fs::read_to_string(world.path("ws/remote.git/hooks/post-receive"));
        assert_eq!(hook.unwrap(), "x\n", "{answers:#?}");
        assert!(!world.outside("cat remote.git/config").contains("evil"), "{answers:#?}");
    }
}

#[test]
fn a_new_repository_with_a_list_of_a_rebase_or_an_old_remote_is_taken_away() {
    for options in RUNGS {
        let world = World::new();
        let make = |name: &str, file: &str, text: &str| {
            format!(
                "git init -q {name}; g={name}/.gi; mkdir -p ${{g}}t/$(dirname {file}); \
                 echo '{text}' > ${{g}}t/{file}"
            )
        };
        let answers = world.run(
            options,
            &[
                &make("listed", "rebase-merge/git-rebase-todo", "  exec touch ran"),
                &make("merged", "rebase-merge/strategy", "./x"),
                &make("led", "branches/upstream", "ssh://evil/"),
                &make("free", "rebase-merge/git-rebase-todo", "pick 0123 x"),
            ],
        );
        let left = ["listed", "merged", "led", "free"]
            .map(|name| world.path("ws").join(name).join(".git").exists());
        assert_eq!(left, [false, false, false, true], "{answers:#?}");
    }
}

/// A world in which the person is in the middle of a rebase, and whose hook runs a script of the
/// repository.
fn rebasing() -> World {
    let world = World::new();
    world.outside(
        "git config user.name a; git config user.email a@b; git commit -q --allow-empty -m b; \
         GIT_SEQUENCE_EDITOR=\"sed -i '1ibreak'\" git rebase -q -i HEAD~1 --keep-empty; \
         printf '#!/bin/sh\\n. ./check.sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    );
    assert!(world.path("ws/.git/rebase-merge/git-rebase-todo").exists());
    world
}

#[test]
fn what_a_hook_writes_for_the_next_git_of_the_person_does_not_stay() {
    let traps = [
        ("rebase-merge/git-rebase-todo", "exec touch ran"),
        ("rebase-merge/git-rebase-todo", "\tx touch ran"),
        ("rebase-merge/strategy", "../x"),
        ("sequencer/opts", "[options]\n\tstrategy=../x"),
    ];
    for options in RUNGS {
        for (name, text) in traps {
            let world = rebasing();
            let check = format!("mkdir -p .git/sequencer; printf '{text}\\n' >> .git/{name}\n");
            world.write("ws/check.sh", &check);
            let commit = "git commit -q --allow-empty -m c";
            let answers = world.run(options, &[commit, "git log -1 --format=%s"]);
            assert_eq!(answers[1], "done: c\n[exit code: 0]", "{answers:#?}");
            assert!(
                answers[0].contains(&format!(".git/{name}` is a protected name")),
                "{answers:#?}"
            );
            assert!(!world.path("ws/.git").join(name).exists(), "{name}: {answers:#?}");
        }
    }
}

#[test]
fn a_list_of_the_person_stays_with_what_it_starts() {
    for options in RUNGS {
        let world = rebasing();
        world.outside("echo 'exec true' >> .git/rebase-merge/git-rebase-todo");
        world.write("ws/check.sh", "\n");
        let answers = world.run(options, &["git commit -q --allow-empty -m c"]);
        assert_eq!(answers, ["done: [no output]\n[exit code: 0]"]);
        let list = world.outside("cat .git/rebase-merge/git-rebase-todo");
        assert!(list.ends_with("exec true\n"), "{list}");
    }
}

#[test]
fn without_namespaces_what_a_hook_makes_of_gits_own_is_taken_away() {
    let names = [
        "hooks/post-merge",
        "branches/upstream",
        "config.worktree",
        "info/attributes",
        "worktrees/x/commondir",
    ];
    for name in names {
        let world = rebasing();
        let check = format!("mkdir -p $(dirname .git/{name}); echo x > .git/{name}\n");
        world.write("ws/check.sh", &check);
        let answers = world.run(RUNGS[1], &["git commit -q --allow-empty -m c"]);
        assert!(answers[0].contains("was moved to"), "{name}: {answers:#?}");
        assert!(!world.path("ws/.git").join(name).exists(), "{name}");
    }
    let world = rebasing();
    world.write("ws/check.sh", "git config core.pager x; git config user.name b\n");
    let answers = world.run(RUNGS[1], &["git commit -q --allow-empty -m c"]);
    assert!(answers[0].contains("was undone"), "{answers:#?}");
    assert_eq!(world.outside("git config core.pager; git config user.name"), "a\n");
}

#[test]
fn git_alone_writes_no_file_of_its_folder_by_name() {
    let world = World::new();
    let commands = [
        "git log -1 --format=tformat:x --output=.git/made",
        "git log -1 --format=tformat:x --outp=.git/made",
        "git show --output .git/made",
        "git diff --stat --output=.git/made HEAD",
        "git format-patch -1 -o .git/made",
        "git format-patch --root --output-directory=.git/made",
        "git archive -o .git/made HEAD",
        "git bundle create .git/made HEAD",
        "git rebase -q -f -x'touch .git/made' --root",
        "git rebase -q -fx 'touch .git/made' --root",
        "git commit -q --allow-empty -m -- --template=a",
        "git grep -nO'touch .git/made' a",
        "git bisect view --output=.git/made",
        "git repack -ad --expire-to=.git/made",
        "git cherry-pick --strategy=./x HEAD",
        "git worktree add -q made",
    ];
    let answers = world.run(&["--mode", "auto"], &commands);
    assert!(!world.path("ws/.git/worktrees").exists(), "{answers:#?}");
    assert_eq!(
        world.outside("ls .git | grep made; git rev-list --count HEAD"),
        "1\n",
        "{answers:#?}"
    );
    let usual = "git add -A . && git commit -qam 'fix -x and -O' --no-verify && git log --oneline -1 \
                 --stat && git switch -qc topic && git merge -q -s ours main && git stash list";
    world.write("ws/b", "b\n");
    world.outside("git config user.name a; git config user.email a@b");
    let answers = world.run(&["--mode", "auto"], &[usual]);
    assert!(answers[0].ends_with("[exit code: 0]"), "{answers:#?}");
    assert_eq!(world.outside("git rev-list --count topic"), "2\n", "{answers:#?}");
}

#[test]
fn settings_that_git_alone_opened_hold_nothing_that_starts_or_leads_elsewhere() {
    let evil = "printf '[core]\\n\\tfsmonitor = x\\n' >> .git/config";
    for options in RUNGS {
        let world = rebasing();
        world.write("ws/check.sh", &format!("{evil}\n"));
        let before = world.outside("cat .git/config");
        let answers = world.run(
            options,
            &[
                "git config user.name Ann; git log -1 '--format=tformat:[core]%n fsmonitor=x' \
                 --output=.git/config",
                "git config user.name Ann && git commit -q --allow-empty -m x",
                "git config user.name Ann && git remote add o https://evil.invalid/",
                "git config user.name Ann && git branch -q topic && git tag t",
            ],
        );
        let config = world.outside("cat .git/config");
        assert_eq!(config, before.replace("name = a", "name = Ann"), "{answers:#?}");
        for answer in &answers[1..3] {
            assert!(answer.contains("was undone"), "{answers:#?}");
        }
        assert_eq!(answers[3], "done: [no output]\n[exit code: 0]");
    }
}
