//! The shape of files: length, first line, words.

use expect_test::expect;

use super::{Source, check_rule, check_tree, rust, tree};

/// Lines of code in a file of `src`; unit tests do not count.
const LENGTH: usize = 400;

/// Lines of code in a file of tests or benches.
const TEST_LENGTH: usize = 600;

fn too_long(source: &Source) -> Option<String> {
    let limit = if source.path.starts_with("src/") { LENGTH } else { TEST_LENGTH };
    let n = source.code().count();
    let text = format!("{n} lines of code; {limit} is the limit: split it by meaning");
    (n > limit).then(|| source.complaint(n, &text))
}

/// The first line says what the module is, in one sentence.
fn without_comment(source: &Source) -> Option<String> {
    let first = source.text.lines().next().unwrap_or_default();
    let sentence = first.strip_prefix("//! ").is_some_and(|text| text.ends_with('.'));
    (!sentence).then(|| source.complaint(1, "the first line is `//! ` and one sentence"))
}

/// Only what is the project's own may stand in it: no paths of one machine.
fn foreign_words(source: &Source) -> Vec<String> {
    let words = [concat!("/wo", "rk/"), concat!("/tm", "p/bash_jobs")];
    let lines = source.text.lines().enumerate();
    let found = lines.filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    found.map(|(index, _)| source.complaint(index + 1, "a path of one machine")).collect()
}

fn rust_files() -> Vec<Source> {
    ["src", "tests", "benches"].into_iter().flat_map(rust).collect()
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let files = rust_files();
    check_tree(files.iter().filter_map(too_long).chain(files.iter().filter_map(without_comment)));
}

#[test]
fn the_tree_speaks_of_itself_alone() {
    check_tree(tree("").iter().flat_map(foreign_words));
}

#[test]
fn a_long_or_silent_file_is_seen() {
    let long = Source::new(
        "src/a/b.rs",
        &("let a = 1;\n// no code\n\n".repeat(401) + "#[cfg(test)]\nmod t;"),
    );
    check_rule(
        too_long(&long),
        &expect!["src/a/b.rs:401: 401 lines of code; 400 is the limit: split it by meaning"],
    );
    let test = Source { path: "tests/it/b.rs".to_owned(), ..long };
    check_rule(too_long(&test), &expect![[r""]]);
    check_rule(
        without_comment(&Source::new("src/a.rs", "use b;")),
        &expect!["src/a.rs:1: the first line is `//! ` and one sentence"],
    );
    check_rule(
        without_comment(&Source::new("src/a.rs", "//! No stop\n")),
        &expect!["src/a.rs:1: the first line is `//! ` and one sentence"],
    );
    check_rule(without_comment(&Source::new("src/a.rs", "//! Good.\n")), &expect![[r""]]);
    let word = format!("a\nsee {}x", ["", "work", ""].join("/"));
    check_rule(
        foreign_words(&Source::new("README.md", &word)),
        &expect!["README.md:2: a path of one machine"],
    );
}
