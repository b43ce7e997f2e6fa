//! A workspace that is the person's home, or a part of it, where Snick's own folders lie.

use expect_test::{Expect, expect};

use serde_json::json;

use super::place::Place;
use super::{RUNGS, World, answers};

/// Runs a script of these lines in the home; compares what the model reads and what the home holds.
#[track_caller]
fn check(options: &[&str], script: &str, expected: &Expect) {
    let world = World::new();
    world.write("home/.config/snick/config.toml", "# mine\n");
    world.write("home/.config/autostart/a", "orig\n");
    world.write("home/.profile", "orig\n");
    world.write("home/.local/state/snick/note", "own\n");
    world.write("home/s", script);
    let home = world.path("home");
    let options = [&["-C", home.to_str().unwrap()], options].concat();
    let call = serde_json::json!({"command": "bash s 2>&1 | sed 's/^.*: //'"});
    let said = answers(world.batch(&options), &[call]).join("\n");
    let listed = "cd ~; find . -type f -not -path './.local/state/*' -not -path './.cache/*' | sort | \
                  while read -r f; do echo \"$f: $(head -1 \"$f\")\"; done";
    let first: Vec<&str> = said.lines().filter(|line| !line.starts_with('[')).collect();
    expected.assert_eq(&format!("{}\n\n{}", first.join("\n"), world.outside(listed)));
    assert_eq!(world.outside("cat ~/.local/state/snick/note"), "own\n");
}

#[test]
fn commands_neither_see_nor_write_what_is_snick_s_own() {
    let script = "cat .config/snick/config.toml\nls -A .config/snick\n\
                  echo evil > .config/snick/rules.toml\nmv .config moved\n\
                  mkdir -p .config/snick && echo evil > .config/snick/config.toml\n\
                  cat .local/state/snick/note\necho evil > .local/state/snick/note\n\
                  rm -r .local/state/snick\nls -A .local/state/snick\n";
    check(
        &["--mode", "auto"],
        script,
        &expect![[r#"
            done: No such file or directory
            Read-only file system
            Device or resource busy
            Read-only file system
            No such file or directory
            Read-only file system
            Device or resource busy

            ./.config/autostart/a: orig
            ./.config/snick/config.toml: # mine
            ./.profile: orig
            ./s: cat .config/snick/config.toml
        "#]],
    );
    check(
        &["--mode", "ask", "--add-dir", "../out"],
        script,
        &expect![[r#"
            denied: No such file or directory
            Read-only file system
            Read-only file system
            Device or resource busy
            Read-only file system
            No such file or directory
            Read-only file system
            Device or resource busy
            create moved/autostart/a
            create the folder moved/snick
            Do not try to achieve it another way; say in your answer what was left undone]

            ./.config/autostart/a: orig
            ./.config/snick/config.toml: # mine
            ./.profile: orig
            ./s: cat .config/snick/config.toml
        "#]],
    );
}

#[test]
fn under_bubblewrap_it_is_the_same() {
    if !super::bubblewrap::is_here() {
        return;
    }
    check(
        super::bubblewrap::OPTIONS,
        "cat .local/state/snick/note\necho evil > .local/state/snick/note\nls -A .config/snick\n\
         rm -r .local/state/snick 2> /dev/null\necho fine > fine\n",
        &expect![[r#"
            done: No such file or directory
            Read-only file system

            ./.config/autostart/a: orig
            ./.config/snick/config.toml: # mine
            ./.profile: orig
            ./fine: fine
            ./s: cat .local/state/snick/note
        "#]],
    );
}

#[test]
fn what_was_taken_away_can_be_read_there_and_nothing_else_of_snick_s_own() {
    let bubblewrap = super::bubblewrap::is_here().then_some(super::bubblewrap::OPTIONS);
    for options in [RUNGS[0]].into_iter().chain(bubblewrap) {
        let world = World::new();
        world.write("home/.local/state/snick/note", "own\n");
        let home = world.path("home");
        let options = [&["-C", home.to_str().unwrap()], options].concat();
        world.write(
            "home/s",
            "cd .local/state/snick; cat note sessions/*/*/log.jsonl; echo evil > note\n\
             rm -f sessions/*/*/log.jsonl; cat sessions/*/*/outputs/taken-away/*/AGENTS.md\n",
        );
        let answers = world.run(&options, &["n=AGENTS; echo made > $n.md", "bash s 2> /dev/null"]);
        assert_eq!(answers[1], "done: made\n[exit code: 0]", "{options:?}: {answers:#?}");
        assert_eq!(world.outside("cat ~/.local/state/snick/note"), "own\n", "{options:?}");
    }
}

#[test]
fn what_starts_processes_from_a_home_is_protected_there() {
    let script = "echo evil >> .profile\necho evil > .bashrc\nmkdir .ssh\n\
                  echo evil > .ssh/authorized_keys\necho evil >> .config/autostart/a\n\
                  mkdir -p .config/systemd/user\necho evil > .config/systemd/user/x.service\n\
                  echo fine > fine\n";
    check(
        &["--mode", "auto"],
        script,
        &expect![[r#"
        done: Read-only file system
        Read-only file system

        ./.config/autostart/a: orig
        ./.config/snick/config.toml: # mine
        ./.profile: orig
        ./fine: fine
        ./s: echo evil >> .profile
    "#]],
    );
}

#[test]
fn landlock_alone_runs_nothing_unasked_there() {
    check(
        &["--mode", "auto", "--sandbox", "landlock"],
        "echo evil > fine\n",
        &expect![[r#"
        denied: denied: this needs a person's yes (there is no sandbox here, so commands are asked), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.

        ./.config/autostart/a: orig
        ./.config/snick/config.toml: # mine
        ./.profile: orig
        ./s: echo evil > fine
    "#]],
    );
}

#[test]
fn what_starts_processes_from_a_home_is_asked_of_file_tools_there() {
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x"}));
    let names = [".bashrc", ".config/autostart/x.desktop", ".ssh/config", "bin/x", "fine"];
    for mode in ["auto", "full"] {
        let place = Place::new();
        let home = place.path("home").display().to_string();
        let ran = place.turn(&["-C", &home, "--mode", mode], &names.map(write));
        let expected = ["denied", "denied", "denied", "denied", "done"];
        assert_eq!(ran.statuses(), expected, "{mode}: {}", ran.out);
    }
}
