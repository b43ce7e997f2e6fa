//! A workspace that is the person's home, or a part of it, where Snick's own folders lie.

use expect_test::{Expect, expect};

use super::{World, answers};

/// Runs a script of these lines in the home; compares what the model reads and what the home holds.
#[track_caller]
fn check(options: &[&str], script: &str, expected: &Expect) {
    let world = World::new();
    world.write("home/.config/snick/config.toml", "# mine\n");
    world.write("home/.config/autostart/a", "orig\n");
    world.write("home/.profile", "orig\n");
    world.write("home/s", script);
    let home = world.path("home");
    let options = [&["-C", home.to_str().unwrap()], options].concat();
    let call = serde_json::json!({"command": "bash s 2>&1 | sed 's/^.*: //'"});
    let said = answers(world.batch(&options), &[call]).join("\n");
    let listed = "cd ~; find . -type f -not -path './.local/state/*' -not -path './.cache/*' | sort | \
                  while read -r f; do echo \"$f: $(head -1 \"$f\")\"; done";
    let first: Vec<&str> = said.lines().filter(|line| !line.starts_with('[')).collect();
    expected.assert_eq(&format!("{}\n\n{}", first.join("\n"), world.outside(listed)));
}

#[test]
fn commands_neither_see_nor_write_what_is_snick_s_own() {
    let script = "cat .config/snick/config.toml\nls -A .config/snick\n\
                  echo evil > .config/snick/rules.toml\nmv .config moved\n\
                  mkdir -p .config/snick && echo evil > .config/snick/config.toml\n\
                  rm -r .local/state/snick\nls -A .local/state/snick\n";
    check(
        &["--mode", "auto"],
        script,
        &expect![[r#"
        done: No such file or directory
        Read-only file system
        Device or resource busy
        Read-only file system
        Read-only file system
        sessions

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
