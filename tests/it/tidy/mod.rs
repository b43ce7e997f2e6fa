//! Rules of the code that the compiler cannot check.
//!
//! Each rule is a function from text to complaints, so that a test can show it failing.

mod demo;
mod dependencies;
mod documents;
mod layers;
mod lints;
mod schemas;
mod shape;

use std::fs;
use std::path::{Path, PathBuf};

/// One text file of the tree, by its path from the root of the repository.
#[derive(Clone, Debug)]
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns the lines of code before the unit tests, with their numbers, without comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let before_tests = lines.take_while(|(_, line)| *line != "#[cfg(test)]");
        before_tests.filter(|(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with("//")
        })
    }

    /// Returns the module of the crate it belongs to; none for `lib.rs`, `main.rs` and tests.
    fn module(&self) -> Option<&str> {
        let (module, _) = self.path.strip_prefix("src/")?.split_once('/')?;
        Some(module)
    }

    fn complaint(&self, line: usize, text: &str) -> String {
        format!("{}:{line}: {text}", self.path)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every text file of the tree below `folder`, sorted; builds and git's own excepted.
fn tree(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut open: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name();
            if name == "target" || name == ".git" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                sources.push(Source { path, text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// Returns the Rust files below `folder`.
fn rust(folder: &str) -> Vec<Source> {
    let is_rust = |source: &Source| Path::new(&source.path).extension().is_some_and(|e| e == "rs");
    tree(folder).into_iter().filter(is_rust).collect()
}

/// Fails with every complaint of the tree.
#[track_caller]
fn check_tree(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Shows what a rule says of a text that breaks it.
#[track_caller]
fn check_rule(complaints: impl IntoIterator<Item = String>, expected: &expect_test::Expect) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    expected.assert_eq(&complaints.join("\n"));
}
