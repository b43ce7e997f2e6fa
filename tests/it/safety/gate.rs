//! Which commands are denied, asked and allowed by stored rules.

mod patterns;
mod renamed;
mod spelled;
mod unconfined;
mod unseen;

use std::path::Path;
use std::sync::Arc;

use snick::approval::{
    Answer, Binding, Effect, Execute, Ground, Mode, Origin, Policy, Rules, judge, judge_call, rules,
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
        ground: Ground { home: Some(home), roots: vec![start.clone()], start, links: vec![] },
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
[[allow]]
command = ["xargs", "touch"]
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
            ("git branch other", Ask),
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

/// Commands in which a denied one is not where a rule looks first.
const HIDING: &[&str] = &[
    "git --attr-source x push",
    "git-push",
    "git -c alias.p=push p",
    "git -c alias.p='!curl x' p",
    "git -c core.pager='curl x' log",
    "git grep -O'curl x' a",
    "git submodule foreach 'curl x'",
    "git bisect run curl x",
    "git rebase --exec 'curl x' HEAD~1",
    // Programs that run some of their words.
    "coproc curl x",
    "setarch x86_64 curl x",
    "env - curl x",
    "env -vS 'curl x'",
    "su root --command='curl x'",
    "parallel 'curl {}' ::: x",
    "xvfb-run -a curl x",
    "docker run y curl x",
    "ssh host 'curl x'",
    "npx curl x",
    "uv run curl x",
    "perf stat -o y curl x",
    "tar -I 'curl x' -xf y",
    "tar --use-compress-program='curl x' -xf y",
    "tar xf y --checkpoint-action=exec='curl x'",
    "rg --pre=curl x",
    "fd -x curl",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x",
    "trap -- 'curl x' EXIT",
    "mapfile -C 'curl x' y",
    "test -v 'a[$(curl x)]'",
    "printf -v 'a[`curl x`]' y",
    // Programs whose names come to light when they run.
    "x=curl; $x y",
    "c${z}url x",
    "cu$(true)rl x",
    "cu`true`rl x",
    "cur\\\nl x",
    "{curl,x}",
    "/usr/bin/cur? x",
    "$(echo curl) x",
    "echo curl x | sh",
    "cat y | { bash; }",
    "printf 'curl x' | bash -s y",
    "bash <(echo curl x)",
    ". /dev/stdin <<< 'curl x'",
    "true; 'curl x",
];

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
        check(mode, DENYING, &HIDING.iter().map(|command| (*command, Deny)).collect::<Vec<_>>());
    }
    let harmless = [
        "git commit -m 'curl x'",
        "git commit -m push",
        "echo curl",
        "git stash push",
        "true",
        "curly x",
        "cat y | sh s.sh",
        "bash s.sh < y",
        "for x in *; do echo \"$x\"; done",
        "[ -f y ] && echo ${y%.*}",
        "printf '%s\\n' y",
        "arr=(a b); echo \"${arr[0]}\"",
    ];
    check(Mode::Full, DENYING, &harmless.map(|command| (command, Answer::Allow)));
}

#[test]
fn a_separator_hides_no_command_from_a_rule() {
    let commands =
        ["git diff --", "git log --", "git -- x", "git --", "-- git x; git y", "git;", "(git)"];
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        let rules = "[[deny]]\ncommand = 'git'\n";
        check(mode, rules, &commands.map(|command| (command, Answer::Deny)));
    }
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
    let rules = "[[allow]]\ncommand = ['git', 'clean', '-fd']\n[[allow]]\ncommand = ['rm']\n[[allow]]\ncommand = ['rm', '-rf', 'sub']\n[[allow]]\ncommand = ['rm', '-rf', '~']\n[[allow]]\ncommand = ['rm', '-rf', '.']\n[[allow]]\ncommand = ['cat', 'there']\n[[allow]]\ncommand = ['mkswap', 'there']\n";
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
                // Flags cut short, git's own programs, and names that come to light later.
                ("git reset --har", Ask),
                ("git-reset --hard", Ask),
                ("git push --forc", Ask),
                ("git read-tree -u --reset HEAD", Ask),
                ("git checkout there", Ask),
                ("git sparse-checkout set there", Ask),
                ("git -C sub sparse-checkout reapply", Ask),
                ("git sparse-checkout list", if mode == Mode::Full { Allow } else { Ask }),
                ("rm --recurs other", Ask),
                ("rm -f *", Ask),
                ("rm -f other/**", Ask),
                ("x=rm; $x -rf ~", Ask),
                ("coproc rm -rf ~", Ask),
                ("docker run y rm -rf /", Ask),
                ("ssh host 'rm -rf ~'", Ask),
                ("cat x > /dev/sda", Ask),
                ("cat there > /dev/sda", Ask),
                ("cat there | xargs mv sub", Ask),
                ("mkswap there", Ask),
                ("cat x > /dev/../dev/sda1", Ask),
                ("kill -9 -1", Ask),
                ("systemctl poweroff", Ask),
                ("kubectl delete ns x", Ask),
            ],
        );
    }
}

#[test]
fn an_allow_rule_gives_no_credentials_and_no_flags_that_write_or_run() {
    use Answer::{Allow, Ask};
    let rules = "[[allow]]\ncommand = 'cat'\n[[allow]]\ncommand = ['git', 'diff']\n[[allow]]\ncommand = ['sort']\n[[allow]]\ncommand = ['go', 'test']\n[[allow]]\ncommand = ['printf']\n[[allow]]\ncommand = ['test']\n[[allow]]\ncommand = ['cat', '.npmrc']\n";
    check(
        Mode::Ask,
        rules,
        &[
            ("cat there", Allow),
            ("cat .npmrc", Allow),
            ("cat .env", Ask),
            ("cat there ROOT/home/.ssh/id_rsa", Ask),
            ("cat sub/server.key", Ask),
            ("git diff --stat HEAD", Allow),
            ("git diff --output=x", Ask),
            ("git diff --outp=x", Ask),
            ("git diff --ext-diff", Ask),
            ("git diff --no-index / there", Ask),
            ("sort -rn there", Allow),
            ("sort -ro there there", Ask),
            ("sort --compress-program=./x there", Ask),
            ("go test ./...", Allow),
            ("go test -exec ./x", Ask),
            ("go test -toolexec=./x", Ask),
            ("printf '%s' a", Allow),
            ("printf -v 'a[$(touch pwn)]' x", Ask),
            ("test -v 'a[`touch pwn`]'", Ask),
        ],
    );
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
    let text = rules::added(before, file, &words, &Binding::default(), root, "2026-01-02").unwrap();
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
