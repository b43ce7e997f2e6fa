//! Very many protected names at once: there is no number after which they stay.

use super::{RUNGS, World};

/// Returns what git finds changed, and the remarks of `answer` without the workspace's own path.
fn left(world: &World, answer: &str) -> (String, usize) {
    let remarks = answer.lines().filter(|line| line.starts_with('[')).count();
    (world.outside("rm -f s; git status --porcelain --ignored"), remarks)
}

#[test]
fn however_many_protected_names_a_command_makes_none_stays_and_few_words_tell() {
    for options in RUNGS {
        let world = World::new();
        world.write(
            "ws/s",
            "for i in {1..1500}; do mkdir -p many/$i; : > many/$i/AGENTS.md; done
             mkdir -p zz/.vscode; echo P > zz/.vscode/tasks.json
             deep=$(printf 'd/%.0s' {1..40}); mkdir -p $deep; echo P > $deep/AGENTS.md",
        );
        let answers = world.run(options, &["bash s"]);
        // Ten by name, one for the others, and the exit code.
        assert_eq!(left(&world, &answers[0]), (String::new(), 12), "{answers:#?}");
        let more =
            "[of 1,492 more such names that the command made or changed, 1,492 were moved below";
        assert!(answers[0].contains(more), "{answers:#?}");
        let kept = world.outside("find ~/.local/state/snick/sessions -name AGENTS.md | wc -l");
        assert_eq!(kept, "1501\n");
    }
}

#[test]
fn what_stands_behind_very_many_other_files_is_found() {
    let world = World::new();
    // Deeper than they are, so that they come first.
    world.write(
        "ws/s",
        "mkdir -p many/zz/y/x; (cd many; printf '%s\\n' {1..51000} | xargs touch)
         echo P > many/zz/y/x/AGENTS.md",
    );
    let answers = world.run(RUNGS[0], &["bash s"]);
    assert!(answers[0].contains("is a protected name"), "{answers:#?}");
    assert!(!world.path("ws/many/zz/y/x/AGENTS.md").exists());
}

#[test]
fn very_many_new_files_in_a_protected_folder_are_taken_away_one_and_all() {
    let world = World::new();
    world.write("ws/.vscode/settings.json", "{}");
    world.outside("git add -A && git -c user.name=a -c user.email=a@b commit -qm b");
    world.write(
        "ws/s",
        "printf '.vscode/%s\\n' {1..5000} | xargs touch; echo P > .vscode/tasks.json",
    );
    let answers = world.run(RUNGS[1], &["bash s"]);
    assert_eq!(left(&world, &answers[0]).0, "", "{answers:#?}");
}

#[test]
fn a_folder_of_very_many_files_is_taken_to_another_file_system() {
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
    for options in RUNGS {
        let world = World::new();
        world.write("ws/s", "mkdir .vscode; printf '.vscode/%s\\n' {1..1100} | xargs touch");
        let mut program = world.batch(options);
        program.env("XDG_STATE_HOME", other.path());
        let answers = super::answers(program, &[serde_json::json!({"command": "bash s"})]);
        assert!(answers[0].contains("was moved to"), "{answers:#?}");
        assert_eq!(left(&world, &answers[0]).0, "", "{answers:#?}");
    }
}
