//! What only one module may do, and exceptions from lints.

use expect_test::expect;

use super::{Source, check_rule, check_tree, rust};

/// A text, the folders of `src` where alone it may stand, and why.
const ONLY_IN: &[(&str, &[&str], &str)] = &[
    ("Decided::new", &["approval"], "only `approval` makes a grant of a write"),
    (
        "disallowed_methods",
        &["config", "sandbox"],
        "only `config` reads the environment, only `sandbox` spawns",
    ),
    ("env::var", &["config"], "only `config` reads the environment"),
    ("env::args", &["config", "cli"], "only `cli` reads the command line"),
    ("Command::new", &["sandbox"], "only `sandbox` starts processes"),
    ("print_std", &["frontend"], "only `frontend` writes to the terminal"),
    (
        "io::stdout",
        &["frontend", "app"],
        "only `app` opens the streams, for `frontend` to write to",
    ),
    (
        "io::stderr",
        &["frontend", "app"],
        "only `app` opens the streams, for `frontend` to write to",
    ),
    ("println!", &["frontend"], "only `frontend` writes to the terminal"),
    ("unsafe_code", &["sandbox", "index"], "only `sandbox` and the map of `index` are unsafe"),
    ("unsafe {", &["sandbox", "index"], "only `sandbox` and the map of `index` are unsafe"),
];

fn out_of_place(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in source.code() {
        for (text, modules, why) in ONLY_IN {
            let here = source.module().is_some_and(|module| modules.contains(&module));
            if !here && line.contains(text) {
                complaints.push(source.complaint(number, why));
            }
        }
    }
    complaints
}

/// An exception from a lint is expected, so that a stale one is reported, and has a reason.
fn bad_exceptions(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        if ["#[allow(", "#![allow("].iter().any(|start| line.starts_with(start)) {
            complaints.push(source.complaint(index + 1, "write `expect` with a reason"));
        }
    }
    for start in ["#[expect(", "#![expect("] {
        for (at, _) in source.text.match_indices(start) {
            let body = source.text[at..].split(")]").next().unwrap_or_default();
            if !body.contains("reason = \"") {
                let number = source.text[..at].lines().count() + 1;
                complaints.push(source.complaint(number, "an expected lint needs a reason"));
            }
        }
    }
    complaints
}

/// The two lints that helper functions of tests need off, and this file with its examples.
fn excepted(source: &Source) -> bool {
    ["tests/it/main.rs", "tests/it/tidy/lints.rs"].contains(&source.path.as_str())
}

#[test]
fn what_one_module_does_no_other_does() {
    check_tree(rust("src").iter().flat_map(out_of_place));
}

#[test]
fn exceptions_from_lints_have_reasons() {
    let files = ["src", "tests", "benches"].into_iter().flat_map(rust);
    check_tree(files.filter(|source| !excepted(source)).flat_map(|s| bad_exceptions(&s)));
}

#[test]
fn a_deed_out_of_place_is_seen() {
    let text = "\
let decided = Decided::new(change);
let home = std::env::var_os(\"HOME\");
#[expect(clippy::disallowed_methods, reason = \"x\")]
let child = Command::new(\"ls\");
writeln!(std::io::stdout(), \"x\");
let x = unsafe { *p };
";
    check_rule(
        out_of_place(&Source::new("src/agent/x.rs", text)),
        &expect![[r#"
            src/agent/x.rs:1: only `approval` makes a grant of a write
            src/agent/x.rs:2: only `config` reads the environment
            src/agent/x.rs:3: only `config` reads the environment, only `sandbox` spawns
            src/agent/x.rs:4: only `sandbox` starts processes
            src/agent/x.rs:5: only `app` opens the streams, for `frontend` to write to
            src/agent/x.rs:6: only `sandbox` and the map of `index` are unsafe"#]],
    );
    check_rule(
        out_of_place(&Source::new("src/sandbox/x.rs", text)),
        &expect![[r#"
            src/sandbox/x.rs:1: only `approval` makes a grant of a write
            src/sandbox/x.rs:2: only `config` reads the environment
            src/sandbox/x.rs:5: only `app` opens the streams, for `frontend` to write to"#]],
    );
}

#[test]
fn an_exception_without_a_reason_is_seen() {
    let text = "#[allow(dead_code)]\nfn a() {}\n#[expect(\n    dead_code\n)]\nfn b() {}\n\
                #[expect(dead_code, reason = \"b\")]\n";
    check_rule(
        bad_exceptions(&Source::new("src/a.rs", text)),
        &expect![[r"
        src/a.rs:1: write `expect` with a reason
        src/a.rs:3: an expected lint needs a reason"]],
    );
}
