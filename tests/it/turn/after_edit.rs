//! Commands that run after edits: what they make of the file, who allows them, undo.

use std::sync::PoisonError;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use snick::agent::AfterEdits;
use snick::approval::{Asked, Consents, Decision, Mode, Scope};
use snick::event::Event;
use snick::message::{Reply, ToolCall};
use snick::provider::Scripted;
use snick::tools::after_edit::AfterEdit;
use snick::workspace::Workspace;

use crate::cli::Place;
use crate::world::{World, call, reply};

/// Makes every line end in `!`, once.
const SHOUT: &str = "sed -i 's/[^!]$/&!/' {path}";

fn rule(glob: &str, command: &str) -> AfterEdit {
    let text = format!("glob = {}\ncommand = {}", json!(glob), json!(command));
    toml::from_str(&text).unwrap()
}

fn edit(path: &str, old: &str, new: &str) -> ToolCall {
    call("edit_file", &json!({"path": path, "old_string": old, "new_string": new}))
}

fn replies(calls: Vec<ToolCall>) -> Vec<Reply> {
    vec![reply("", calls), reply("done", vec![])]
}

/// Runs one turn of `calls` and compares its log, what was asked, and who made which change.
async fn check(mut world: World, rules: Vec<AfterEdit>, expected: Expect) -> World {
    let consents = Consents::read(&world.folder.path().join(".state/after_edit"));
    world.agent.after_edits = AfterEdits::new(rules, consents);
    world.turn("go").await.unwrap();
    let log = world.log();
    let log = log.lines().skip_while(|line| line.starts_with("  ") || !line.starts_with("a "));
    let mut text: Vec<String> = log.map(str::to_owned).collect();
    text.push(format!("asked: {}", world.asked().replace('\n', "; ")));
    for event in world.events.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        match event {
            Event::Change { path, added, removed, by, .. } => {
                text.push(format!("{path} +{added} -{removed} by {by}"));
            }
            Event::Notice { text: notice } => text.push(format!("notice: {notice}")),
            _ => {}
        }
    }
    expected.assert_eq(&(text.join("\n") + "\n"));
    world
}

#[tokio::test]
async fn what_a_formatter_makes_of_a_file_is_told_and_no_later_edit_is_stale() {
    let calls = vec![edit("a.txt", "two", "TWO")];
    let again = vec![edit("a.txt", "TWO!", "2")];
    let replies = vec![reply("", calls), reply("", again), reply("done", vec![])];
    let world = World::new(Mode::Auto, &[("a.txt", "one!\ntwo\nthree!\n")], replies);
    let rules = vec![rule("*.txt", SHOUT), rule("*.rs", "false")];
    let world = check(
        world,
        rules,
        expect![[r#"
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        lines 1-3 are now:
        one!
        TWO
        three!
        [after_edit `sed -i 's/[^!]$/&!/' a.txt`: exit code 0; it changed line 2]
        lines 1-3 are now:
        one!
        TWO!
        three!
        model: 
          a edit_file
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        lines 1-3 are now:
        one!
        2
        three!
        [after_edit `sed -i 's/[^!]$/&!/' a.txt`: exit code 0; it changed line 2]
        lines 1-3 are now:
        one!
        2!
        three!
        model: done
        asked: 
        a.txt +1 -1 by mode `auto`
        a.txt +1 -1 by after_edit: sed
        a.txt +1 -1 by mode `auto`
        a.txt +1 -1 by after_edit: sed
    "#]],
    )
    .await;
    assert_eq!(world.file("a.txt"), "one!\n2!\nthree!\n");
}

#[tokio::test]
async fn several_edits_of_a_file_are_all_made_before_its_command_runs() {
    let calls =
        vec![edit("a.txt", "one", "ONE"), edit("b.txt", "bee", "BEE"), edit("a.txt", "two", "TWO")];
    let files = [("a.txt", "one\ntwo\n"), ("b.txt", "bee\n")];
    let yes = || Decision::Accept(Scope::Once);
    let world = World::new(Mode::Ask, &files, replies(calls)).answering([yes(), yes(), yes()]);
    check(
        world,
        vec![rule("*.txt", SHOUT)],
        expect![[r#"
        a ask by person
        a started
        a done: Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        ONE
        two
        b ask by person
        b started
        b done: Changed `b.txt`: +1 -1 lines
        line 1 is now:
        BEE
        [after_edit `sed -i 's/[^!]$/&!/' b.txt`: exit code 0; it changed line 1]
        line 1 is now:
        BEE!
        c ask by person
        c started
        c done: Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        ONE
        TWO
        [after_edit `sed -i 's/[^!]$/&!/' a.txt`: exit code 0; it changed lines 1-2]
        lines 1-2 are now:
        ONE!
        TWO!
        model: done
        asked: edit a.txt + edit b.txt + edit a.txt
        a.txt +1 -1 by person
        b.txt +1 -1 by person
        b.txt +1 -1 by after_edit: sed
        a.txt +1 -1 by person
        a.txt +2 -2 by after_edit: sed
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_rejected_last_edit_leaves_the_command_to_the_one_that_was_written() {
    let calls = vec![edit("a.txt", "one", "ONE"), edit("a.txt", "two", "TWO")];
    let decisions =
        [Decision::Accept(Scope::Once), Decision::Reject { words: Some("leave it".to_owned()) }];
    let world = World::new(Mode::Ask, &[("a.txt", "one\ntwo\n")], replies(calls));
    let world = world.answering(decisions);
    check(world, vec![rule("a.*", SHOUT)], expect![[r#"
        a ask by person
        a started
        a done: Changed `a.txt`: +1 -1 lines
        lines 1-2 are now:
        ONE
        two
        b ask by person
        b denied: denied by the person; nothing of it was done. They say: leave it. Follow that; do not do what was refused another way.
        [after_edit `sed -i 's/[^!]$/&!/' a.txt`: exit code 0; it changed lines 1-2]
        lines 1-2 are now:
        ONE!
        two!
        model: done
        asked: edit a.txt + edit a.txt
        a.txt +1 -1 by person
        a.txt +2 -2 by after_edit: sed
    "#]]).await;
}

#[tokio::test]
async fn a_command_that_fails_says_so_and_one_that_removes_the_file_too() {
    let calls =
        vec![call("write_file", &json!({"path": "new/it's \"$(x)\".py", "content": "a\n"}))];
    let world = World::new(Mode::Auto, &[], replies(calls));
    let rules = vec![
        rule("*.py", "echo {path}: line 1 is wrong >&2; exit 3"),
        rule("new/", "rm -- {path}"),
        rule("*", "echo not reached"),
    ];
    let world = check(
        world,
        rules,
        expect![[r#"
        a allow by mode `auto`
        a started
        a done: Created `new/it's "$(x)".py`: 1 line
        [after_edit `echo 'new/it'\''s "$(x)".py': line 1 is wrong >&2; exit 3`: exit code 3]
        new/it's "$(x)".py: line 1 is wrong
        [after_edit `rm -- 'new/it'\''s "$(x)".py'`: exit code 0; it removed the file]
        model: done
        asked: 
        new/it's "$(x)".py +1 -0 by mode `auto`
        new/it's "$(x)".py +0 -1 by after_edit: rm
    "#]],
    )
    .await;
    assert!(!world.folder.path().join("new/it's \"$(x)\".py").exists());
}

#[tokio::test]
async fn a_command_of_the_project_is_asked_once_a_session() {
    let replies = || {
        let edits = [("one", "two"), ("two", "three")];
        let edits = edits.map(|(old, new)| reply("", vec![edit("a.txt", old, new)]));
        edits.into_iter().chain([reply("done", vec![])]).collect::<Vec<Reply>>()
    };
    let rules = || vec![rule("*.txt", "touch ran {path}").of_project()];
    let files = [("a.txt", "one\n")];
    let nobody = World::new(Mode::Auto, &files, replies());
    check(nobody, rules(), expect![[r#"
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        two
        [after_edit `touch ran {path}` was not run: the project's settings name it, and nobody is here to allow it]
        model: 
          a edit_file
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        three
        model: done
        asked: after_edit touch ran {path}
        a.txt +1 -1 by mode `auto`
        notice: after_edit `touch ran {path}` was not run: the project's settings name it, and nobody is here to allow it
        a.txt +1 -1 by mode `auto`
    "#]]).await;
    let yes = World::new(Mode::Auto, &files, replies());
    let yes = yes.answering([Decision::Accept(Scope::Once)]);
    let yes = check(
        yes,
        rules(),
        expect![[r#"
        a allow by mode `auto`
        a started
        a ask by person
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        two
        [after_edit `touch ran a.txt`: exit code 0]
        model: 
          a edit_file
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        three
        [after_edit `touch ran a.txt`: exit code 0]
        model: done
        asked: after_edit touch ran {path}
        a.txt +1 -1 by mode `auto`
        a.txt +1 -1 by mode `auto`
    "#]],
    )
    .await;
    assert!(yes.folder.path().join("ran").exists());
    assert!(!yes.folder.path().join(".state").exists());
    let no = World::new(Mode::Auto, &files, replies());
    let no = no.answering([Decision::Reject { words: Some("never".to_owned()) }]);
    let no = check(no, rules(), expect![[r#"
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        two
        [after_edit `touch ran {path}` was not run: denied by the person; nothing of it was done. They say: never. Follow that; do not do what was refused another way.]
        model: 
          a edit_file
        a allow by mode `auto`
        a started
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        three
        model: done
        asked: after_edit touch ran {path}
        a.txt +1 -1 by mode `auto`
        notice: after_edit `touch ran {path}` was not run: denied by the person; nothing of it was done. They say: never. Follow that; do not do what was refused another way.
        a.txt +1 -1 by mode `auto`
    "#]]).await;
    assert!(!no.folder.path().join("ran").exists());
}

#[tokio::test]
async fn a_yes_for_good_holds_for_exactly_this_content_in_this_project() {
    let calls = || replies(vec![edit("a.txt", "one", "two")]);
    let world = World::new(Mode::Auto, &[("a.txt", "one\n")], calls());
    let world = world.answering([Decision::Accept(Scope::Session)]);
    let rules = |command: &str| vec![rule("*.txt", command).of_project()];
    let world = check(
        world,
        rules("touch ran"),
        expect![[r#"
        a allow by mode `auto`
        a started
        a ask by person
        a done: Changed `a.txt`: +1 -1 lines
        line 1 is now:
        two
        [after_edit `touch ran`: exit code 0]
        model: done
        asked: after_edit touch ran
        a.txt +1 -1 by mode `auto`
    "#]],
    )
    .await;
    let file = world.folder.path().join(".state/after_edit");
    let (here, consents) = (&world.agent.workspace, Consents::read(&file));
    let other = World::new(Mode::Auto, &[], vec![]);
    let holds = |command: &str, workspace: &Workspace| {
        consents.hold(rule("*.txt", command).content(workspace))
    };
    assert!(holds("touch ran", here));
    assert!(!holds("touch ran2", here));
    assert!(!holds("touch ran", &other.agent.workspace));
    assert!(!consents.hold(rule("*.tx", "touch ran").content(here)));
}

#[tokio::test]
async fn a_yes_ends_when_the_script_behind_the_command_changes() {
    let calls = || replies(vec![edit("a.txt", "one", "two"), edit("a.txt", "two", "three")]);
    let files = [("a.txt", "one\n"), ("fmt.sh", "touch ran\n")];
    let rules = || vec![rule("*.txt", "sh fmt.sh").of_project()];
    let mut first = World::new(Mode::Auto, &files, calls());
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("after_edit");
    let content = rules()[0].content(&first.agent.workspace);
    first.agent.after_edits = AfterEdits::new(rules(), Consents::read(&file));
    let mut first = first.answering([Decision::Accept(Scope::Session)]);
    first.turn("go").await.unwrap();
    assert!(first.folder.path().join("ran").exists());
    assert!(Consents::read(&file).hold(content));
    // The same words, another script: it is asked again, with what changed.
    std::fs::write(first.folder.path().join("fmt.sh"), "touch evil\n").unwrap();
    assert!(!Consents::read(&file).hold(rules()[0].content(&first.agent.workspace)));
    first.agent.after_edits = AfterEdits::new(rules(), Consents::read(&file));
    std::fs::write(first.folder.path().join("a.txt"), "one\n").unwrap();
    let again = [reply("", vec![edit("a.txt", "one", "four")]), reply("done", vec![])];
    first.agent.provider = Box::new(Scripted::new(again));
    first.turn("again").await.unwrap();
    assert_eq!(first.file("a.txt"), "four\n");
    assert!(!first.folder.path().join("evil").exists());
    let told = format!("{:?}", first.events.0.lock().unwrap());
    assert!(told.contains("changed since you allowed it"), "{told}");
}

#[tokio::test]
async fn what_changes_while_it_is_asked_is_asked_again() {
    let files = [("a.txt", "one\n"), ("fmt.sh", "touch ran\n")];
    let mut world = World::new(Mode::Auto, &files, replies(vec![edit("a.txt", "one", "two")]));
    let script = world.folder.path().join("fmt.sh");
    let mut text = vec!["touch evil\n"];
    let swap = move |_: &[Asked<'_>]| {
        text.pop().into_iter().for_each(|text| std::fs::write(&script, text).unwrap());
    };
    let rules = vec![rule("*.txt", "sh fmt.sh").of_project()];
    world.agent.after_edits = AfterEdits::new(rules, Consents::default());
    let answers = [Decision::Accept(Scope::Once), Decision::Reject { words: None }];
    let mut world = world.answering(answers).meanwhile(swap);
    world.turn("go").await.unwrap();
    assert_eq!(world.asked(), "after_edit sh fmt.sh\nafter_edit sh fmt.sh");
    assert!(["ran", "evil"].iter().all(|made| !world.folder.path().join(made).exists()));
}

#[test]
fn a_yes_is_one_to_the_files_behind_the_command() {
    let files = [
        ("Makefile", "fmt:\n\ttouch ran\n"),
        ("package.json", "{\"scripts\": {\"fmt\": \"touch ran\"}}"),
        ("tool/__main__.py", ""),
        ("fmt.sh", ". ./common.sh\n"),
        ("common.sh", "touch ran\n"),
        ("sub/inner.sh", ""),
        ("sub/Makefile", "fmt:\n\ttouch ran\n"),
        ("notes.txt", ""),
    ];
    let world = World::new(Mode::Auto, &files, vec![]);
    for (command, behind) in [
        ("make fmt", "Makefile"),
        ("make -s -C . fmt", "Makefile"),
        ("make -C sub fmt", "sub/Makefile"),
        ("npm run fmt", "package.json"),
        ("python3 -m tool {path}", "tool/__main__.py"),
        ("cat fmt.sh | sh", "fmt.sh"),
        ("find . -name fmt.sh -exec sh {} +", "fmt.sh"),
        ("bash fmt.sh", "common.sh"),
        ("cd sub && sh inner.sh", "sub/inner.sh"),
    ] {
        let content = || rule("*.txt", command).content(&world.agent.workspace);
        let before = content();
        // What it runs because of is no part of it.
        std::fs::write(world.folder.path().join("notes.txt"), command).unwrap();
        assert_eq!(content(), before, "{command}");
        let path = world.folder.path().join(behind);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, "touch evil\n").unwrap();
        assert_ne!(content(), before, "{command}");
        std::fs::write(&path, text).unwrap();
        assert_eq!(content(), before, "{command}");
    }
}

/// The settings of `place`'s own person.
#[tokio::test]
async fn a_yes_to_what_is_not_written_out_holds_once() {
    let commands = [
        ("sh fmt.sh", true),
        ("sh './fmt.sh' --width=8 '$x'", true),
        ("sh fm?.sh", false),
        ("sh \"$PWD/fmt.sh\"", false),
        ("f=fmt.sh; sh $f", false),
        ("PATH=tools:/bin fmt.sh", false),
        ("sh {fmt,x}.sh", false),
    ];
    for (command, is_bound) in commands {
        let calls = [edit("a.txt", "one", "two"), edit("a.txt", "two", "three")];
        let replies = calls.map(|call| reply("", vec![call])).into_iter();
        let replies = replies.chain([reply("done", vec![])]).collect();
        let files = [("a.txt", "one\n"), ("fmt.sh", "true\n")];
        let mut world = World::new(Mode::Auto, &files, replies)
            .answering([Decision::Accept(Scope::Session), Decision::Accept(Scope::Session)]);
        let file = world.folder.path().join(".state/after_edit");
        let rules = vec![rule("*.txt", command).of_project()];
        world.agent.after_edits = AfterEdits::new(rules, Consents::read(&file));
        world.turn("go").await.unwrap();
        let times = world.asked().lines().count();
        assert_eq!((times == 1, file.exists()), (is_bound, is_bound), "{command}: {times}");
    }
}

#[test]
fn files_in_joined_options_are_behind_a_command() {
    let world = World::new(Mode::Auto, &[("x.mk", "all:\n")], vec![]);
    for command in ["make -fx.mk all", "make --file=x.mk all", "make -f x.mk all"] {
        let scripts = rule("*.txt", command).scripts(&world.agent.workspace);
        assert!(scripts.iter().any(|(path, _)| path == "x.mk"), "{command}: {scripts:?}");
    }
}

fn settings(place: &Place, text: &str) {
    let folder = place.folder.path().join("home/.config/snick");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

fn output(place: &Place, arguments: &[&str]) -> String {
    let output = place.command(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn an_undo_takes_back_what_the_formatter_did() {
    let before = "one\r\ntwo\n";
    let place = Place::new(&[
        ("a.txt", before),
        (".snick/config.toml", "[[after_edit]]\nglob = \"*\"\ncommand = \"touch planted\"\n"),
    ]);
    settings(&place, &format!("[[after_edit]]\nglob = \"*.txt\"\ncommand = {}\n", json!(SHOUT)));
    let arguments = json!({"path": "a.txt", "old_string": "two", "new_string": "2"}).to_string();
    let calls: Vec<Value> = vec![json!({"id": "a", "name": "edit_file", "arguments": arguments})];
    let script = place.script(&[json!({"text": "", "calls": calls}), json!({"text": "done"})]);
    let told = output(&place, &["-p", "go", "--mode", "auto", "--replay", &script]);
    let file = || std::fs::read_to_string(place.workspace().join("a.txt")).unwrap();
    assert_eq!(file(), "one\r!\n2!\n", "{told}");
    let undone = output(&place, &["undo"]);
    assert_eq!(file(), before, "{told}{undone}");
    assert!(!place.workspace().join("planted").exists());
    expect![[r#"
        done
        ● edit a.txt
        edit a.txt  +1 −1
          line ends: LF and CRLF, mixed
          1 1 │ one
        - 2   │ two
        +   2 │ 2
        edit a.txt  +2 −2
          line ends change from LF and CRLF, mixed to LF
          warning: added lines hold characters that act or hide: ␍
        - 1   │ one
        - 2   │ 2
        +   1 │ one␍!
        +   2 │ 2!
        after_edit `touch planted` was not run: the project's settings name it, and nobody is here to allow it
    "#]].assert_eq(&told);
}

#[test]
fn what_a_formatter_makes_of_a_file_stays_in_every_mode_that_writes() {
    for options in [
        &["--mode", "ask"][..],
        &["--mode", "ask", "--sandbox", "landlock"],
        &["--mode", "ask", "--sandbox", "off"],
        &["--mode", "auto"],
        &["--mode", "full"],
    ] {
        let place = Place::new(&[("a.txt", "one\n")]);
        settings(
            &place,
            &format!("[[after_edit]]\nglob = \"*.txt\"\ncommand = {}\n", json!(SHOUT)),
        );
        let call = json!({"path": "a.txt", "old_string": "one", "new_string": "two"}).to_string();
        let told = output(&place, &[&["tool", "edit_file", &call, "--yes"], options].concat());
        let file = std::fs::read_to_string(place.workspace().join("a.txt")).unwrap();
        assert_eq!(file, "two!\n", "{options:?}: {told}");
        assert!(told.contains("it changed line 1"), "{options:?}: {told}");
    }
}

#[test]
fn a_rule_that_denies_a_command_denies_it_after_edits() {
    let place = Place::new(&[("a.txt", "one\n")]);
    settings(&place, "[[after_edit]]\nglob = \"*.txt\"\ncommand = \"touch ran\"\n");
    let rules = place.folder.path().join("home/.config/snick/rules.toml");
    std::fs::write(rules, "[[deny]]\ncommand = \"touch\"\n").unwrap();
    let call = json!({"path": "a.txt", "old_string": "one", "new_string": "two"}).to_string();
    for mode in ["auto", "full"] {
        let told = output(&place, &["tool", "edit_file", &call, "--yes", "--mode", mode]);
        let denied = "[after_edit `touch ran` was not run: the rule `deny command touch`]";
        assert!(told.contains(denied), "{mode}: {told}");
        assert!(!place.workspace().join("ran").exists(), "{mode}: {told}");
        std::fs::write(place.workspace().join("a.txt"), "one\n").unwrap();
    }
}
