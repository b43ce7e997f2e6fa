//! What the documents promise about the code.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;

use super::{Source, check_rule, check_tree, root, rust};

/// Lines of a document that is read at each start of work.
const DOCUMENT: usize = 150;

/// The code map has each module with the first line of its comment.
fn unmapped(map: &str, modules: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in modules {
        let Some(module) = source.module() else { continue };
        let first = source.text.lines().next().unwrap_or_default();
        let purpose = first.trim_start_matches("//! ").trim_end_matches('.');
        let row = format!("| `{module}` | {purpose} |");
        if !map.lines().any(|line| line == row) {
            complaints.push(format!("ARCHITECTURE.md lacks this line:\n{row}"));
        }
    }
    complaints
}

fn too_long(source: &Source) -> Option<String> {
    let n = source.text.lines().count();
    let text = format!("{n} lines; below {DOCUMENT} is promised");
    (n >= DOCUMENT).then(|| source.complaint(n, &text))
}

/// Texts that a document must hold, since others rely on them.
fn lacking(source: &Source, texts: &[&str]) -> Vec<String> {
    let missing = texts.iter().filter(|text| !source.text.contains(*text));
    missing.map(|text| source.complaint(1, &format!("`{text}` is missing"))).collect()
}

fn document(path: &str) -> Source {
    let text = std::fs::read_to_string(root().join(path));
    Source { path: path.to_owned(), text: text.unwrap_or_default() }
}

#[test]
fn the_code_map_names_each_module() {
    let modules = rust("src").into_iter();
    let modules =
        modules.filter(|s| s.path.matches('/').count() == 2 && s.path.ends_with("/mod.rs"));
    check_tree(unmapped(&document("ARCHITECTURE.md").text, &modules.collect::<Vec<Source>>()));
}

#[test]
fn documents_stay_short() {
    check_tree(
        ["AGENTS.md", "ARCHITECTURE.md"].into_iter().filter_map(|path| too_long(&document(path))),
    );
}

#[test]
fn documents_say_how_to_run_and_test() {
    let complaints = [
        lacking(&document("README.md"), &["cargo run --release -- demo", "cargo test"]),
        lacking(&document("AGENTS.md"), &["cargo test", ".ci/run"]),
        lacking(&document("CHANGELOG.md"), &["## "]),
        lacking(&document(".ci/run"), &["set -euo pipefail", "cargo test --locked"]),
        lacking(&document("LICENSE"), &["MIT License"]),
    ];
    check_tree(complaints.into_iter().flatten());
    let mode = root().join(".ci/run").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, ".ci/run can be run");
}

#[test]
fn a_gap_in_the_documents_is_seen() {
    let module = |text| Source::new("src/agent/mod.rs", text);
    let map = "| `agent` | The loop |\n";
    check_rule(unmapped(map, &[module("//! The loop.\n")]), &expect![[r""]]);
    check_rule(
        unmapped(map, &[module("//! The loop, again.\n")]),
        &expect![[r"
        ARCHITECTURE.md lacks this line:
        | `agent` | The loop, again |"]],
    );
    check_rule(
        too_long(&Source::new("A.md", &"x\n".repeat(150))),
        &expect!["A.md:150: 150 lines; below 150 is promised"],
    );
    check_rule(
        lacking(&Source::new("A.md", "cargo test"), &["cargo test", "run"]),
        &expect!["A.md:1: `run` is missing"],
    );
}
