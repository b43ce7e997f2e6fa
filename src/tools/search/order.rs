//! Which files matter more: where what is looked for is defined, then source, tests, texts.

use crate::index::text::FileHit;

/// What a file is for, as far as its path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Source,
    Test,
    Text,
    /// Made by a program, or one of many translations: rarely what is looked for.
    Made,
}

/// Names of files that programs write.
const MADE_NAMES: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "poetry.lock",
    "pipfile.lock",
    "uv.lock",
    "gemfile.lock",
    "composer.lock",
    "go.sum",
    "flake.lock",
    "mix.lock",
    "packages.lock.json",
    "pubspec.lock",
    "podfile.lock",
    "npm-shrinkwrap.json",
];
/// How the names of such files end.
const MADE_ENDS: &[&str] = &[
    ".min.js",
    ".min.css",
    ".bundle.js",
    ".map",
    ".po",
    ".pot",
    ".mo",
    ".xlf",
    ".xliff",
    ".svg",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
    ".designer.cs",
    ".snap",
    ".lock",
    ".generated.ts",
    ".generated.go",
    "_generated.rs",
    "_generated.go",
];
/// Folders of such files.
const MADE_FOLDERS: &[&str] =
    &["node_modules", "vendor", "locale", "locales", "translations", "i18n", "generated", "dist"];
const TEST_FOLDERS: &[&str] = &["test", "tests", "spec", "specs", "__tests__", "testdata"];
const TEXT_FOLDERS: &[&str] = &["doc", "docs"];
const TEXT_ENDS: &[&str] =
    &[".md", ".rst", ".txt", ".adoc", ".html", ".json", ".yaml", ".yml", ".toml", ".xml", ".csv"];

/// Words that stand before the name of what they define.
const DEFINING: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "union",
    "mod",
    "macro_rules!",
    "static",
    "const",
    "class",
    "def",
    "func",
    "function",
    "interface",
    "module",
    "namespace",
    "record",
    "object",
    "protocol",
    "fun",
    "sub",
    "let",
    "var",
    "val",
    "#define",
    "typedef",
    "extension",
    "actor",
];

impl Purpose {
    /// Tells by its path what a file is for.
    pub(super) fn of(path: &[u8]) -> Purpose {
        let path = String::from_utf8_lossy(path).to_lowercase();
        let mut folders: Vec<&str> = path.split('/').collect();
        let name = folders.pop().unwrap_or_default();
        let has = |names: &[&str]| folders.iter().any(|folder| names.contains(folder));
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if MADE_NAMES.contains(&name) || ends(MADE_ENDS) || has(MADE_FOLDERS) {
            return Purpose::Made;
        }
        let stem = name.split('.').next().unwrap_or_default();
        let is_test = stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_spec")
            || name.contains(".test.")
            || name.contains(".spec.");
        if is_test || has(TEST_FOLDERS) {
            Purpose::Test
        } else if ends(TEXT_ENDS) || has(TEXT_FOLDERS) {
            Purpose::Text
        } else {
            Purpose::Source
        }
    }
}

/// Whether some kept line defines what matches in it.
pub(super) fn defines(hit: &FileHit) -> bool {
    hit.lines().any(|line| line.spans.iter().any(|(_, end)| is_defined(line.bytes, *end)))
}

/// Whether the name that ends at or goes beyond `end` is being defined there.
fn is_defined(line: &[u8], end: usize) -> bool {
    // What matches may itself hold the word that defines, as in `fn parse`.
    let text = line.get(..end).unwrap_or_default();
    let before = String::from_utf8_lossy(text);
    let name_start =
        before.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    if name_start.len() == before.len() {
        return false;
    }
    let mut words = name_start.split_whitespace();
    // A Go method has its receiver between the word and its name.
    let last = match words.next_back() {
        Some(word) if word.ends_with(')') && name_start.trim_start().starts_with("func") => {
            Some("func")
        }
        last => last,
    };
    name_start.ends_with(char::is_whitespace) && last.is_some_and(|word| DEFINING.contains(&word))
}
