//! Words that the shell makes of others: braces, patterns, defaults, what is fed, what is evaluated.

use snick::approval::{Answer, Mode};

use super::check;

const RULES: &str = "[[deny]]\ncommand = 'git commit'\n[[deny]]\ncommand = 'curl'\n";

fn check_unconfined(rules: &str, commands: &[&str], expected: Answer) {
    let rows: Vec<(&str, Answer)> = commands.iter().map(|command| (*command, expected)).collect();
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        check(mode, rules, &rows);
    }
}

#[test]
fn what_braces_and_defaults_spell_out_is_held_against_rules() {
    let denied = [
        "git {commit,--allow-empty} -m x",
        "git {com,}mit -m x",
        "git {c..c}ommit",
        "git com{m..m..2}it",
        "git {-C,sub} {commit,-m,x}",
        "g{it,} commit",
        "{git,commit}",
        "git {c{om,}mit,x}",
        "git {\"commit\",'-m'}",
        "true; (git {commit,x})",
        "bash -c 'git {commit,x}'",
        "env A=1 git {commit,x}",
        "echo $(git {commit,x})",
        "git ${x:-commit} -m x",
        "git ${x-com}mit",
        "git \"${x:=commit}\"",
        "git ${HOME:+commit}",
        "git ${x[0]:-commit}",
        "git ${x:-${y:-commit}}",
        "${x:-git} commit",
        "git com\\\nmit",
        "git $\"commit\"",
        "git $'commit'",
        "git c\"omm\"'it'",
        "git com\\mit",
        "git --super-prefix x commit",
        "git --unheard-of x commit",
        "[[ -v 'a[$(git commit)]' ]]",
        "[[ 'a[$(git commit)]' -eq 1 ]]",
        "(( 'a[$(git commit)]' ))",
        "echo $(( 'a[$(git commit)]' ))",
        "[[ -v \"a[\\$(git commit)]\" ]]",
        "[[ -v $'a[`git commit`]' ]]",
    ];
    check_unconfined(RULES, &denied, Answer::Deny);
}

#[test]
fn words_that_may_be_those_of_a_rule_are_asked() {
    let asked = [
        "git com?t -m x",
        "git [c]ommit",
        "git c*",
        "git $x",
        "git \"$x\"",
        "git -C d $x",
        "git $x -m y",
        "git -C $x y",
        "git co${x}it",
        "git $(echo commit)",
        "git ${x%y}",
        "git ${!x}",
        "f() { git \"$@\"; }; f commit -m x",
        "f() { git \"${@}\"; }; f commit -m x",
        "xargs git <<< 'commit -m x'",
        "echo commit | xargs git",
        "echo commit | xargs -n 1 git -C sub",
        "echo commit | xargs -I{} git {}",
        "echo commit | xargs -IX git X -m x",
        "echo commit | parallel git {1}",
        "env git $x",
    ];
    check_unconfined(RULES, &asked, Answer::Ask);
    // A rule that asks is no different.
    let rules = "[[ask]]\ncommand = 'npm publish'\n";
    let asked = ["npm {publish,x}", "npm pub*", "npm $x", "$x publish", "echo publish | xargs npm"];
    check_unconfined(rules, &asked, Answer::Ask);
}

#[test]
fn what_is_spelled_out_is_known_to_destroy() {
    let asked = [
        "rm {-r,d}",
        "rm -{r,f} d",
        "rm {-{r..r},d}",
        "{rm,-r,d}",
        "rm ${x:--r} d",
        "${x:-rm} -r d",
        "rm$IFS-r${IFS}d",
        "rm -\\\nr d",
        "rm -[r] d",
        "rm [-]r d",
        "rm ?r d",
        "r? -r d",
        "/bin/r[m] -r d",
        "chmod -$x d",
        "git {reset,--hard}",
        "git {push,-f}",
        "git push {-f,origin}",
        "git push origin {+,}main",
        "git res?t --hard",
        "git $x --hard",
        "git \"$@\"",
        "git reset --$x",
        "git --super-prefix x reset --hard",
        "echo reset --hard | xargs git",
        "echo --hard | xargs git reset",
        "[[ -v 'a[$(rm -r d)]' ]]",
        "(( 'a[$(rm -r d)]' ))",
        "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
        "echo x > AGENTS.m{d..d}",
        "echo x > ${x:-AGENTS.md}",
    ];
    check_unconfined("", &asked, Answer::Ask);
}

#[test]
fn what_is_spelled_out_and_harmless_is_not_asked() {
    let harmless = [
        "echo {a,b}",
        "mkdir -p src/{a,b}",
        "touch x{1..3}",
        "touch f{1..100}_{1..100}",
        "ls *.rs",
        "rm *.o",
        "rm \"$x\"",
        "rm x{1,2}",
        "chmod +x *.sh",
        "cp a.{rs,bak}",
        "git add *.rs",
        "git add {a,b}.rs",
        "git add $x",
        "git log --format='%h {x}' -n 3",
        "git diff HEAD~{1,2}",
        "git -C \"$x\" status",
        "git checkout \"$x\"",
        "git push origin \"$x\"",
        "git branch --list 'x*'",
        "git stash list",
        "git log -1 --format=%H $x",
        "git ls-files | xargs grep x",
        "git ls-files | xargs git add",
        "find . -name '*.rs' -exec git add {} +",
        "awk '{ print $1, $2 }' x",
        "for x in {1..3}; do echo \"$x\"; done",
        "[[ $x == 'y' ]] && (( x > 1 ))",
        "[ -f ${x:-y} ] && echo ${x%.*}",
        "cat > x <<X\n{ \"a\": 1, \"b\": {\"c\": [1,2]}, ${x:-git} commit }\nX",
        "curl_x=1; echo $curl_x",
        "git show stash@{0}",
    ];
    check(Mode::Full, RULES, &harmless.map(|command| (command, Answer::Allow)));
}
