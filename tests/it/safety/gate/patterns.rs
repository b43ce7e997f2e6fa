//! What patterns of rules for paths mean, and which are refused since they could never hold.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;

use snick::approval::rules::TOOLS;
use snick::approval::{Answer, Effect, Ground, Origin, Policy, Rules, judge};
use snick::tools;
use snick::workspace::{Options, Workspace};

/// Says what the pattern `glob` holds of a few paths, or why it is refused.
fn meaning(glob: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (home, start) = (root.join("home"), root.join("ws"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&start).unwrap();
    let text = format!("[[deny]]\nread = '{}'\n", glob.replace("ROOT", root.to_str().unwrap()));
    let rules = match Rules::parse(&text, Path::new("r"), Origin::User, Some(&home)) {
        Ok(rules) => Rules::new(rules, &start),
        Err(error) => return error.to_string().replace("the rules file `r` is wrong at ", ""),
    };
    let options = Options { start: start.clone(), home: Some(home.clone()), ..Options::default() };
    let workspace = Workspace::open(options).unwrap();
    let ground = Ground { home: Some(home), roots: vec![start.clone()], start, links: vec![] };
    let policy = Policy { rules: Arc::new(rules), ground, ..Policy::default() };
    let paths = ["a", "a/b", "x/a", "y", "a[t", "$lib/x", "~/x", "../home2"];
    let is_held = |path: &&str| {
        let at = workspace.locate_to_read(path).unwrap();
        judge(&policy, &Effect::Read(vec![at])).answer == Answer::Deny
    };
    paths.into_iter().filter(is_held).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_pattern_means_what_a_person_means_or_is_refused() {
    let globs = [
        "a",
        "./a",
        "a/",
        "/a",
        "a/b",
        "a//b",
        "./a/./b",
        "a/x/../b",
        "x/../y",
        ".",
        "./",
        "././",
        "**",
        "$lib/**",
        "\\$lib/x",
        "~",
        "~/",
        "~/x",
        "~/y/../x",
        "ROOT//ws/./a",
        "a\\[t",
        "[a]",
        "[]a]",
        "/",
        "//",
        "/.",
        "/a/..",
        "..",
        "../a",
        "a/../../b",
        "*/../a",
        "$HOME/x",
        "${HOME}/x",
        "~x/y",
        "[",
        "a[t",
        "[!",
        "[]",
        "a/[b/c",
        " a",
        "a\tb",
        "!a",
        "#a",
        "",
        "{a",
        "a\\",
    ];
    let told: Vec<String> =
        globs.iter().map(|glob| format!("{glob:?}: {}\n", meaning(glob))).collect();
    expect![[r##"
        "a": a a/b x/a
        "./a": a a/b x/a
        "a/": a a/b x/a
        "/a": 
        "a/b": a/b
        "a//b": a/b
        "./a/./b": a/b
        "a/x/../b": a/b
        "x/../y": y
        ".": a a/b x/a y a[t $lib/x
        "./": a a/b x/a y a[t $lib/x
        "././": a a/b x/a y a[t $lib/x
        "**": a a/b x/a y a[t $lib/x
        "$lib/**": $lib/x
        "\\$lib/x": $lib/x
        "~": ~/x
        "~/": ~/x
        "~/x": ~/x
        "~/y/../x": ~/x
        "ROOT//ws/./a": a a/b
        "a\\[t": a[t
        "[a]": a a/b x/a
        "[]a]": a a/b x/a
        "/": line 1: `/` is the whole machine; name a folder, or write `.` for the workspace
        "//": line 1: `//` is the whole machine; name a folder, or write `.` for the workspace
        "/.": line 1: `/.` is the whole machine; name a folder, or write `.` for the workspace
        "/a/..": line 1: `/a/..` is the whole machine; name a folder, or write `.` for the workspace
        "..": line 1: `..` leads out of the workspace; write the path out, beginning with `/` or `~/`
        "../a": line 1: `../a` leads out of the workspace; write the path out, beginning with `/` or `~/`
        "a/../../b": line 1: `a/../../b` leads out of the workspace; write the path out, beginning with `/` or `~/`
        "*/../a": line 1: `*/../a` has a `..` after a sign; write the path without it
        "$HOME/x": line 1: `$HOME/x` would not be expanded; write the path out, or `~/` for your home
        "${HOME}/x": line 1: `${HOME}/x` would not be expanded; write the path out, or `~/` for your home
        "~x/y": line 1: `~x/y` is not expanded; write the home of another out, or `\~`
        "[": line 1: `[` has a `[` without its `]`; write `\[` for the sign itself
        "a[t": line 1: `a[t` has a `[` without its `]`; write `\[` for the sign itself
        "[!": line 1: `[!` has a `[` without its `]`; write `\[` for the sign itself
        "[]": line 1: `[]` has a `[` without its `]`; write `\[` for the sign itself
        "a/[b/c": line 1: `a/[b/c` has a `[` without its `]`; write `\[` for the sign itself
        " a": line 1: ` a` begins with a blank or holds a control character; write the path alone
        "a\tb": line 1: `a	b` begins with a blank or holds a control character; write the path alone
        "!a": line 1: `!a` is no pattern of paths
        "#a": line 1: `#a` is no pattern of paths
        "": line 1: `` is no pattern of paths
        "{a": line 1: error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
        "a\\": line 1: error parsing glob 'a\': dangling '\'
    "##]].assert_eq(&told.concat());
}

#[test]
fn a_rule_names_a_tool_that_there_is_and_a_workspace_by_its_whole_path() {
    let mut names: Vec<String> =
        tools::builtin().unwrap().into_iter().map(|(spec, _)| spec.name).collect();
    names.sort();
    assert_eq!(names, TOOLS);
    let told = ["tool = 'raed_file'", "tool = ''", "command = 'x'\nworkspace = 'y'"].map(|rule| {
        let text = format!("[[deny]]\n{rule}\n");
        Rules::parse(&text, Path::new("r"), Origin::User, None).unwrap_err().to_string()
    });
    expect![[r#"
        the rules file `r` is wrong at line 1: there is no tool `raed_file`; write one of `bash`, `edit_file`, `list_files`, `read_file`, `search`, `symbols`, `write_file`
        the rules file `r` is wrong at line 1: there is no tool ``; write one of `bash`, `edit_file`, `list_files`, `read_file`, `search`, `symbols`, `write_file`
        the rules file `r` is wrong at line 1: `workspace` is `y`; write the absolute path of its root"#]].assert_eq(&told.join("\n"));
}
