//! How long a yes to a command holds: as long as what it would run is what it was given for.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;

use snick::approval::{
    Answer, Binding, Bound, Consent, Decision, Effect, Execute, Mode, Origin, Policy, Rules, Scope,
    judge, rules,
};
use snick::message::ContentHash;

use super::check;
use crate::world::{World, call, reply};

/// Scripts are executable.
fn world(files: &[(&str, &str)], command: &str, times: usize) -> World {
    let bash = || reply("", vec![call("bash", &json!({"command": command}))]);
    let replies = (0..times).flat_map(|_| [bash(), reply("done", vec![])]);
    let world = World::new(Mode::Ask, files, replies.collect());
    for (name, _) in files {
        let path = world.folder.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    world
}

/// Takes rules that are kept for the workspace.
fn keep_rules(world: &mut World) {
    let (text, root) = (Mutex::new(String::new()), world.agent.workspace.root().to_owned());
    world.agent.keep_rule = Some(Box::new(move |words, binding| {
        let (mut text, file) = (text.lock().unwrap(), Path::new("rules.toml"));
        *text = rules::added(&text, file, words, binding, &root, "2026-01-02").unwrap();
        Ok(Rules::new(Rules::parse(&text, file, Origin::User, None).unwrap(), &root))
    }));
}

/// Gives `command` a yes of `scope`, changes the file `changed`, and says whether it is asked again.
async fn asked_again(
    files: &[(&str, &str)],
    command: &str,
    changed: &str,
    scope: Scope,
) -> &'static str {
    let mut world = world(files, command, 2).answering([Decision::Accept(scope)]);
    keep_rules(&mut world);
    world.turn("go").await.unwrap();
    if !changed.is_empty() {
        std::fs::write(world.folder.path().join(changed), "echo other\n").unwrap();
    }
    world.turn("again").await.unwrap();
    if world.asked().lines().count() == 1 { "runs" } else { "asked" }
}

#[tokio::test]
async fn a_yes_ends_with_the_files_that_it_was_given_for() {
    let calls = [("x.sh", "#!/bin/sh\n# calls\n./y.sh && echo a $1\n"), ("y.sh", "echo y\n")];
    let tests = [("x.sh", "echo a; pytest\n"), ("package.json", "{}"), ("x.py", "print(1)\n")];
    let misled = [("x.sh", "#!/bin/sh\nPATH=.:$PATH\nls\n")];
    let rows = [
        (&calls[..], "touch a", ""),
        (&calls, "touch x.sh", "x.sh"),
        (&calls, "./y.sh", ""),
        (&calls, "./y.sh", "y.sh"),
        (&calls, "./x.sh", ""),
        (&calls, "./x.sh", "x.sh"),
        (&calls, "./x.sh", "y.sh"),
        (&calls, "./x.sh y.sh", "y.sh"),
        // What runs more than is known holds once where nothing confines it.
        (&tests, "./x.sh", ""),
        (&tests, "./x.py", ""),
        (&tests, "./missing", ""),
        (&tests, "npm test", ""),
        (&tests, "yarn test", ""),
        (&tests, "pytest", ""),
        (&tests, "cargo build", ""),
        (&tests, "go test ./...", ""),
        (&tests, "tool-nobody-knows", ""),
        (&tests, "git commit -m x", ""),
        (&tests, "git status", ""),
        (&tests, "git diff --ext-diff", ""),
        (&tests, "git --git-dir=x log", ""),
        // Where a file lies, or which program a name means, is told by more than the words.
        (&calls, "cd . && ./y.sh", ""),
        (&misled, "./x.sh", ""),
    ];
    let mut told = String::new();
    for (files, command, changed) in rows {
        let session = asked_again(files, command, changed, Scope::Session).await;
        let workspace = asked_again(files, command, changed, Scope::Workspace).await;
        writeln!(told, "{command} [{changed}]: {session} {workspace}").unwrap();
    }
    expect![[r#"
        touch a []: runs runs
        touch x.sh [x.sh]: runs runs
        ./y.sh []: runs runs
        ./y.sh [y.sh]: asked asked
        ./x.sh []: runs runs
        ./x.sh [x.sh]: asked asked
        ./x.sh [y.sh]: asked asked
        ./x.sh y.sh [y.sh]: asked asked
        ./x.sh []: asked asked
        ./x.py []: asked asked
        ./missing []: asked asked
        npm test []: asked asked
        yarn test []: asked asked
        pytest []: asked asked
        cargo build []: asked asked
        go test ./... []: asked asked
        tool-nobody-knows []: asked asked
        git commit -m x []: asked asked
        git status []: runs runs
        git diff --ext-diff []: asked asked
        git --git-dir=x log []: asked asked
        cd . && ./y.sh []: asked asked
        ./x.sh []: asked asked
    "#]]
    .assert_eq(&told);
}

/// Gives `command` a yes of `scope` where `files` are in a repository, writes `changed`, and says
/// whether it is asked again.
async fn asked_again_in_git(
    command: &str,
    files: &[(&str, &str)],
    changed: &[(&str, &str)],
    scope: Scope,
) -> &'static str {
    let mut world =
        world(&[("x.sh", "git status\n")], command, 2).answering([Decision::Accept(scope)]);
    keep_rules(&mut world);
    let root = world.folder.path().to_owned();
    let write = |files: &[(&str, &str)]| {
        for (name, text) in files {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
    };
    let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = u\n[user]\n\tname = n\n";
    write(&[(".git/HEAD", "ref: refs/heads/main\n"), (".git/config", plain)]);
    write(files);
    world.turn("go").await.unwrap();
    write(changed);
    world.turn("again").await.unwrap();
    if world.asked().lines().count() == 1 { "runs" } else { "asked" }
}

#[tokio::test]
async fn a_yes_to_git_ends_with_what_its_settings_start() {
    type Files = &'static [(&'static str, &'static str)];
    const STATUS: &str = "git status";
    const SUB: &str = "[core]\n\tfsmonitor = ./f\n";
    let monitor: Files = &[(".git/config", "[core]\n\tfsmonitor = ./f.sh\n"), ("f.sh", "echo a\n")];
    let rows: &[(&str, Files, Files)] = &[
        (STATUS, &[], &[]),
        (STATUS, &[], &[(".git/config", "[core]\n\tbare = false\n[user]\n\tname = m\n")]),
        (STATUS, &[], &[(".git/config", SUB)]),
        ("git log -p", &[], &[(".git/config", "[diff \"x\"]\n\ttextconv = ./c\n")]),
        ("git diff", &[], &[(".git/config", "[diff]\nexternal=./c\n")]),
        ("git diff", &[], &[(".git/config", "[Core] FSMonitor = \\\n./c\n")]),
        (STATUS, &[], &[(".git/config", "[filter \"x\"]\n\tclean = ./c\n")]),
        ("git show", &[], &[(".git/config", "[core]\n\tpager = ./c\n")]),
        (STATUS, &[], &[(".git/config", "[core]\n\thooksPath = hk\n")]),
        (STATUS, &[], &[(".git/config.worktree", SUB)]),
        (STATUS, &[], &[(".git/modules/m/HEAD", ""), (".git/modules/m/config", SUB)]),
        (STATUS, &[], &[(".git/hooks/post-index-change", "echo x\n")]),
        (STATUS, &[(".git/config", "[include]\n\tpath = ../own\n"), ("own", "")], &[("own", SUB)]),
        (STATUS, monitor, &[]),
        (STATUS, monitor, &[("f.sh", "echo b\n")]),
        (STATUS, &[(".git/config", "[core]\n\tfsmonitor = true\n")], &[]),
        // More may run than is known.
        ("git diff", &[(".git/config", "[diff \"x\"]\n\ttextconv = python3 c.py\n")], &[]),
        ("git -C sub log", &[("sub/.git/HEAD", "")], &[("sub/.git/config", SUB)]),
        ("./x.sh", &[], &[]),
        ("./x.sh", &[], &[(".git/config", SUB)]),
        // So may what variables lead to.
        ("GIT_EXTERNAL_DIFF=./x.sh git diff", &[], &[]),
        ("HOME=. git status", &[], &[]),
        ("LD_PRELOAD=./x.so touch l", &[], &[]),
        ("LC_ALL=C git status", &[], &[]),
        ("touch l", &[], &[(".git/config", SUB)]),
        ("git diff x.sh", &[], &[("x.sh", "echo other\n")]),
    ];
    let mut told = String::new();
    for (command, files, changed) in rows {
        let again = asked_again_in_git(command, files, changed, Scope::Session).await;
        let kept = asked_again_in_git(command, files, changed, Scope::Workspace).await;
        let text = |files: Files| files.iter().map(|(name, text)| format!(" {name} {text:?}"));
        let files: String = text(files).collect();
        let changed: String = text(changed).collect();
        writeln!(told, "{again} {kept}: {command}{files} ->{changed}").unwrap();
    }
    expect![[r#"
        runs runs: git status ->
        runs runs: git status -> .git/config "[core]\n\tbare = false\n[user]\n\tname = m\n"
        asked asked: git status -> .git/config "[core]\n\tfsmonitor = ./f\n"
        asked asked: git log -p -> .git/config "[diff \"x\"]\n\ttextconv = ./c\n"
        asked asked: git diff -> .git/config "[diff]\nexternal=./c\n"
        asked asked: git diff -> .git/config "[Core] FSMonitor = \\\n./c\n"
        asked asked: git status -> .git/config "[filter \"x\"]\n\tclean = ./c\n"
        asked asked: git show -> .git/config "[core]\n\tpager = ./c\n"
        asked asked: git status -> .git/config "[core]\n\thooksPath = hk\n"
        asked asked: git status -> .git/config.worktree "[core]\n\tfsmonitor = ./f\n"
        asked asked: git status -> .git/modules/m/HEAD "" .git/modules/m/config "[core]\n\tfsmonitor = ./f\n"
        asked asked: git status -> .git/hooks/post-index-change "echo x\n"
        asked asked: git status .git/config "[include]\n\tpath = ../own\n" own "" -> own "[core]\n\tfsmonitor = ./f\n"
        runs runs: git status .git/config "[core]\n\tfsmonitor = ./f.sh\n" f.sh "echo a\n" ->
        asked asked: git status .git/config "[core]\n\tfsmonitor = ./f.sh\n" f.sh "echo a\n" -> f.sh "echo b\n"
        runs runs: git status .git/config "[core]\n\tfsmonitor = true\n" ->
        asked asked: git diff .git/config "[diff \"x\"]\n\ttextconv = python3 c.py\n" ->
        asked asked: git -C sub log sub/.git/HEAD "" -> sub/.git/config "[core]\n\tfsmonitor = ./f\n"
        runs runs: ./x.sh ->
        asked asked: ./x.sh -> .git/config "[core]\n\tfsmonitor = ./f\n"
        asked asked: GIT_EXTERNAL_DIFF=./x.sh git diff ->
        asked asked: HOME=. git status ->
        asked asked: LD_PRELOAD=./x.so touch l ->
        runs runs: LC_ALL=C git status ->
        runs runs: touch l -> .git/config "[core]\n\tfsmonitor = ./f\n"
        runs runs: git diff x.sh -> x.sh "echo other\n"
    "#]].assert_eq(&told);
}

#[tokio::test]
async fn a_yes_to_more_than_is_looked_at_holds_once() {
    let commands = format!("{}pytest", "true; ".repeat(80));
    let names: Vec<String> = (0..70).map(|number| format!("{number}.sh")).collect();
    let all = names.iter().fold(String::new(), |all, name| all + "./" + name + "\n");
    let files = [("x.sh", format!("#!/bin/sh\n{all}"))].into_iter();
    let files = files.chain(names.iter().map(|name| (name.as_str(), "true\n".to_owned())));
    let files: Vec<(&str, String)> = files.collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    for command in [commands.as_str(), "./x.sh"] {
        let asked = asked_again(&files, command, "", Scope::Session).await;
        assert_eq!(asked, "asked", "{command}");
    }
}

#[tokio::test]
async fn what_changes_while_the_question_stands_is_asked_again() {
    // What is told as data is run here all the same.
    let data = ["sh < x", "cat x | sh", "bash -c \"$(cat x)\"", "BASH_ENV=./x bash -c true"];
    let named = ["make -f own.mk", "npm test", "bash -c 'eval $(cat x)'", "python3 - < x"];
    for command in ["./x.sh", "bash x.sh", "make"].into_iter().chain(data).chain(named) {
        let files = [
            ("x.sh", "touch one\n"),
            ("x", "touch one\n"),
            ("Makefile", "all:\n\ttouch one\n"),
            ("own.mk", "all:\n\t@sh ./x.sh\n"),
            ("package.json", "{\"scripts\": {\"test\": \"bash x.sh\"}}\n"),
        ];
        let mut world = world(&files, command, 1).answering([Decision::Accept(Scope::Once)]);
        let folder = world.folder.path().to_owned();
        world = world.meanwhile(move |_| {
            for name in ["x.sh", "x"] {
                std::fs::write(folder.join(name), "touch two\n").unwrap();
            }
            std::fs::write(folder.join("Makefile"), "all:\n\ttouch two\n").unwrap();
        });
        world.turn("go").await.unwrap();
        let made = ["one", "two"].map(|name| world.folder.path().join(name).exists());
        assert_eq!((world.asked().lines().count(), made), (2, [false, false]), "{command}");
    }
}

#[tokio::test]
async fn what_changes_at_every_question_is_not_run() {
    let mut world = world(&[("x.sh", "touch one\n")], "./x.sh", 1)
        .answering(std::iter::repeat_n(Decision::Accept(Scope::Once), 9));
    let (path, mut count) = (world.folder.path().join("x.sh"), 0);
    world = world.meanwhile(move |_| {
        count += 1;
        std::fs::write(&path, format!("touch {count}\n")).unwrap();
    });
    world.turn("go").await.unwrap();
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a bash
            a failed: what it would run changes all the time, so nothing was run
            model: done
        "#]],
    );
}

#[test]
fn a_yes_in_the_sandbox_holds_in_the_sandbox() {
    let hash = |text: &str| Some(ContentHash::of(text.as_bytes()));
    let binding = |to, text| Binding { to, content: hash(text) };
    let given = binding(Bound::Sandbox, "a");
    let command = "cargo test".to_owned();
    let consent = Consent { command: command.clone(), binding: given };
    let (file, root) = (Path::new("rules.toml"), Path::new("/w"));
    let words = ["cargo".to_owned(), "test".to_owned()];
    let text = rules::added("", file, &words, &given, root, "2026-01-02").unwrap();
    let stored = Rules::new(Rules::parse(&text, file, Origin::User, None).unwrap(), root);
    assert_eq!(
        stored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["allow exactly cargo test in the sandbox, with its files as they are now"]
    );
    let session = Policy { commands_allowed: vec![consent], ..Policy::default() };
    let workspace = Policy { rules: Arc::new(stored), ..Policy::default() };
    for now in [
        given,
        binding(Bound::Sandbox, "b"),
        binding(Bound::Once, "a"),
        binding(Bound::Files, "a"),
        Binding::default(),
    ] {
        let execute =
            Execute { command: command.clone(), binding: Box::new(now), ..Execute::default() };
        let effect = Effect::Execute(execute);
        let expected = if now == given { Answer::Allow } else { Answer::Ask };
        let answers = [&session, &workspace].map(|policy| judge(policy, &effect).answer);
        assert_eq!(answers, [expected; 2], "{now:?}");
    }
}
