//! A rule against a command, where another program would run it and no parser sees it.

use snick::approval::{Answer, Mode};

use super::check;

const RULES: &str = r#"
[[deny]]
command = "git push"
[[deny]]
command = "curl"
[[allow]]
command = "python3"
[[allow]]
command = ["perl", "-e", "system(qw(git push origin))"]
exact = true
"#;

#[test]
fn what_an_interpreter_may_run_against_a_rule_is_asked_in_every_mode() {
    let hidden = [
        "perl -e 'system(\"git push\")'",
        "perl -e 'exec(q(git), q(push))'",
        "perl -MPOSIX -e 'system \"git \" . \"push\"'",
        "awk 'BEGIN { system(\"git push\") }'",
        "awk 'BEGIN { \"curl x\" | getline }'",
        "sed -n '1e git push' a",
        "sed 's/.*/git push/e' a",
        "sed 's/.*/curl x/e' a",
        "python3 -c 'import os; os.system(\"git push\")'",
        "python3 -c 'import subprocess as s; s.run([\"git\", \"pu\" + \"sh\"])'",
        "python3 -c 'import os; os.system(\"/usr/bin/curl x\")'",
        "python3 <<X\nimport os\nos.system('git push')\nX",
        "python3 - <<< 'import os; os.system(\"git push\")'",
        "echo 'import os; os.system(\"git push\")' | python3",
        "printf 'all:\\n\\tgit push\\n' | make -f -",
        "make -f /dev/stdin <<X\nall:\n\tgit push\nX",
        "make 'CC=git push'",
        "node -e 'require(\"child_process\").execSync(\"git push\")'",
        "ruby -e '`git push`'",
        "php -r 'passthru(\"curl x\");'",
        "lua5.4 -e 'os.execute(\"git push\")'",
        "sqlite3 x '.shell git push'",
        "vim -c '!git push' -c q",
        "ed a <<X\n!git push\nX",
        "m4 <<< 'syscmd(`git push`)'",
        "tclsh <<< 'exec git push'",
        "socat - 'EXEC:git push'",
        "split --filter='git push' a",
        "zip -T -TT 'git push' x a",
        "rsync -e 'git push' a b:c",
        "watchexec git push",
        "unheard-of --hook='git push'",
        "unheard-of git push",
        "unheard-of --hook 'curl x'",
        "GIT_SSH_COMMAND='git push' git fetch",
        "export PAGER='curl x'; man ls",
        "env GIT_EDITOR='git push' make",
    ];
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        check(mode, RULES, &hidden.map(|command| (command, Answer::Ask)));
    }
}

#[test]
fn what_names_no_command_of_a_rule_is_not_asked() {
    let harmless = [
        "perl -e 'system(qw(git push origin))'",
        "python3 -c 'print(1)'",
        "python3 tools/git/list.py",
        "git status | awk '{ print $2 }'",
        "sed -n 's/a/b/p' .git/description",
        "sed -n 5p src/gitignore.rs src/curly.rs",
        "ls repo.git | sed 's/x/y/'",
        "git commit -m 'git push and curl x'",
        "git log --grep 'git push' | sed -n 1p > /dev/null",
        "grep -rn 'git push' docs",
        "gh pr create --body 'run git push first'",
        "echo 'git push'",
        "cat > notes <<X\nrun git push\nX",
        "make push",
        "npm install",
        "find . -name '*.curl.txt' -print",
    ];
    check(Mode::Full, RULES, &harmless.map(|command| (command, Answer::Allow)));
    // Without a rule against a command nothing is looked for.
    let shown = "python3 -c 'import os; os.system(\"git push\")'";
    check(Mode::Full, "[[deny]]\nread = 'x'\n", &[(shown, Answer::Allow)]);
}
