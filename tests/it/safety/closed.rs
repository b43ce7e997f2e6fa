//! Folders that are closed to the person, who is not root: what lies in them is kept from commands all the same.

use std::os::unix::fs::PermissionsExt as _;

use super::{RUNGS, World, bubblewrap};

/// What rules, `.snickignore` and names keep from being read, also where no walk comes.
const HIDDEN: &[&str] = &[
    "sub/deep/s.hid",
    "sub/deep/.env",
    "sub/deep/i.txt",
    "sub/deep/.npmrc",
    "node_modules/s/spelled",
    "node_modules/r/ruled",
    "node_modules/l/end",
];

/// What must not be changed.
const GUARDED: &[&str] = &["sub/deep/AGENTS.md", "sub/mig/m", "node_modules/w/guarded"];

const RULES: &str = "[[deny]]\nread = \"*.hid\"\n[[deny]]\nread = \"node_modules/r/ruled\"\n\
                     [[deny]]\nwrite = \"mig/\"\n[[deny]]\nwrite = \"node_modules/w/guarded\"\n";

#[test]
fn what_lies_in_closed_folders_is_hidden_and_guarded() {
    let here = bubblewrap::is_here().then_some(bubblewrap::OPTIONS);
    for options in RUNGS.iter().copied().chain(here) {
        let hides = !options.contains(&"landlock");
        // Who closes them: an earlier command, the person, and the same command.
        for commands in [&["close", "open"][..], &["open"], &["close; bash $HOME/open"]] {
            let world = World::open_to_all();
            for name in HIDDEN {
                world.write(&format!("ws/{name}"), "_auth CANARY\n");
            }
            for name in GUARDED {
                world.write(&format!("ws/{name}"), "GOOD\n");
            }
            world.write("ws/.snickignore", "i.txt\n/node_modules/s/spelled\n");
            world.write("home/.config/snick/rules.toml", RULES);
            world.outside("git init -q; ln -s node_modules/l/end link.hid");
            let close = "find sub node_modules -depth -type d | xargs chmod 000\n";
            world.write("home/close", &format!("chmod 000 sub/deep/.npmrc\n{close}"));
            let open = format!(
                "chmod -R u+rwX sub node_modules\ncat {}\nfor f in {}; do echo BAD > $f; done\n",
                HIDDEN.join(" "),
                GUARDED.join(" ")
            );
            world.write("home/open", &open);
            if commands == ["open"] {
                world.outside("bash ~/close");
            }
            let home = world.path("home");
            let commands = commands.iter().map(|name| {
                format!("bash {}/{name} 2>&1; true", home.display())
                    .replace("$HOME", home.to_str().unwrap())
            });
            let commands: Vec<String> = commands.collect();
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            let answers = world.run_without_root(options, &commands);
            let all = answers.join("\n");
            let ran = answers.iter().filter(|answer| answer.starts_with("done: ")).count();
            assert_eq!(ran, commands.len(), "{options:?} {commands:?}: {all}");
            assert!(!hides || !all.contains("CANARY"), "{options:?} {commands:?}: {all}");
            world.outside("chmod -R u+rwX .");
            let read =
                |name: &&str| std::fs::read_to_string(world.path(&format!("ws/{name}"))).unwrap();
            let left: String = GUARDED.iter().map(read).collect();
            assert_eq!(left, "GOOD\n".repeat(GUARDED.len()), "{options:?} {commands:?}: {all}");
        }
    }
}

#[test]
fn what_a_closed_repository_starts_is_seen() {
    let here = bubblewrap::is_here().then_some(bubblewrap::OPTIONS);
    for options in RUNGS.iter().copied().chain(here) {
        for closed in ["new/.g*", "new/.g*/hooks"] {
            let world = World::open_to_all();
            world.outside("git init -q");
            world.write(
                "home/make",
                &format!(
                    "git init -q new; echo x > new/.git/hooks/pre-commit; chmod 000 {closed}\n"
                ),
            );
            let command = format!("bash {}", world.path("home/make").display());
            let answers = world.run_without_root(options, &[&command]);
            world.outside("chmod -R u+rwX .");
            assert_eq!(world.outside("ls -A new"), "", "{options:?} {closed}: {answers:#?}");
        }
    }
}

#[test]
fn a_command_that_closes_the_workspace_does_not_end_the_work() {
    let here = bubblewrap::is_here().then_some(bubblewrap::OPTIONS);
    for options in RUNGS.iter().copied().chain(here) {
        for mode in ["000", "400", "100"] {
            let world = World::open_to_all();
            world.outside("chmod 750 . ../out");
            let (added, workspace) = (world.path("out"), world.path("ws"));
            let options = [options, &["--add-dir", added.to_str().unwrap()]].concat();
            let close = format!("chmod {mode} $PWD {}", added.display());
            let answers = world.run_without_root(&options, &[&close, "stat -c %a ."]);
            let told = |folder: &std::path::Path| {
                format!(
                    "[the command closed `{}`; it has the mode again that it had, since nothing \
                     could run in it otherwise]\n",
                    folder.display()
                )
            };
            let told = [told(&added), told(&workspace)].concat();
            assert_eq!(
                answers,
                [
                    format!("done: [no output]\n{told}[exit code: 0]"),
                    "done: 750\n[exit code: 0]".into()
                ],
                "{options:?} {mode}"
            );
        }
    }
}

#[test]
fn a_workspace_that_cannot_be_entered_is_told_with_what_opens_it() {
    // Without a sandbox nobody looks after a command.
    let world = World::open_to_all();
    let folder = world.path("ws").display().to_string();
    let options = ["--mode", "full", "--sandbox", "off"];
    let answers = world.run_without_root(&options, &["chmod 000 .", "echo on"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = format!(
        "failed: `{folder}` cannot be entered, since its mode is 000: `chmod u+rwx '{folder}'` by \
         hand opens it; nothing was run"
    );
    assert_eq!(answers[1], told);
}
