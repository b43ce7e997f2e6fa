//! Rules for paths bind commands, by whatever way these reach a path.

use expect_test::expect;

use super::World;

/// What the person wrote.
const RULES: &str = "[[deny]]\nwrite = \"migrations/**\"\n\n[[deny]]\nread = \"priv/**\"\n\n\
                     [[deny]]\nread = \"deep/er/*.key\"\n\n[[deny]]\nread = \"~/notes/**\"\n\n\
                     [[deny]]\nwrite = \"**/lock.json\"\n\n[[ask]]\nwrite = \"db/schema/*.sql\"\n\n\
                     [[ask]]\nread = \"mem?/**\"\n\n[[deny]]\nwrite = \"vendor/keys/**\"\n";

/// The files that rules for writing name.
const GUARDED: &[&str] =
    &["priv/p.txt", "migrations/1.sql", "migrations/sub/2.sql", "lock.json", "db/schema/s.sql"];

/// Those that may not be read.
const HIDDEN: &[&str] = &["priv/p.txt", "priv/d/q.txt", "deep/er/a.key", "memo/m"];

/// Ways to write to them; each would change or make something.
const WRITES: &[&str] = &[
    "cp a migrations/2.sql",
    "sed -i s/orig/evil/ migrations/* db/*/s.sql lo*.json",
    "echo evil > mig*/1.sql; for f in db/s*/*; do echo evil > $f; done",
    "d=migrations; echo evil > $d/1.sql; echo evil > $d/new; mkdir $d/more",
    "ln -s migrations m; echo evil > m/1.sql; ln -s db/schema n; echo evil > n/new.sql",
    "ln migrations/1.sql hard; echo evil > hard",
    "cd mig*; echo evil > 1.sql; cd ..; python3 -c \"import shutil; shutil.rmtree('migrations', True); shutil.rmtree('db', True)\"; true",
    "mv migrations mm; d=migrations; echo evil > mm/1.sql; mkdir $d; echo evil > $d/1.sql",
    "d=db/schema; mv db dd; mkdir -p $d; echo evil > $d/s.sql",
    "python3 -c \"open('migra' + 'tions/1.sql', 'w').write('evil')\"",
    "chmod 777 migrations migrations/1.sql; touch -d 2001-01-01 mig*/1.sql; true",
    "d=x/y/lock.json; mkdir -p x/y; echo evil > $d; mkdir made; mv made/ migrations/",
    "echo evil > pr*/p.txt; d=priv; echo evil > $d/new",
    "d=vendor/keys; mkdir -p $d/sub; echo evil > $d/k; n=AGENTS; echo evil > $d/$n.md",
    "echo 'echo evil > migrations/1.sql' > t.sh; bash t.sh; rm t.sh",
];

/// Ways to read what may not be.
const READS: &[&str] = &[
    "cat pr*/p.txt; cat p*/d/*; cat de*/er/a.*",
    "grep -r CANARY . ; cd ..; grep -rh CANARY home/notes",
    "d=priv; cat $d/p.txt; ln -s priv z; cat z/p.txt; n=notes; cat ~/$n/n",
    "mv priv pp; cat pp/p.txt; mv deep dd; cat dd/er/*; cp -r p*/. copy; cat copy/*",
    "python3 -c \"print(open('pri' + 'v/p.txt').read(), open('memo/m').read())\"",
    "tar c . | tr '\\0' ' ' | grep -a CANARY; cd me*; cat m; true",
];

fn world() -> World {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", RULES);
    for name in GUARDED {
        world.write(&format!("ws/{name}"), "orig\n");
    }
    for name in HIDDEN {
        world.write(&format!("ws/{name}"), "CANARY\n");
    }
    world.write("home/notes/n", "CANARY\n");
    world.write("ws/db/other", "other\n");
    world.write("ws/deep/other", "other\n");
    world
}

/// Returns what is at and below the paths that rules for writing name.
///
/// What was put back may have another time, if `times` says so.
fn guarded(world: &World, times: Times) -> String {
    let time = if times == Times::Kept { "%T@" } else { "" };
    world.outside(&format!(
        "find migrations db/schema lock.json priv vendor/keys x/y/lock.json -printf '%p %y %m %l\\n' 2>&1 | sort;
         find migrations db/schema lock.json priv -type f -printf '%p {time}\\n' | sort;
         find migrations db/schema lock.json priv -type f | sort | xargs cat"
    ))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Kept,
    New,
}

/// Has each of the commands that write run in a world of its own: nothing that rules guard changes.
fn check_writes(options: &[&str], times: Times) {
    for command in WRITES {
        let world = world();
        let before = guarded(&world, times);
        let answers = world.run(options, &[command, "true"]);
        assert_eq!(guarded(&world, times), before, "{options:?} {command}: {answers:#?}");
        assert!(answers[1].starts_with("done"), "{options:?} {command}: {answers:#?}");
        assert!(!answers[0].starts_with("denied: denied"), "{options:?} {command}: {answers:#?}");
        // Nothing was found changed that could not be dealt with.
        assert!(!answers[0].contains("made or changed it"), "{options:?} {command}: {answers:#?}");
    }
}

/// Has each of the commands that read run in a world of its own: none sees what rules hide.
fn check_reads(options: &[&str]) {
    for command in READS {
        let answers = world().run(options, &[command]);
        assert!(!answers[0].contains("CANARY"), "{options:?} {command}: {answers:#?}");
    }
}

#[test]
fn what_may_not_be_written_no_command_changes() {
    check_writes(&["--mode", "auto"], Times::Kept);
    check_writes(&["--mode", "auto", "--sandbox", "landlock"], Times::New);
}

#[test]
fn what_may_not_be_written_is_not_proposed_either() {
    check_writes(&["--mode", "ask"], Times::Kept);
}

#[test]
fn what_may_not_be_read_no_command_sees_where_names_can_be_hidden() {
    for mode in ["auto", "ask", "read"] {
        check_reads(&["--mode", mode]);
    }
}

#[test]
fn under_bubblewrap_it_is_the_same() {
    if super::bubblewrap::is_here() {
        check_writes(super::bubblewrap::OPTIONS, Times::Kept);
        check_reads(super::bubblewrap::OPTIONS);
    }
}

/// Runs `command` under `rules` in a workspace with `files`, by a person who says `yes` or nothing;
/// gives what the model reads, without the path of the workspace.
fn asked(rules: &str, options: &[&str], command: &str) -> (World, String) {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", rules);
    for name in ["memo/m", "db/s.sql"] {
        world.write(&format!("ws/{name}"), "CANARY\n");
    }
    let answer = world.run(options, &[command]).concat();
    let root = world.path("ws").display().to_string();
    let answer = answer.replace(&root, "WS");
    (world, answer)
}

#[test]
fn what_a_rule_asks_about_a_command_reaches_by_its_name_alone() {
    let read = "[[ask]]\nread = \"memo/**\"\n";
    let write = "[[ask]]\nwrite = \"db/*.sql\"\n";
    let auto: &[&str] = &["--mode", "auto"];
    let yes: &[&str] = &["--mode", "auto", "--yes"];
    let reviewed: &[&str] = &["--mode", "ask", "--yes"];
    for (rules, options, command, expected) in [
        (read, auto, "cat memo/m", "denied"),
        (read, yes, "cat memo/m", "CANARY"),
        (read, yes, "cat me*/m", "`ask read memo/**`"),
        (read, reviewed, "cat memo/m", "CANARY"),
        (read, reviewed, "cat m*/m", "`ask read memo/**`"),
        (write, auto, "echo new > db/s.sql; cat db/s.sql", "denied"),
        (write, yes, "echo new > db/s.sql; cat db/s.sql", "done: new"),
        (write, yes, "echo new > d*/s.sql", "`ask write db/*.sql`"),
        (write, reviewed, "echo new > db/s.sql; cat db/s.sql", "done: new"),
        (write, reviewed, "echo new > d*/s.sql", "`ask write db/*.sql`"),
    ] {
        let (_world, answer) = asked(rules, options, command);
        assert!(answer.contains(expected), "{options:?} {command}: {answer}");
    }
}

#[test]
fn the_model_is_told_which_rule_it_was() {
    let options = &["--mode", "auto"];
    let deny = "[[deny]]\nwrite = \"db/**\"\n";
    let (_world, answer) = asked(deny, options, "echo x > d*/s.sql");
    expect![[r#"
        done: bash: line 1: db/s.sql: Read-only file system
        [it may have come upon what rules keep from commands: `deny write db/**`. What a rule denies stays so; for what one asks about take read_file, write_file or edit_file, or write the path out in the command, so that the person is asked]
        [the sandbox blocked a write: commands change only the workspace and `$TMPDIR`, and there no protected names; `.git` is writable for a command that is git alone, without options before its sub-command and without such as write a file or start a program; what needs more takes `access`: `unsandboxed`, with `why`]
        [exit code: 1]"#]].assert_eq(&answer);
    let ask = "[[ask]]\nwrite = \"db/*.sql\"\n";
    let (world, answer) = asked(ask, options, "cd d*; echo x > n.sql");
    let home = world.path("home").display().to_string();
    let (before, rest) = answer
        .replace(&home, "HOME")
        .split_once("sessions/")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let after = rest.split_once("/outputs").map(|(_, rest)| rest.to_owned()).unwrap();
    expect![[r#"
        done: [no output]
        [`WS/db/n.sql` is kept from commands by the rule `ask write db/*.sql`: what the command made there was moved to `HOME/.local/state/snick/sessions/S/outputs/taken-away/000/n.sql`; write_file and edit_file can write it, when the person agrees]
        [exit code: 0]"#]].assert_eq(&format!("{before}sessions/S/outputs{after}"));
}

#[test]
fn build_outputs_are_no_way_around_a_rule() {
    let rules = "[[deny]]\nwrite = \"gen/**\"\n\n[[deny]]\nwrite = \"target/keep/**\"\n";
    for mode in ["ask", "auto"] {
        let world = World::new();
        world.write("home/.config/snick/rules.toml", rules);
        world.write("ws/.gitignore", "gen/\ntarget/\n");
        world.write("ws/target/keep/k", "orig\n");
        world.outside("git add . && git -c user.name=a -c user.email=a@b commit -qm b");
        let answers = world.run(
            &["--mode", mode],
            &[
                "g=gen; mkdir $g; echo evil > $g/new; d=target/keep; echo evil > $d/k; echo evil > $d/n",
                "mv target t; d=target; mkdir -p $d/keep; echo evil > $d/keep/k",
                "echo built > target/out; mkdir gen; cp a gen/",
            ],
        );
        assert!(!answers.concat().contains("denied: denied"), "{mode}: {answers:#?}");
        let there = world.outside("find gen target -type f | sort; cat target/keep/k");
        assert_eq!(there, "target/keep/k\ntarget/out\norig\n", "{mode}: {answers:#?}");
    }
}

#[test]
fn what_reads_through_folders_is_asked_where_a_rule_is_about_one_of_them() {
    let rules = "[[deny]]\nread = \"memo/**\"\n";
    let rows = [
        ("grep -r CANARY .", "denied"),
        ("grep -r CANARY memo", "denied"),
        ("grep -r CANARY db", "done: db/s.sql:CANARY"),
        ("cat db/s.sql", "done: CANARY"),
        ("git show HEAD:memo/m", "denied: denied: the rule `deny read memo/**`"),
    ];
    for options in [["--sandbox", "off"], ["--sandbox", "landlock"]] {
        for (command, expected) in rows {
            let options = [&["--mode", "ask"], options.as_slice()].concat();
            let (_world, answer) = asked(rules, &options, command);
            assert!(answer.starts_with(expected), "{options:?} {command}: {answer}");
        }
    }
}

#[test]
fn rules_for_names_hold_wherever_they_are() {
    let rules = "[[deny]]\nread = \"*.canary\"\n\n[[deny]]\nwrite = \"*.lock\"\n";
    let world = World::new();
    world.write("home/.config/snick/rules.toml", rules);
    world.write("ws/a.lock", "orig\n");
    world.write("ws/b/c/d.lock", "orig\n");
    world.write("ws/b/c/.env", "CANARY\n");
    world.write("ws/b/e/f.canary", "CANARY\n");
    let answers = world.run(
        &["--mode", "auto"],
        &[
            "for f in *; do grep -r CANARY $f; done",
            "echo x | tee a.l* b/c/*.lock; mv b/c b/g; mv b/e b/h; cat b/*/*",
            "n=b/c/new.lock; echo x > $n; echo y > b/c/other; mv b/c/other b/i; cat b/i",
        ],
    );
    assert!(!answers.concat().contains("CANARY"), "{answers:#?}");
    assert_eq!(answers[2].split('\n').next(), Some("done: y"), "{answers:#?}");
    let there = world.outside("find . -name '*.lock' -o -name '*.canary' | sort; cat a.lock b/c/*");
    assert_eq!(there, "./a.lock\n./b/c/d.lock\n./b/e/f.canary\norig\norig\n", "{answers:#?}");
}

#[test]
fn a_rule_for_a_link_holds_for_what_it_leads_to() {
    let rules = "[[ask]]\nread = \"link/**\"\n\n[[deny]]\nwrite = \"real/**\"\n\n\
                 [[deny]]\nwrite = \"to\"\n\n[[deny]]\nread = \"up/**\"\n";
    let world = World::new();
    world.write("home/.config/snick/rules.toml", rules);
    world.write("ws/real/r", "CANARY\n");
    world.write("ws/d/file", "orig\n");
    world.outside("ln -s real link; ln -s d/file to; ln -s . up; ln -s $OUT/x out");
    let answers = world.run(
        &["--mode", "auto"],
        &["cat re*/r li*/r", "n=d/file; echo evil > $n; mv d e; cat d/*; echo made > new; cat new"],
    );
    assert!(!answers[0].contains("CANARY"), "{answers:#?}");
    assert!(answers[1].contains("orig\nmade\n"), "{answers:#?}");
    assert_eq!(world.outside("cat real/r d/file; readlink to"), "CANARY\norig\nd/file\n");
}

#[test]
fn of_very_many_files_none_is_taken_for_new() {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"many/**\"\n");
    world.outside("mkdir many; cd many; seq 5000 | xargs touch; seq 1000 | xargs truncate -s 2M");
    let landlock = &["--mode", "auto", "--sandbox", "landlock"];
    let removes =
        "python3 -c \"import os; os.chdir('many'); [os.remove(str(n)) for n in range(1, 1001)]\"";
    let answers = world.run(landlock, &[removes]);
    assert!(answers[0].starts_with("done"), "{answers:#?}");
    let left = world.outside("cd many; for n in $(seq 1001 5000); do [ -e $n ] || echo $n; done");
    assert_eq!(left, "");
}

#[test]
fn a_large_file_takes_nothing_from_the_others() {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"db/**\"\n");
    world.write("ws/db/z", "orig\n");
    world.outside("truncate -s 20M db/a");
    let landlock = &["--mode", "auto", "--sandbox", "landlock"];
    // Later commands meet what was put back after those before.
    let answers = world.run(landlock, &["cd d*; echo evil > z; cat z"; 3]);
    assert!(answers.iter().all(|answer| answer.starts_with("done: evil")), "{answers:#?}");
    assert_eq!(world.outside("cat db/z"), "orig\n", "{answers:#?}");
}

#[test]
fn what_lies_above_the_workspace_makes_nothing_an_output() {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"new/**\"\n");
    world.outside("git init -q build/inner; touch build/inner/f");
    let options = &["--mode", "auto", "-C", "build/inner"];
    let answers = world.run(options, &["mkdir .vscode new; touch .vscode/x new/x; touch made"]);
    assert_eq!(world.outside("ls -A build/inner"), ".git\nf\nmade\n", "{answers:#?}");
}

#[test]
fn rules_hold_in_folders_of_outputs_new_and_old_ones() {
    let rules = "[[deny]]\nwrite = \"vendor/lock.txt\"\n\n[[deny]]\nwrite = \"node_modules/q/**\"\n\n\
                 [[deny]]\nread = \"build/out/keep.bin\"\n\n[[ask]]\nwrite = \"*.pem\"\n";
    let made = "vendor/lock.txt vendor/x/c.pem node_modules/q/x build/out/keep.bin build/d.pem docs/coverage/e.pem";
    let kept = "vendor/.vscode/t vendor/x/y node_modules/p/i node_modules/p/f.pem build/out/o docs/coverage/h docs/i";
    let script = format!(
        "for f in {made} {kept}; do mkdir -p $(dirname $f); echo new > $f; done; ln -s ../p/i node_modules/l"
    );
    let expected = format!("{kept} node_modules/l");
    let mut expected: Vec<&str> = expected.split(' ').collect();
    expected.sort_unstable();
    for old in
        ["", "mkdir -p vendor/x node_modules/q build/out docs/coverage; touch vendor/z build/z"]
    {
        for mode in ["ask", "auto"] {
            let world = World::new();
            world.write("home/.config/snick/rules.toml", rules);
            world.write("ws/.gitignore", "node_modules\nvendor\nbuild\ndocs\n");
            world.write("ws/s", &script);
            world.outside("git add . && git -c user.name=a -c user.email=a@b commit -qm b");
            world.outside(old);
            let answers = world.run(&["--mode", mode], &["bash s", "true"]);
            let there =
                world.outside("find vendor node_modules build docs ! -type d ! -name z | sort");
            let there: Vec<&str> = there.lines().collect();
            assert_eq!(there, expected, "{mode} {old}: {answers:#?}");
            // In mode `auto` a whole folder may be taken away.
            for name in made.split(' ').map(|name| name.trim_end_matches("/x")) {
                assert!(answers[0].contains(name), "{mode} {old} {name}: {answers:#?}");
            }
        }
    }
}
