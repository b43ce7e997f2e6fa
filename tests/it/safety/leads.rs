//! What guarded names and the settings of git lead to: the file tools ask about it as about these.

use serde_json::{Value, json};

use super::place::Place;

/// Runs `script` in the workspace as the person.
fn person(place: &Place, script: &str) {
    let git = "git() { command git -c user.name=a -c user.email=a@b \"$@\"; }\n";
    let ran = place.run("/bin/bash", &["-ec", &format!("{git}{script}")], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "x\n", "append": true}))
}

/// Makes a workspace of `script`, and checks that of the files which are written in mode `auto` just
/// these are asked about.
#[track_caller]
fn check(script: &str, asked: &[&str], free: &[&str]) {
    let place = Place::new();
    person(&place, &format!("git init -q -b main .\n{script}"));
    let calls: Vec<(&str, Value)> = asked.iter().chain(free).map(|path| write(path)).collect();
    let outcomes = place.outcomes(&["--mode", "auto"], &calls);
    let statuses: Vec<&str> = outcomes.iter().map(|(status, _)| status.as_str()).collect();
    let expected = [vec!["denied"; asked.len()], vec!["done"; free.len()]].concat();
    assert_eq!(statuses, expected, "{outcomes:#?}");
    for (_, text) in &outcomes[..asked.len()] {
        assert!(text.contains("leads there, and it is"), "{text}");
    }
}

#[test]
fn links_of_protected_names_below_the_roots_guard_what_they_lead_to() {
    check(
        "mkdir -p pkg/deep docs conf; ln -s ../docs/x.md pkg/AGENTS.md
         ln -s ../../conf pkg/deep/.vscode; ln -s ../docs/none.md pkg/CLAUDE.md
         echo x > docs/x.md; echo x > docs/y.md; ln -s docs/y.md plain",
        &["docs/x.md", "conf/tasks.json", "conf/new/a", "docs/none.md"],
        &["docs/y.md", "conf2/a"],
    );
}

#[test]
fn settings_of_git_guard_what_they_lead_to() {
    check(
        "git config core.hooksPath githooks; git config include.path ../inc/gitinc
         git init -q sub; git -C sub config core.hooksPath hooks; mkdir inc
         printf '[include]\\npath = more\\n' > inc/gitinc",
        &["githooks/pre-commit", "inc/gitinc", "inc/more", "sub/hooks/pre-push"],
        &["inc/other", "hooks/pre-push", "sub/a"],
    );
    // A folder around the repository is more than what was meant.
    check("git config core.hooksPath .; git config include.path ..", &[], &["a", "b/c"]);
}

#[test]
fn settings_of_git_guard_the_same_in_a_linked_work_tree() {
    let place = Place::new();
    person(
        &place,
        "git init -q -b main ../out/main; cd ../out/main; git commit -q --allow-empty -m a
         git config core.hooksPath githooks; rmdir ../../ws; git worktree add -q ../../ws -b b",
    );
    let outcomes =
        place.outcomes(&["--mode", "auto"], &[write("githooks/pre-commit"), write("a/githooks")]);
    let statuses: Vec<&str> = outcomes.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["denied", "done"], "{outcomes:#?}");
}

#[test]
fn links_of_names_of_credentials_are_asked_about_by_what_they_lead_to() {
    let place = Place::new();
    person(
        &place,
        "mkdir -p pkg data; echo SECRET > data/values; echo b > data/b; ln -s ../data/values pkg/.env",
    );
    let read = |path: &str| ("read_file", json!({"path": path}));
    let outcomes = place.outcomes(&["--mode", "auto"], &[read("data/values"), read("data/b")]);
    assert!(outcomes[0].1.contains("may hold credentials"), "{outcomes:#?}");
    assert_eq!(outcomes[1], ("done".to_owned(), "b\n".to_owned()));
}

#[test]
fn links_that_git_brings_while_a_session_runs_count_from_then_on() {
    let place = Place::new();
    person(
        &place,
        "git init -q -b main .; mkdir -p pkg docs; echo x > docs/x.md; git add .; git commit -qm a
         git switch -qc other; ln -s ../docs/x.md pkg/AGENTS.md; git add .; git commit -qm b
         git switch -q main",
    );
    let merge = ("bash", json!({"command": "git merge -q other"}));
    let calls = [write("docs/x.md"), merge, write("docs/x.md")];
    let outcomes = place.outcomes(&["--mode", "auto"], &calls);
    let statuses: Vec<&str> = outcomes.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["done", "done", "denied"], "{outcomes:#?}");
    assert!(outcomes[2].1.contains("leads there, and it is"), "{outcomes:#?}");
}
