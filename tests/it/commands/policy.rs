//! Which commands run unasked, and which are always asked.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use snick::approval::{Access, Answer, Consent, Effect, Execute, Mode, Policy, ReadOnly, judge};

use super::World;

const ALLOWED: &[&str] = &[
    "pwd",
    "ls",
    "ls -la src",
    "  ls\t-la   src  ",
    "ls --color=never -- -odd",
    "ls -1 --sort=size a b c",
    "cat README.md src/main.rs",
    "cat -n 'a file with blanks.txt'",
    "cat \"plain quotes.txt\"",
    "cat 'it has $dollars `and` \\more;|&<>(){}*?[]~#!'",
    "cat ./a/./b",
    "head -n 20 a.txt",
    "head -20 a.txt",
    "tail -c5 a.txt",
    "wc -l src/lib.rs",
    "echo hello world",
    "echo -n -e x",
    "grep -rn 'fn main' src",
    "grep -n -A3 -e 'a|b' --include='*.rs' -r .",
    "grep --regexp=/etc/passwd a.txt",
    "grep -ine /x/ a.txt",
    "grep '/etc/passwd' a.txt",
    "rg -n TODO",
    "rg -tjs --glob='*.js' 'foo(bar)' src",
    "rg -e '^/' src",
    "find . -name '*.rs' -type f -maxdepth 3",
    "find src -mtime -1 -print -o -true",
    "stat -c %s a.txt",
    "file -b a.bin",
    "tree -L 2 -I 'target|node_modules' src",
    "sort -k2,2n -t, a.csv",
    "sort -u a b",
    "uniq -c a.txt",
    "cut -d, -f1,3 a.csv",
    "du -sh .",
    "rg -n TODO src | head -20",
    "ls src && wc -l src/lib.rs; (pwd)",
    "grep -rn 'a|b' src 2>/dev/null | sort | uniq -c",
    "ls 2>&1 | wc -l",
    "du -d 1 src",
    "df -h",
    "date",
    "date -u +%Y-%m-%d",
    "which cargo rustc",
    "basename /usr/lib/x.so .so",
    "dirname /usr/lib/x.so",
];

const REFUSED: &[&str] = &[
    // More than one simple command, and whatever the shell would expand.
    "",
    "   ",
    "ls && touch x",
    "ls; touch x",
    "ls & touch x",
    "ls | xargs rm",
    "ls || rm x",
    "ls > x",
    "ls 2>x",
    "cat < x",
    "cat <(touch x)",
    "ls\ntouch x",
    "ls\rtouch x",
    "echo $(touch x)",
    "echo `touch x`",
    "echo \"$(touch x)\"",
    "echo \"`touch x`\"",
    "echo $HOME",
    "echo ${v@P}",
    "echo $((a[$(touch x)]))",
    "ls *",
    "ls a?",
    "ls [ab]",
    "ls {a,b}",
    "cat ~/x",
    "cat ~root/x",
    "ls # comment",
    "echo !!",
    "echo \"!x\"",
    "cat a\\ b",
    "ls 'unclosed",
    "ls \"unclosed",
    "cat \u{202e}txt.exe",
    "cat caf\u{e9}",
    "cat 'caf\u{e9}'",
    "ls\u{0}",
    "ls \u{1b}[2J",
    // Not the listed program.
    "A=1 ls",
    "BASH_ENV=x ls",
    "./cat a",
    "/bin/cat a",
    "command ls",
    "env ls",
    "sudo ls",
    "time ls",
    "xargs ls",
    "bash -c ls",
    "LS",
    "git status",
    "git log",
    "git diff",
    "python3 --version",
    "cargo test",
    "make",
    "sed -n 1p a",
    "awk 1 a",
    "tar tf a.tar",
    "diff a b",
    "tee x",
    "touch x",
    "rm x",
    "cd src",
    "true",
    // Flags that write, run, follow or read from elsewhere.
    "find . -exec touch x",
    "find . -execdir touch x",
    "find . -ok touch x",
    "find . -delete",
    "find . -fprint x",
    "find . -fprintf x y",
    "find . -fls x",
    "find -L . -name x",
    "find -H . -name x",
    "find . -follow",
    "find . -newer /etc/passwd",
    "find . -newermt 2020",
    "find . -samefile x",
    "find -files0-from x",
    "sort -o x a",
    "sort a -o x",
    "sort -uo x a",
    "sort --output=x a",
    "sort --outp=x a",
    "sort --compress-program=x a",
    "sort -T x a",
    "sort --files0-from=x",
    "rg --pre x y",
    "rg --pre=x y",
    "rg --hostname-bin=x y",
    "rg -z x",
    "rg --search-zip x",
    "rg -f x",
    "rg -L x",
    "rg --follow x",
    "rg --ignore-file=x y",
    "grep -f x a",
    "grep -rf x a",
    "grep --file=x a",
    "grep --fil=x a",
    "grep -R x .",
    "grep --dereference-recursive x .",
    "tree -o x",
    "tree -l",
    "tree -Lo 2 x",
    "tree -R -H . -o x",
    "tree --fromfile x",
    "uniq a b",
    "date -s 2020-01-01",
    "date --set=x",
    "date 01010000",
    "date -f x",
    "date -r x",
    "file -C",
    "file -m x a",
    "file -f x",
    "file -z x",
    "wc --files0-from=x",
    "du --files0-from=x",
    "du -L .",
    "tail -f a",
    "tail -20f a",
    "tail --follow=name a",
    "cat -",
    "cat -z a",
    "ls --unknown",
    "ls -L link",
    // Paths outside, and credentials.
    "cat /etc/passwd",
    "cat ../x",
    "cat a/../../x",
    "ls ..",
    "ls /",
    "ls --color /etc",
    "cat -- /etc/passwd",
    "head -n 5 /etc/passwd",
    "head -n5 /etc/passwd",
    "grep root /etc/passwd",
    "grep -e root /etc/passwd",
    "grep -eroot /etc/passwd",
    "grep --regexp=root /etc/passwd",
    "grep -A 3 root /etc/passwd",
    "grep --max-count 3 /etc/passwd",
    "rg x /etc",
    "find / -name x",
    "find .. -name x",
    "du -d 1 /",
    "sort -k 2 /etc/passwd",
    "cat ''/etc/passwd",
    "cat '/etc/passwd'",
    "cat .'.'/x",
    "cat .env",
    "cat .env.local",
    "cat config/.ENV",
    "cat .ssh/id_rsa",
    "cat keys/server.pem",
    "cat deploy.KEY",
    "ls .aws",
    "cat .npmrc",
    "cat ''",
];

#[test]
fn the_read_only_list() {
    let wrongly = |commands: &[&'static str], expected: bool| -> Vec<&'static str> {
        let is = |command: &&&str| ReadOnly::parse(command).is_some() != expected;
        commands.iter().filter(is).copied().collect()
    };
    assert_eq!(wrongly(ALLOWED, true), Vec::<&str>::new(), "not allowed");
    assert_eq!(wrongly(REFUSED, false), Vec::<&str>::new(), "not refused");
}

#[test]
fn no_beginning_of_a_command_is_followed_by_anything_but_words() {
    for command in ALLOWED {
        for tail in ["; x", " & x", "|x", "\nx", " >x", " $(x)", " `x`", " <x", "&&x", " \\x", " *"]
        {
            let longer = format!("{command}{tail}");
            assert_eq!(ReadOnly::parse(&longer), None, "{longer:?}");
        }
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_asked() {
    let world = World::new();
    std::fs::write(world.start().join("inside.txt"), "x").unwrap();
    symlink("/etc/passwd", world.start().join("out.txt")).unwrap();
    symlink("inside.txt", world.start().join("in.txt")).unwrap();
    let judged = async |command| judge(&Policy::default(), &world.effect(command).await).answer;
    assert_eq!(judged("cat inside.txt").await, Answer::Allow);
    assert_eq!(judged("cat in.txt").await, Answer::Allow);
    assert_eq!(judged("cat out.txt").await, Answer::Ask);
    assert_eq!(judged("head -n 1 inside.txt out.txt").await, Answer::Ask);
}

#[tokio::test]
async fn a_program_of_the_workspace_never_passes_for_one_of_the_list() {
    let mut world = World::new();
    let planted = world.start().join("bin");
    std::fs::create_dir(&planted).unwrap();
    let program = planted.join("ls");
    std::fs::write(&program, "#!/bin/sh\ntouch pwned\n").unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    world.path = format!("{}:/usr/bin:/bin", planted.display());
    assert_eq!(world.bash("ls bin").await, "ls\n[exit code: 0]");
    assert!(!world.start().join("pwned").exists());
    // Whatever is asked runs with the whole path.
    world.bash("ls bin; true").await;
    assert!(world.start().join("pwned").exists());
}

fn answer(policy: &Policy, command: &str, access: Option<Access>) -> Answer {
    let access = access.map(|access| (access, "because".to_owned()));
    let execute = Execute { command: command.to_owned(), access, ..Execute::default() };
    judge(policy, &Effect::Execute(execute)).answer
}

#[test]
fn the_table_of_commands() {
    use Answer::{Allow, Ask, Deny};
    let modes = [Mode::Read, Mode::Ask, Mode::Auto, Mode::Full];
    let commands_allowed =
        ["cargo test", "rm -rf target"].map(|text| Consent::from(text.to_owned())).to_vec();
    let (network, none) = (Some(Access::Network), None);
    let rows = [
        ("ls -l", none, [Allow, Allow, Allow, Allow]),
        ("cat /etc/passwd", none, [Deny, Ask, Ask, Allow]),
        ("cargo build", none, [Deny, Ask, Ask, Allow]),
        ("cargo test", none, [Deny, Allow, Allow, Allow]),
        ("cargo test ", none, [Deny, Ask, Ask, Allow]),
        ("ls -l", network, [Deny, Ask, Ask, Allow]),
        ("cargo test", network, [Deny, Ask, Ask, Allow]),
        ("rm -rf target", none, [Deny, Allow, Allow, Allow]),
        ("cd sub && rm -r -f ../x", none, [Deny, Ask, Ask, Ask]),
        ("rm -rf ~", none, [Deny, Ask, Ask, Ask]),
        ("sudo rm -rf /", none, [Deny, Ask, Ask, Ask]),
        ("rm -fr \"$HOME\"", none, [Deny, Ask, Ask, Ask]),
        ("rm -r .", none, [Deny, Ask, Ask, Ask]),
        ("git clean -fd", none, [Deny, Ask, Ask, Ask]),
        ("git reset --hard HEAD~1", none, [Deny, Ask, Ask, Ask]),
        ("git push --force-with-lease", none, [Deny, Ask, Ask, Ask]),
        ("dd if=x of=/dev/sda", none, [Deny, Ask, Ask, Ask]),
        ("mkfs.ext4 /dev/sda1", none, [Deny, Ask, Ask, Ask]),
    ];
    for (command, access, expected) in rows {
        let actual = modes.map(|mode| {
            let commands_allowed = commands_allowed.clone();
            answer(&Policy { mode, commands_allowed, ..Policy::default() }, command, access)
        });
        assert_eq!(actual, expected, "{command} {access:?}");
    }
}

#[test]
fn what_is_done_to_whole_folders_by_a_wide_path_is_said_as_it_is() {
    let rows = [
        ("mkdir m3; cp -r node_modules/m m; mv node_modules/m/.g*t m3/.git", "moving"),
        ("mv ~ x", "moving"),
        ("chmod -R u+x ~", "changing the permissions of"),
        ("chown -R a /", "changing the permissions of"),
        ("rm -r ~", "deleting"),
        ("find / -delete", "deleting"),
        ("x=mv; $x -r ~", "deleting"),
    ];
    for (command, does) in rows {
        let execute = Execute { command: command.to_owned(), ..Execute::default() };
        let policy = Policy { mode: Mode::Full, ..Policy::default() };
        let rule = judge(&policy, &Effect::Execute(execute)).rule;
        let expected = format!("{does} whole folders by such a path");
        assert!(rule.contains(&expected), "{command}: {rule}");
    }
}

#[test]
fn commands_that_destroy_are_asked_though_allowed_before() {
    let destroying = [
        "rm -r x",
        "rm -rf x",
        "rm --recursive x",
        "/bin/rm -R x",
        "env A=1 rm -fr x",
        "find . -name x -delete",
        "x; rm -r y",
        "x | xargs rm -r",
        "x && (rm -r y)",
        "(git clean -f)",
        "git checkout -- .",
        "git checkout .",
        "git restore .",
        "git stash drop",
        "git branch -D x",
        "git push -f",
        "git push origin +main",
        "shred x",
        "echo `rm -r x`",
        "\\rm -r x",
        "bash -c 'rm -r x'",
        "find . -name x | xargs rm",
        "find . -exec rm {} +",
        "git -C sub checkout -- .",
        "git checkout a.txt",
        "truncate -s 0 x",
        "chmod -R 777 .",
        "dd if=a of=b",
        "git rm x",
        "timeout 5 git reset --hard",
        "env -i rm -r x",
        "eval 'git clean -f'",
    ];
    let harmless = [
        "rm x",
        "rm -f x",
        "rm -rf target node_modules",
        "git clean -n",
        "git checkout -b x/y.z",
        "echo rm -r x",
        "git checkout main",
        "git restore --staged x",
        "git push",
        "git stash",
        "git branch -d x",
        "git reset x",
        "cargo run --release",
        "dd if=a of=/dev/null",
    ];
    let rows = destroying.map(|command| (command, Answer::Ask)).into_iter();
    for (command, expected) in rows.chain(harmless.map(|command| (command, Answer::Allow))) {
        let commands_allowed = vec![command.to_owned().into()];
        let policy = Policy { commands_allowed, ..Policy::default() };
        assert_eq!(answer(&policy, command, None), expected, "{command}");
    }
}
