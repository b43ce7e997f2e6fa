//! Which commands are denied, asked and allowed by stored rules.

use std::path::Path;
use std::sync::Arc;

use snick::approval::{
    Answer, Effect, Execute, Ground, Mode, Origin, Policy, Rules, judge, judge_call, rules,
};
use snick::tools;
use snick::workspace::{Options, Workspace};

/// Judges `command` under the rules of `text` in a folder of its own.
fn judged(mode: Mode, text: &str, command: &str) -> (Answer, String) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join("rules.toml");
    std::fs::create_dir(root.join("home")).unwrap();
    std::fs::create_dir(root.join("work")).unwrap();
    std::fs::write(root.join("home/secret"), "top").unwrap();
    std::os::unix::fs::symlink("../home/secret", root.join("work/link")).unwrap();
    std::fs::write(root.join("work/there"), "x").unwrap();
    let text = text.replace("ROOT", root.to_str().unwrap());
    let (home, start) = (root.join("home"), root.join("work"));
    let rules = Rules::parse(&text, &file, Origin::User, Some(&home)).unwrap();
    let options = Options { start: start.clone(), home: Some(home.clone()), ..Options::default() };
    let workspace = Workspace::open(options).unwrap();
    let policy = Policy {
        mode,
        rules: Arc::new(Rules::new(rules, &start)),
        ground: Ground { home: Some(home), roots: vec![start.clone()], start },
        ..Policy::default()
    };
    let command = command.replace("ROOT", root.to_str().unwrap());
    let effect = Effect::Execute(tools::command_of(command, None, &workspace));
    let verdict = judge(&policy, &effect);
    (verdict.answer, verdict.rule.replace(root.to_str().unwrap(), "ROOT"))
}

fn check(mode: Mode, rules: &str, rows: &[(&str, Answer)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(command, expected)| {
            let (actual, rule) = judged(mode, rules, command);
            (actual != *expected).then(|| format!("{command:?}: {actual:?} by {rule}"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

const ALLOWING: &str = r#"
[[allow]]
command = "cargo test"
[[allow]]
command = ["touch"]
[[allow]]
command = "git log"
[[allow]]
command = "git status"
[[allow]]
command = "env"
[[allow]]
command = "python3"
[[allow]]
command = "git branch"
exact = true
[[allow]]
command = "git clean -fd"
exact = true
"#;

#[test]
fn an_allow_rule_covers_its_words_and_nothing_else() {
    use Answer::{Allow, Ask};
    check(
        Mode::Ask,
        ALLOWING,
        &[
            ("cargo test", Allow),
            ("cargo test --lib 'a b'", Allow),
            ("cargo test && touch x", Allow),
            ("cargo test 2>&1 | head -5", Ask),
            ("timeout 60 cargo test", Allow),
            ("nice -n 5 cargo test", Allow),
            ("RUST_BACKTRACE=1 cargo test", Allow),
            ("cargo test > /dev/null", Allow),
            ("git branch", Allow),
            ("python3", Allow),
            ("git clean -fd", Allow),
            // Longer words, other words, other places.
            ("cargo tests", Ask),
            ("cargo", Ask),
            ("cargo --config x test", Ask),
            ("python3 -c 'x'", Ask),
            ("git branch -D main", Ask),
            ("git clean -fdx", Ask),
            ("./touch x", Ask),
            ("/bin/touch x", Ask),
            // What stands around it.
            ("touch x; rm y", Ask),
            ("touch x\nrm y", Ask),
            ("touch x || rm y", Ask),
            ("touch x & rm y", Ask),
            ("touch x &", Ask),
            ("touch $(rm y)", Ask),
            ("touch `rm y`", Ask),
            ("touch \"$(rm y)\"", Ask),
            ("touch <(rm y)", Ask),
            ("touch $((a[$(rm y)]))", Ask),
            ("touch ${v@P}", Ask),
            ("touch ${v:=x}", Ask),
            ("touch ${!v}", Ask),
            ("touch $v", Ask),
            ("touch *", Ask),
            ("touch {a,b}", Ask),
            ("touch ~/x", Ask),
            ("touch $'a\\x41'", Ask),
            ("touch x # y", Ask),
            ("touch x\rrm y", Ask),
            ("touch \u{202e}x", Ask),
            ("touch x\u{200b}", Ask),
            ("touch x\\\n y", Ask),
            ("if true; then touch x; fi", Ask),
            ("f() { touch x; }; f", Ask),
            ("touch 'x", Ask),
            ("touch x > y", Ask),
            ("touch x >> ROOT/home/secret", Ask),
            ("touch < ROOT/home/secret", Ask),
            ("> y touch x", Ask),
            ("touch x > /dev/null y", Ask),
            ("touch <<X\ny\nX", Ask),
            // Wrappers that change what runs.
            ("env A=1 touch x", Ask),
            ("sudo touch x", Ask),
            ("xargs touch", Ask),
            ("find . -exec touch x ';'", Ask),
            ("bash -c 'touch x'", Ask),
            ("eval touch x", Ask),
            ("BASH_ENV=rc.sh git status", Ask),
            ("PATH=. touch x", Ask),
            ("git -c core.pager=x -p log", Ask),
            ("export PATH=.; touch x", Ask),
        ],
    );
}

const DENYING: &str = r#"
[[deny]]
command = "curl"
[[deny]]
command = "git push"
[[allow]]
command = "true"
[[allow]]
command = "env"
"#;

#[test]
fn a_deny_rule_is_found_wherever_it_stands_in_every_mode() {
    use Answer::Deny;
    let long = format!("{}curl x", "true && ".repeat(80));
    let over = "true && ".repeat(80) + "true";
    let rows = [
        "curl x",
        "true && curl x",
        "true | curl x",
        "true; (curl x)",
        "{ curl x; }",
        "if true; then curl x; fi",
        "f() { curl x; }; f",
        "for a in b; do curl x; done",
        "echo $(curl x)",
        "echo `curl x`",
        "echo \"$(curl x)\"",
        "cat <(curl x)",
        "env A=1 curl x",
        "env -i curl x",
        "env -u X -C d curl x",
        "env -S 'curl x'",
        "command curl x",
        "nice -n 19 curl x",
        "nice -19 curl x",
        "timeout -k 5 10 curl x",
        "timeout --foreground 10 curl x",
        "sudo -u root curl x",
        "sudo --unknown curl x",
        "nohup setsid stdbuf -oL curl x",
        "xargs -n 1 curl",
        "echo x | xargs -I{} curl {}",
        "bash -c 'curl x'",
        "bash -lc 'true; curl x'",
        "sh -c \"curl $x\"",
        "bash -c \"bash -c 'curl x'\"",
        "bash <<X\ncurl x\nX",
        "bash <<< 'curl x'",
        "eval 'curl x'",
        "eval curl x",
        "trap 'curl x' EXIT",
        "find . -exec curl {} \\;",
        "/usr/bin/curl x",
        "./curl x",
        "cu\"r\"l x",
        "c'u'rl x",
        "\\curl x",
        "$'curl' x",
        "$'\\x63url' x",
        "A=1 curl x",
        "> y curl x",
        "curl x > y",
        "! curl x",
        "time curl x",
        "git push",
        "git push --force",
        "git -C sub push",
        "git -c a=b push origin",
        "git --no-pager push",
        &long,
        &over,
    ];
    for mode in [Mode::Read, Mode::Ask, Mode::Auto, Mode::Full] {
        check(mode, DENYING, &rows.map(|command| (command, Deny)));
    }
    let harmless = ["git commit -m push", "echo curl", "git stash push", "true", "curly x"];
    check(Mode::Full, DENYING, &harmless.map(|command| (command, Answer::Allow)));
}

#[test]
fn a_path_rule_holds_for_commands_and_through_links() {
    use Answer::{Allow, Ask, Deny};
    let rules = "[[deny]]\nread = 'ROOT/home/secret'\n[[deny]]\nwrite = 'locked/**'\n[[ask]]\nwrite = '*.sql'\n";
    check(
        Mode::Full,
        rules,
        &[
            ("cat ROOT/home/secret", Deny),
            ("cat ../home/secret", Deny),
            ("cat link", Deny),
            ("cat ~/secret", Deny),
            ("cat $HOME/secret", Deny),
            ("cd .. && cat home/secret", Deny),
            ("cat < link", Deny),
            ("grep --file=link x", Deny),
            ("dd if=link of=/dev/null", Deny),
            ("echo x > locked/a", Deny),
            ("echo x >> locked/a/b", Deny),
            ("echo x > a.sql", Ask),
            ("cat there", Allow),
        ],
    );
}

#[test]
fn what_destroys_is_asked_in_every_mode_and_only_an_exact_rule_answers_it() {
    use Answer::{Allow, Ask};
    let rules = "[[allow]]\ncommand = ['git', 'clean', '-fd']\n[[allow]]\ncommand = ['rm']\n[[allow]]\ncommand = ['rm', '-rf', 'sub']\n[[allow]]\ncommand = ['rm', '-rf', '~']\n[[allow]]\ncommand = ['rm', '-rf', '.']\n";
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        check(
            mode,
            rules,
            &[
                ("git clean -fd", Allow),
                ("git clean -fdx", Ask),
                ("rm -rf sub", Allow),
                ("rm -rf other", Ask),
                ("rm x", Allow),
                ("rm -rf ~", Ask),
                ("rm -rf .", Ask),
                ("rm -rf ..", Ask),
                ("rm -rf \"$HOME\"", Ask),
                ("rm -rf ${HOME}/", Ask),
                ("rm -rf ROOT/work", Ask),
                ("rm -rf ROOT", Ask),
                ("cd sub && rm -rf ROOT/work", Ask),
                ("cd / && rm -rf *", Ask),
                ("rm -rf sub/../../work", Ask),
                ("rm -rf /", Ask),
                ("rm -rf /*", Ask),
                ("mv .git /tmp/x", Ask),
                ("mv other there", Ask),
                ("cp other there", Ask),
                ("echo x > .git/hooks/pre-commit", Ask),
                ("echo x | tee a > AGENTS.md", Ask),
                ("echo \u{202e}x", Ask),
                ("echo \u{1b}[2K", Ask),
            ],
        );
    }
}

#[test]
fn an_ask_rule_asks_what_the_mode_or_a_rule_allows() {
    let rules = "[[ask]]\ncommand = 'npm publish'\n[[allow]]\ncommand = 'npm'\n[[ask]]\ntool = 'list_files'\n";
    check(Mode::Full, rules, &[("npm --silent publish", Answer::Ask), ("npm test", Answer::Allow)]);
    let rules = Rules::parse(rules, Path::new("r"), Origin::User, None).unwrap();
    let rules = Arc::new(Rules::new(rules, Path::new("/w")));
    let policy = Policy { rules, ..Policy::default() };
    let answer = |tool| judge_call(&policy, tool, &Effect::Read(Vec::new())).answer;
    assert_eq!([answer("list_files"), answer("read_file")], [Answer::Ask, Answer::Allow]);
}

#[test]
fn only_one_plain_command_is_offered_to_be_remembered() {
    let offered = ["cargo test", "git branch", "touch a", "npm test", "pytest -q 'a b'"];
    let not = [
        "git status && touch a",
        "touch a; touch b",
        "touch a | cat",
        "touch $x",
        "touch *",
        "touch a > b",
        "sudo touch a",
        "env touch a",
        "timeout 5 touch a",
        "bash -c 'touch a'",
        "python3 a.py",
        "node a.js",
        "make",
        "npx x",
        "npm install x",
        "cargo run",
        "A=1 touch a",
        "rm -rf a",
        "git branch -D a",
        "touch a # b",
        "touch 'a",
        "find . -exec touch a ';'",
    ];
    let is_offered = |command: &&&str| rules::offered(command).is_some();
    assert_eq!(offered.iter().filter(is_offered).count(), offered.len());
    assert_eq!(not.iter().filter(is_offered).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn a_rule_file_that_is_wrong_is_refused_with_its_line() {
    let wrong = |text: &str| {
        let error = Rules::parse(text, Path::new("rules.toml"), Origin::User, None).unwrap_err();
        error.to_string().lines().next().unwrap_or_default().to_owned()
    };
    let rows = [
        "[[deny]]\ncommand = 'touch'\n[[deny]\n",
        "[[deny]]\ncommand = 'touch'\n\n[[deny]]\ncommand = 'a && b'\n",
        "[[deny]]\ncommand = 'touch'\nread = 'x'\n",
        "[[deny]]\ncomand = 'touch'\n",
        "[[allow]]\ntool = 'bash'\n",
        "[[deny]]\nread = '!x'\n",
        "[[deny]]\nhost = 'example.org'\n",
        "[[deny]]\n",
    ];
    expect_test::expect![[r#"
        the rules file `rules.toml` is wrong: TOML parse error at line 3, column 8
        the rules file `rules.toml` is wrong at line 4: `a && b` is not one plain command; write its words as a list: ["program", "argument"]
        the rules file `rules.toml` is wrong at line 1: a rule has one of `command`, `read`, `write` and `tool`
        the rules file `rules.toml` is wrong: TOML parse error at line 2, column 1
        the rules file `rules.toml` is wrong at line 1: `bash` is not allowed as a whole; name commands
        the rules file `rules.toml` is wrong at line 1: `!x` is no pattern of paths
        the rules file `rules.toml` is wrong: TOML parse error at line 2, column 1
        the rules file `rules.toml` is wrong at line 1: a rule has one of `command`, `read`, `write` and `tool`"#]]
    .assert_eq(&rows.map(wrong).join("\n"));
}

#[test]
fn storing_and_removing_a_rule_keep_the_rest_of_the_file() {
    let before = "# mine\n[[deny]]\ncommand = \"curl\" # never\n";
    let words = ["cargo".to_owned(), "test".to_owned()];
    let (file, root) = (Path::new("rules.toml"), Path::new("/w"));
    let text = rules::added(before, file, &words, root, "2026-01-02").unwrap();
    expect_test::expect![[r##"
        # mine
        [[deny]]
        command = "curl" # never

        [[allow]]
        command = ["cargo", "test"]
        exact = true
        workspace = "/w"
        added = "2026-01-02"
    "##]]
    .assert_eq(&text);
    let parsed = |text: &str| {
        let rules = Rules::parse(text, file, Origin::User, None).unwrap();
        let here = Rules::new(rules.clone(), root);
        let there = Rules::new(rules, Path::new("/other"));
        [here, there].map(|rules| rules.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let allow = "allow exactly cargo test".to_owned();
    let deny = "deny command curl".to_owned();
    assert_eq!(parsed(&text), [vec![allow, deny.clone()], vec![deny]]);
    assert_eq!(rules::removed(&text, file, Answer::Allow, 0).unwrap(), before);
    assert!(rules::removed(&text, file, Answer::Allow, 1).is_err());
}

#[test]
fn a_command_without_facts_is_judged_by_its_text() {
    let execute = Execute { command: "ls".to_owned(), ..Execute::default() };
    assert_eq!(judge(&Policy::default(), &Effect::Execute(execute)).answer, Answer::Allow);
}
