//! Names that are kept from commands where a command moves or closes the folders above, or changes the links.

use super::{RUNGS, World};

/// Has git take what is there.
const COMMIT: &str = "git add -A && git -c user.name=a -c user.email=a@b commit -qm b";

impl World {
    /// Runs `script`, whose text the program does not see.
    fn script(&self, options: &[&str], script: &str) -> String {
        let script = script.replace("$OUT", self.path("out").to_str().unwrap());
        self.write("home/s.sh", &script);
        self.run(options, &[&format!("bash {}", self.path("home/s.sh").display())]).concat()
    }
}

#[test]
fn what_is_moved_with_its_folder_stays_there_as_it_was() {
    for options in RUNGS {
        for command in ["mv pkg new; mv nest in/nest2", "git mv pkg new", "mv pkg on; mv on new"] {
            let world = World::new();
            world.write("ws/pkg/deep/AGENTS.md", "Be kind.\n");
            world.write("ws/pkg/deep/.vscode/tasks.json", "{}\n");
            world.write("ws/in/a", "");
            world.outside("git init -q nest; echo n > nest/n");
            world.outside(
                "cd nest && git add n && git -c user.name=a -c user.email=a@b commit -qm nested",
            );
            world.outside(&COMMIT.replace("-A", "pkg in"));
            let answers = world.run(options, &[command, "echo x >> new/deep/AGENTS.md"]);
            let now = world.outside(
                "cat new/deep/AGENTS.md new/deep/.vscode/tasks.json; ls -d pkg nest* in/nest* \
                 2>/dev/null; git -C nest log --format=%s 2>/dev/null || git -C in/nest2 log \
                 --format=%s",
            );
            let nest = if command.contains("nest2") { "in/nest2" } else { "nest" };
            let expected = format!("Be kind.\n{{}}\n{nest}\nnested\n");
            assert_eq!(now, expected, "{options:?} {command}: {answers:#?}");
            let told = answers[0].matches("guarded there as they were here").count();
            assert!(told >= 1, "{options:?} {command}: {answers:#?}");
        }
    }
}

#[test]
fn what_would_not_be_kept_where_it_was_moved_is_moved_back() {
    let scripts = [
        // Shut away by its path.
        "mv conf conf2",
        "mv conf conf2; mkdir conf; echo new > conf/secret.txt",
        "mv conf conf2; ln -s conf2 conf",
        "mkdir on; mv conf on/",
        "mv priv in/conf",
        // Where nobody looks.
        "mkdir -p node_modules; mv h node_modules/h",
        "mv pkg node_modules/pkg",
        // Another takes the place of what is hidden.
        "mv h h2; mkdir h; echo EVIL=1 > h/.env",
        // What is protected for the folder that it is in.
        "mv templates/.github .github",
        // What a link leads to.
        "mv conf2 conf3; mkdir -p conf2/vscode; echo evil > conf2/vscode/tasks.json",
        "mkdir -p e/f; mv links e/f/",
    ];
    for options in RUNGS {
        for script in scripts {
            let world = World::new();
            for (name, text) in [
                ("h/.env", "K=KEPT\n"),
                ("conf/secret.txt", "KEPT\n"),
                ("conf/open.txt", "open\n"),
                ("priv/in/s", "KEPT\n"),
                ("in/a", "a\n"),
                ("node_modules/a", "a\n"),
                ("pkg/AGENTS.md", "Be kind.\n"),
                ("templates/.github/workflows/x.yml", "on: push\n"),
                ("conf2/vscode/tasks.json", "{}\n"),
                ("docs/g.md", "Be kind.\n"),
                ("links/a", "a\n"),
                (".snickignore", "conf/secret.txt\n/priv/in/\n"),
            ] {
                // That is where some of them move to.
                let name =
                    name.replace("conf2", if script.contains("conf3") { "conf2" } else { "c" });
                world.write(&format!("ws/{name}"), text);
            }
            world.outside("ln -s ../docs/g.md links/CLAUDE.md; ln -s conf2/vscode .vscode");
            let list = "find . -path ./.git -prune -o ! -type d -printf '%p %l\\n' | sort; \
                        cat h/.env conf/* priv/in/s links/CLAUDE.md .vscode/tasks.json";
            let before = world.outside(list);
            let answer = world.script(options, script);
            assert_eq!(world.outside(list), before, "{options:?} {script}: {answer}");
            assert!(answer.contains("was moved back from"), "{options:?} {script}: {answer}");
        }
    }
}

#[test]
fn what_a_rule_keeps_is_moved_back_though_its_name_is_kept_elsewhere_too() {
    for text in ["[[deny]]\nread = \"h/.env\"\n", "[[deny]]\nwrite = \"h/AGENTS.md\"\n"] {
        let world = World::new();
        world.write("home/.config/snick/rules.toml", text);
        world.write("ws/h/.env", "K=KEPT\n");
        world.write("ws/h/AGENTS.md", "Be kind.\n");
        let answer = world.script(RUNGS[1], "mv h h2");
        assert_eq!(world.outside("ls; cat h/.env h/AGENTS.md"), "a\nh\nK=KEPT\nBe kind.\n");
        assert!(answer.contains("was moved back from"), "{text}: {answer}");
    }
}

#[test]
fn links_are_kept_as_what_they_lead_to() {
    let scripts = [
        "rm CLAUDE.md; echo evil > CLAUDE.md",
        "rm CLAUDE.md",
        "ln -sfn pkg .vscode; echo evil > pkg/tasks.json",
        "mkdir evil; echo evil > evil/tasks.json; ln -sfn evil between",
        "rm -rf sub; mkdir sub; echo evil > sub/GEMINI.md",
        "echo evil > conf/vscode/tasks.json",
        "echo evil > conf/vscode/launch.json",
        "echo evil > docs/g.md",
        "echo evil > later.md",
        // By rules.
        "rm flink; echo evil > flink",
        "rm alias; mkdir alias",
        "rm hidden; cat behind/s; echo evil > behind/s",
        "echo evil > real/f; echo evil > tgt",
        // What only hides is a link, too.
        "rm .env; echo evil > .env",
    ];
    for options in RUNGS {
        for script in scripts {
            let world = World::new();
            world.write(
                "home/.config/snick/rules.toml",
                "[[deny]]\nwrite = \"alias/**\"\n\n[[deny]]\nwrite = \"flink\"\n\n\
                 [[deny]]\nread = \"hidden/**\"\n",
            );
            for (name, text) in [
                ("AGENTS.md", "Be kind.\n"),
                ("conf/vscode/tasks.json", "{}\n"),
                ("docs/g.md", "Be kind.\n"),
                ("pkg/a", "a\n"),
                ("sub/a", "a\n"),
                ("real/f", "f\n"),
                ("behind/s", "SECRET\n"),
                ("tgt", "t\n"),
                ("sec/values", "VALUE\n"),
            ] {
                world.write(&format!("ws/{name}"), text);
            }
            world.outside(
                "ln -s AGENTS.md CLAUDE.md; ln -s conf/vscode between; ln -s between .vscode; \
                 ln -s ../docs/g.md sub/GEMINI.md; ln -s later.md QWEN.md; ln -s real alias; \
                 ln -s tgt flink; ln -s behind hidden; ln -s sec/values .env",
            );
            let list = "for f in CLAUDE.md between .vscode sub/GEMINI.md QWEN.md alias flink hidden .env; \
                        do readlink $f || echo none; done; ls conf/vscode later.md 2>/dev/null; \
                        cat .vscode/* docs/g.md CLAUDE.md real/f tgt behind/s \
                        sec/values";
            let before = world.outside(list);
            let answer = world.script(options, script);
            assert_eq!(world.outside(list), before, "{options:?} {script}: {answer}");
            let again = world.script(options, "cat behind/s");
            let is_seen = *options == RUNGS[1] || script.contains("cat");
            assert!(is_seen || !again.contains("SECRET"), "{options:?} {script}: {again}");
        }
    }
}

#[test]
fn what_git_takes_hooks_and_settings_from_is_kept() {
    let scripts = [
        "printf '#!/bin/sh\\nevil\\n' > hooks\\ of/pre-commit",
        "echo evil > hooks\\ of/post-commit",
        "echo evil >> inc/first",
        "echo evil >> inc/second",
        "mv inc in2; mkdir inc; echo evil > inc/first",
    ];
    for options in RUNGS {
        for script in scripts {
            let world = World::new();
            world.write("ws/hooks of/pre-commit", "#!/bin/sh\n");
            world.write("ws/inc/first", "[include]\n\tpath = second\n");
            world.write("ws/inc/second", "[user]\n\tname = a\n");
            world.outside(
                "git config core.hooksPath 'hooks of'; git config include.path ../inc/first",
            );
            let list = "ls hooks\\ of inc; cat hooks\\ of/* inc/*";
            let before = world.outside(list);
            let answer = world.script(options, script);
            assert_eq!(world.outside(list), before, "{options:?} {script}: {answer}");
        }
    }
}

#[test]
fn what_git_reads_in_many_ways_is_read_so_here() {
    // Git joins lines, knows escapes, and takes neither in what is a comment.
    let rows = [
        ("hooksPath = \\\n  team\\\n-hooks\n", "team-hooks"),
        ("hooksPath = \\\r\n\tteam-hooks\r\n", "team-hooks"),
        ("hooksPath = .hk\\tA\n", ".hk\tA"),
        ("hooksPath = .hk\\bA\n", ".hk\u{8}A"),
        ("hooksPath = \"a\\\\b\" ; c\n", "a\\b"),
        ("# no line goes on here \\\n\thooksPath = own\n", "own"),
    ];
    for options in RUNGS {
        for (setting, folder) in rows {
            let world = World::new();
            world.outside("printf '[core]\\n' >> .git/config");
            let config = std::fs::read_to_string(world.path("ws/.git/config")).unwrap();
            world.write("ws/.git/config", &format!("{config}\t{setting}"));
            assert_eq!(world.outside("git config core.hooksPath").trim_end(), folder.trim_end());
            let script =
                "f=$(git config core.hooksPath); mkdir -p \"$f\"; echo evil > \"$f/pre-commit\"";
            let answer = world.script(options, script);
            let made = world.path("ws").join(folder).join("pre-commit");
            assert!(!made.exists(), "{options:?} {setting}: {answer}");
        }
    }
}

#[test]
fn a_new_link_takes_nothing_away_from_what_it_leads_to() {
    for options in RUNGS {
        let world = World::new();
        world.write("ws/README.md", "Read me.\n");
        let answer = world.script(options, "ln -s README.md AGENTS.md");
        let left = world.outside("ls; cat README.md");
        assert_eq!(left, "README.md\na\nRead me.\n", "{options:?}: {answer}");
    }
}

#[test]
fn a_closed_folder_keeps_nothing_that_a_command_made_or_changed() {
    for options in RUNGS {
        for mode in ["555", "111", "000"] {
            let world = World::open_to_all();
            world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"*.lock\"\n");
            world.write("ws/pkg/CLAUDE.md", "Be kind.\n");
            world.write("ws/sub/Cargo.lock", "lock\n");
            world.write("ws/.vscode/tasks.json", "{}\n");
            world.outside(&format!("git init -q -b main && {COMMIT}"));
            let list = "find . -path ./.git/index -prune -o -printf '%p %y %m\\n' | sort; \
                        cat pkg/* sub/* .vscode/*";
            let before = world.outside(list);
            world.write(
                "home/s.sh",
                &format!(
                    "rm -f pkg/CLAUDE.md; for f in pkg/CLAUDE.md sub/Cargo.lock .vscode/tasks.json \
                     .git/hooks/pre-commit AGENTS.md pkg/AGENTS.md sub/x.lock; do echo evil > $f; \
                     done; mkdir -p .claude new/in; echo evil > .claude/settings.json; \
                     echo evil > new/in/AGENTS.md; \
                     chmod {mode} .claude new/in new pkg sub .git/hooks .vscode ."
                ),
            );
            let command = format!("bash {}", world.path("home/s.sh").display());
            let answers = world.run_without_root(options, &[&command]);
            let modes = world.outside("stat -c %a . new 2>/dev/null");
            world.outside("chmod 755 . pkg sub new new/in; rm -rf new");
            assert_eq!(world.outside(list), before, "{options:?} {mode}: {answers:#?}");
            let mode = mode.trim_start_matches("00");
            // In the workspace itself nothing could run any more.
            let own = if mode == "555" { mode } else { "755" };
            assert_eq!(modes, format!("{own}\n{mode}\n"), "{options:?}: {answers:#?}");
        }
    }
}
