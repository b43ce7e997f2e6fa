//! What is asked and denied where nothing confines a command: in mode `full`, and without a sandbox.

use snick::approval::{Answer, Mode};

use super::check;

#[test]
fn what_instructs_agents_starts_processes_or_holds_credentials_is_asked_in_every_mode() {
    let asked = [
        "cat .env",
        "cat ~/.ssh/id_rsa",
        "cat < .env",
        "sudo cat .env",
        "bash -c 'cat .env'",
        "cat .e{n,}v",
        "base64 ROOT/home/.aws/credentials",
        "tee AGENTS.md < there",
        "tee {AGENTS,x}.md",
        "echo x | tee -a sub/CLAUDE.md",
        "cp there .git/hooks/",
        "cp there .git/hooks/post-commit",
        "cp -t .git/hooks there",
        "mv there .vscode/tasks.json",
        "cp x/AGENTS.md .",
        "ln -s x .envrc",
        "install -m 755 there .husky/pre-commit",
        "touch .github/workflows/x.yml",
        "rm AGENTS.md",
        "sed -i s/a/b/ AGENTS.md",
        "sed --in-place s/a/b/ .git/config",
        "perl -pi -e 1 CLAUDE.md",
        "dd if=there of=.cargo/config.toml",
        "curl -o AGENTS.md x",
        "wget -OAGENTS.md x",
        "sort there -o AGENTS.md",
        "git config core.fsmonitor x",
        "git config --add core.hooksPath x",
        "git config set alias.x '!y'",
        "git config --global core.pager x",
        "git config -e",
        "tee ~/.bashrc",
        "echo x >> ~/.bashrc",
        "cp there ~/.config/autostart/x",
    ];
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        check(mode, "", &asked.map(|command| (command, Answer::Ask)));
    }
}

#[test]
fn what_is_too_long_to_be_judged_is_asked_in_every_mode() {
    let many = format!("{}rm -r d", "true; ".repeat(80));
    let long = format!("rm -r d; echo {}", "a".repeat(40_000));
    let deep = format!("{}rm -r d{}", "( ".repeat(200), " )".repeat(200));
    let asked = [many, long, deep];
    let asked = asked.each_ref().map(|command| (command.as_str(), Answer::Ask));
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        check(mode, "", &asked);
    }
}

#[test]
fn rules_for_paths_hold_for_what_the_words_name_where_nothing_confines() {
    let rules = "[[deny]]\nread = 'secret.txt'\n[[deny]]\nwrite = 'keep.txt'\n[[deny]]\nwrite = 'migrations/**'\n[[ask]]\nwrite = '*.sql'\n";
    let denied = [
        "cat secret.txt",
        "cat {secret,x}.txt",
        "cat ${x:-secret.txt}",
        "sed -i s/K/J/ keep.txt",
        "sed -i s/K/J/ {keep,x}.txt",
        "rm keep.txt",
        "rm -f -- ./keep.txt",
        "mv keep.txt x",
        "mv x keep.txt",
        "cp x keep.txt",
        "cp x/keep.txt .",
        "tee keep.txt",
        "truncate -s 0 keep.txt",
        "dd of=keep.txt",
        "git checkout keep.txt",
        "git rm keep.txt",
        "chmod 0 keep.txt",
        "mv migrations x",
        "rm migrations/1",
        "touch secret.txt",
    ];
    let asked = [
        "touch a.sql",
        "sed -i x a.sql",
        "grep -r SEC .",
        "grep -r SEC . > out",
        "grep -rn SEC | sort",
        "rg SEC",
        "cp -r . /tmp/x",
        "tar cf /tmp/x .",
        "find . -exec cat {} +",
    ];
    check(Mode::Full, rules, &denied.map(|command| (command, Answer::Deny)));
    check(Mode::Full, rules, &asked.map(|command| (command, Answer::Ask)));
}

#[test]
fn other_changes_and_reads_are_not_asked_in_mode_full() {
    let rules = "[[deny]]\nwrite = 'keep.txt'\n[[deny]]\nread = 'private/**'\n";
    let harmless = [
        "cat there",
        "cat AGENTS.md",
        "cat keep.txt",
        "cp keep.txt x",
        "cp AGENTS.md /tmp",
        "sed -n 1p keep.txt",
        "sed -i s/a/b/ there",
        "touch x && rm x",
        "mkdir -p sub/x",
        "grep -rn x src",
        "rg x src",
        "git config user.name",
        "git config --get core.fsmonitor",
        "git config user.name x",
        "git config --list",
        "git add . && git commit -m 'config core.pager x'",
        "make > out.txt",
        "curl -o x y",
    ];
    check(Mode::Full, rules, &harmless.map(|command| (command, Answer::Allow)));
}
