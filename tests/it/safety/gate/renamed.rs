//! A rule against a command, where the program runs out of another's options or under another name.

use snick::approval::{Answer, Mode};

use super::check;

const RULES: &str = "[[deny]]\ncommand = 'rm'\n";

#[test]
fn what_programs_run_out_of_their_options_is_denied() {
    let denied = [
        "git ls-remote --upload-pack='rm a;' .",
        "git ls-remote --upload-pack 'rm a;' .",
        "git ls-remote --upl='rm a;' .",
        "git clone -u 'rm a;' . z",
        "git clone -u'rm a;' . z",
        "git push --receive-pack='rm a;' . HEAD",
        "git fetch-pack --upload-pack='rm a;' . HEAD",
        "git archive --remote=. --exec='rm a;' HEAD",
        "git send-email --smtp-server='/bin/rm a' x",
        "git send-email --sendmail-cmd='rm a' x",
        "git difftool --extcmd='rm a'",
        "git difftool -x'rm a'",
        "git rebase -x 'rm a' main",
        "git clone 'ext::rm a' z",
        "git remote-ext x 'rm a'",
        "git merge-index rm a",
        "sftp -S rm h",
        "sftp -Srm h",
        "sftp -D 'rm a'",
        "scp -S rm a h:b",
        "ag --pager 'rm a' x",
        "ag --pager=rm x",
        "tcpdump -z rm -w a",
        "tcpdump -zrm -w a",
        "go test -exec rm ./...",
        "go test -exec=rm ./...",
        "go vet --vettool=rm",
        "sort --compress-program=rm a",
        "sort --compress=rm a",
        "faketime x rm a",
        "proot rm a",
        "uclampset -m 5 rm a",
        "chronic rm a",
        "ifne rm a",
        "qemu-x86_64 /bin/rm a",
        "ssh-agent rm a",
        "cross-env A=1 rm a",
    ];
    check(Mode::Full, RULES, &denied.map(|command| (command, Answer::Deny)));
    let asked = ["echo 'rm a' | crontab -", "echo 'rm a' | batch", "batch <<X\nrm a\nX"];
    check(Mode::Full, RULES, &asked.map(|command| (command, Answer::Ask)));
    let harmless = [
        "git push -u origin rm",
        "git add -u",
        "git diff -u -- rm",
        "git clone x rm",
        "ag rm src",
        "rg -n rm src",
        "sort rm",
        "scp rm h:b",
        "go test -run rm ./...",
        "man rm",
    ];
    check(Mode::Full, RULES, &harmless.map(|command| (command, Answer::Allow)));
}

#[test]
fn a_program_of_the_workspace_that_may_be_any_is_asked() {
    // `link` leads out of the workspace, `there` is a text of it.
    let asked = [
        "./link a",
        "./missing a",
        "cp /bin/rm q; ./q a",
        "cp /bin/rm q && env ./q a",
        "ln -s /bin/rm q && ./q a",
        "ln -sf /bin/rm there && ./there a",
        "mv /bin/rm q; timeout 5 ./q a",
        "install -m 755 /bin/rm q; ./q a",
        "dd if=/bin/rm of=q; ./q a",
        "cat /bin/rm > there; ./there a",
        "cat /bin/rm | tee there; ./there a",
        "curl -o there x; ./there",
        "mkdir d; cd d; cp /bin/rm q; ./q a",
        "find . -exec ./missing {} +",
    ];
    let harmless = ["./there", "cp there q", "/usr/bin/env true", "cat ./missing", "ls ./link"];
    for rules in [RULES, "[[ask]]\ncommand = 'git push'\n"] {
        check(Mode::Full, rules, &asked.map(|command| (command, Answer::Ask)));
        check(Mode::Full, rules, &harmless.map(|command| (command, Answer::Allow)));
    }
    // Without a rule against a command nothing is looked for, and an exact rule is an answer.
    let links = |command| (command, Answer::Allow);
    check(Mode::Full, "[[deny]]\nread = 'none'\n", &["./missing a", "cp x q; ./q"].map(links));
    let exact = format!("{RULES}[[allow]]\ncommand = ['./missing', 'a']\nexact = true\n");
    check(Mode::Full, &exact, &[("./missing a", Answer::Allow), ("./missing b", Answer::Ask)]);
}
