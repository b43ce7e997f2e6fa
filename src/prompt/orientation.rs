//! Ten lines that say where one is, so that no session begins with `ls`; unchanged within a session.

use std::fmt::Write as _;

use crate::workspace::{Place, Workspace};

/// Bytes that the names of the start directory's entries may take: a first request stays small.
const MAX_BYTES: usize = 180;

/// A file that tells what kind of project this is, and what likely runs its tests.
const MANIFESTS: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "Rust", "cargo test"),
    ("package.json", "Node", "npm test"),
    ("pyproject.toml", "Python", "pytest"),
    ("setup.py", "Python", "pytest"),
    ("go.mod", "Go", "go test ./..."),
    ("pom.xml", "Maven", "mvn test"),
    ("build.gradle", "Gradle", "./gradlew test"),
    ("build.gradle.kts", "Gradle", "./gradlew test"),
    ("Gemfile", "Ruby", "bundle exec rake test"),
    ("composer.json", "PHP", "composer test"),
    ("mix.exs", "Elixir", "mix test"),
    ("CMakeLists.txt", "CMake", "ctest"),
    ("Makefile", "Make", "make test"),
    ("test.sh", "shell", "bash test.sh"),
];

/// Describes the workspace: system, date, branch, top-level entries, manifests, tests.
///
/// `date` is a day, such as `2026-11-30`, so that the text holds for a whole session.
pub fn orientation(workspace: &Workspace, date: &str) -> String {
    let entries = workspace.top_level();
    let mut text = String::from("Where you are\n");
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            writeln!(text, "- {name}: {value}").ok();
        }
    };
    line("system", std::env::consts::OS);
    line("date", date);
    line("directory", &workspace.start().display().to_string());
    if workspace.root() != workspace.start() {
        line("repository", &workspace.root().display().to_string());
    }
    line("git branch", &branch(workspace).unwrap_or_default());
    line("entries", &listed(&entries));
    let here = MANIFESTS.iter().filter(|(file, ..)| entries.iter().any(|entry| entry == file));
    let here: Vec<_> = here.collect();
    let kinds: Vec<String> =
        here.iter().map(|(file, kind, _)| format!("{kind} ({file})")).collect();
    line("project", &kinds.join(", "));
    line("tests, likely", here.first().map_or("", |(_, _, command)| command));
    text
}

fn listed(entries: &[String]) -> String {
    let mut bytes = 0;
    let fits = |name: &&String| {
        bytes += name.len() + 1;
        bytes <= MAX_BYTES
    };
    let shown: Vec<&str> = entries.iter().take_while(fits).map(String::as_str).collect();
    let mut text = shown.join(" ");
    if shown.len() < entries.len() {
        write!(text, " and {} more", entries.len() - shown.len()).ok();
    }
    text
}

/// Reads the branch from git's files, since nothing is started before the first request.
fn branch(workspace: &Workspace) -> Option<String> {
    let git = workspace.root().join(".git/HEAD");
    let at = workspace.locate_path(&git).ok()?;
    if at.place() != Place::Workspace {
        return None;
    }
    let image = workspace.read(&at, 4096).ok()?;
    let head = String::from_utf8(image.bytes.to_vec()).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
    Some(name.unwrap_or_else(|| "(detached)".to_owned()))
}
