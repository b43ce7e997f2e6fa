//! Which commands run in a view unasked, which are asked, and where they run then.

use std::fmt::Write as _;

use expect_test::expect;

use snick::approval::{
    Access, Confinement, Decision, Effect, Execute, Grant, Mode, Policy, Rung, Scope, Settled,
    confinement, judge, settle,
};

const COMMANDS: &[&str] = &[
    "ls",
    "make",
    "sed -i s/a/b/ a && cargo test",
    "git status --short | cat",
    "git -C sub -c core.pager=cat log",
    "git commit -m x",
    "cd sub && git add .",
    "env git stash",
    "git stash",
    "git stash list",
    "git branch --show-current",
    "git branch -D x",
    "git remote -v && git branch",
    "hg commit",
    "rm a",
    "rm -rf target",
    "cargo clean",
    "cargo build",
    "x=$(git push)",
];

/// Judges each command under `policy`; says where it runs when the person says yes.
fn table(policy: &Policy) -> String {
    let mut table = String::new();
    for command in COMMANDS {
        let execute = Execute { command: (*command).to_owned(), ..Execute::default() };
        writeln!(table, "{command}: {}", run(policy, execute)).unwrap();
    }
    table
}

fn run(policy: &Policy, execute: Execute) -> String {
    let effect = Effect::Execute(execute);
    let verdict = judge(policy, &effect);
    let settled = settle(&effect, &verdict, Some(Decision::Accept(Scope::Once)));
    let Settled::Granted { grant: Grant::Execute(execute), .. } = settled else {
        return format!("{} ({})", verdict.answer.name(), verdict.rule);
    };
    let place = match confinement(policy, &execute) {
        Confinement::None => "unconfined",
        Confinement::Sandbox { view: true, .. } => "view",
        Confinement::Sandbox { view: false, .. } => "sandbox",
    };
    format!("{} ({}), {place}", verdict.answer.name(), verdict.rule)
}

#[test]
fn in_mode_ask_what_the_view_carries_is_not_asked() {
    let policy = Policy {
        mode: Mode::Ask,
        rung: Rung::Namespaces,
        has_view: true,
        commands_allowed: vec!["make".to_owned().into()],
        ..Policy::default()
    };
    expect![[r#"
        ls: allow (the read-only list), view
        make: allow (exactly this command was allowed for the session), sandbox
        sed -i s/a/b/ a && cargo test: allow (mode `ask`, in a copy-on-write view), view
        git status --short | cat: allow (mode `ask`, in a copy-on-write view), view
        git -C sub -c core.pager=cat log: allow (mode `ask`, in a copy-on-write view), view
        git commit -m x: ask (git that records is asked: no view carries it), sandbox
        cd sub && git add .: ask (git that records is asked: no view carries it), sandbox
        env git stash: ask (git that records is asked: no view carries it), sandbox
        git stash: ask (git that records is asked: no view carries it), sandbox
        git stash list: allow (mode `ask`, in a copy-on-write view), view
        git branch --show-current: allow (mode `ask`, in a copy-on-write view), view
        git branch -D x: ask (deleting a branch is always asked), sandbox
        git remote -v && git branch: allow (mode `ask`, in a copy-on-write view), view
        hg commit: ask (a program that records the working tree is asked: no view carries it), sandbox
        rm a: allow (mode `ask`, in a copy-on-write view), view
        rm -rf target: ask (removing folders is asked: no view carries it), sandbox
        cargo clean: ask (removing folders is asked: no view carries it), sandbox
        cargo build: allow (mode `ask`, in a copy-on-write view), view
        x=$(git push): ask (git that records is asked: no view carries it), sandbox
    "#]].assert_eq(&table(&policy));
}

#[test]
fn other_modes_and_other_rungs_know_no_view() {
    let ask = Policy { mode: Mode::Ask, rung: Rung::Landlock, ..Policy::default() };
    let auto = Policy { mode: Mode::Auto, rung: Rung::Namespaces, has_view: true, ..ask.clone() };
    let careful = Policy { ask_commands: true, mode: Mode::Ask, ..auto.clone() };
    let command = || Execute { command: "touch x".to_owned(), ..Execute::default() };
    let access = Some((Access::Network, "to see".to_owned()));
    let answers = [
        run(&ask, command()),
        run(&auto, command()),
        run(&careful, command()),
        run(&Policy { ask_commands: false, ..careful.clone() }, Execute { access, ..command() }),
        run(&Policy { mode: Mode::Read, ..auto.clone() }, command()),
    ];
    expect![[r#"
        ask (commands are asked), sandbox
        allow (mode `auto` in the sandbox (namespaces)), sandbox
        ask (`--ask-commands`), sandbox
        ask (`access` Network is always asked), sandbox
        allow (mode `read` in the sandbox (namespaces)), sandbox"#]]
    .assert_eq(&answers.join("\n"));
}
