//! The environment that commands get.

use std::ffi::OsString;

use expect_test::{Expect, expect};

#[track_caller]
fn check(inherited: &[(&str, &str)], named: &[&str], expected: &Expect) {
    let inherited: Vec<(OsString, OsString)> =
        inherited.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
    let fixed = snick::sandbox::environment(&[], &[]);
    let all = snick::sandbox::environment(&inherited, &named);
    let own = all.iter().filter(|pair| !fixed.contains(pair));
    expected.assert_eq(&lines(own));
}

fn lines<'a>(pairs: impl Iterator<Item = &'a (OsString, OsString)>) -> String {
    let line =
        |(name, value): &(OsString, OsString)| format!("{}={}\n", name.display(), value.display());
    pairs.map(line).collect::<Vec<String>>().concat()
}

#[test]
fn what_every_command_gets() {
    let all = snick::sandbox::environment(&[], &[]);
    expect![[r#"
        DEBIAN_FRONTEND=noninteractive
        EDITOR=true
        GCM_INTERACTIVE=never
        GH_PAGER=cat
        GIT_EDITOR=true
        GIT_PAGER=cat
        GIT_TERMINAL_PROMPT=0
        MANPAGER=cat
        NO_COLOR=1
        PAGER=cat
        PATH=/usr/local/bin:/usr/bin:/bin
        SHELL=/bin/sh
        SYSTEMD_PAGER=cat
        TERM=dumb
        VISUAL=true
    "#]]
    .assert_eq(&lines(all.iter()));
}

#[test]
fn toolchains_locale_and_proxies_pass() {
    let names = [
        "HOME",
        "LANG",
        "LC_ALL",
        "XDG_CACHE_HOME",
        "CI",
        "TMPDIR",
        "https_proxy",
        "SSL_CERT_FILE",
        "CARGO_HOME",
        "RUSTUP_TOOLCHAIN",
        "GOPATH",
        "JAVA_HOME",
        "NVM_DIR",
        "PYENV_ROOT",
        "VIRTUAL_ENV",
    ];
    let inherited = names.map(|name| (name, "1"));
    check(
        &inherited,
        &[],
        &expect![[r#"
        CARGO_HOME=1
        CI=1
        GOPATH=1
        HOME=1
        JAVA_HOME=1
        LANG=1
        LC_ALL=1
        NVM_DIR=1
        PYENV_ROOT=1
        RUSTUP_TOOLCHAIN=1
        SSL_CERT_FILE=1
        TMPDIR=1
        VIRTUAL_ENV=1
        XDG_CACHE_HOME=1
        https_proxy=1
    "#]],
    );
}

#[test]
fn keys_and_what_injects_code_do_not_pass() {
    let names = [
        "AGENT_API_KEY",
        "AGENT_MODEL",
        "SNICK_MODE",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "CARGO_REGISTRY_TOKEN",
        "XDG_SECRET",
        "AWS_SECRET_ACCESS_KEY",
        "DATABASE_URL",
        "SSH_AUTH_SOCK",
        "LD_PRELOAD",
        "BASH_ENV",
        "ENV",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "BASH_FUNC_ls%%",
        "IFS",
    ];
    let inherited = names.map(|name| (name, "canary"));
    check(&inherited, &[], &expect![[""]]);
}

#[test]
fn fixed_values_win_unless_the_person_named_the_variable() {
    let inherited = [("PAGER", "less"), ("TERM", "xterm"), ("EDITOR", "vi")];
    check(
        &inherited,
        &["TERM"],
        &expect![[r#"
        TERM=xterm
    "#]],
    );
}

#[test]
fn the_person_can_name_more_but_never_our_own() {
    let inherited = [("GITHUB_TOKEN", "t"), ("AGENT_API_KEY", "k"), ("SNICK_X", "x")];
    check(
        &inherited,
        &["GITHUB_TOKEN", "AGENT_API_KEY", "SNICK_X"],
        &expect![[r#"
        GITHUB_TOKEN=t
    "#]],
    );
}

#[test]
fn relative_folders_leave_the_path() {
    let path = "/usr/bin:node_modules/.bin:.::/opt/x y/bin";
    check(
        &[("PATH", path)],
        &[],
        &expect![[r#"
        PATH=/usr/bin:/opt/x y/bin
    "#]],
    );
}
