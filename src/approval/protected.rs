//! Names whose writing is asked in every mode: they start processes or instruct agents later.

use std::path::{Component, Path};

/// Folders in which everything is protected, wherever they stand.
pub const FOLDERS: &[&str] = &[
    ".git",
    ".snick",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".devcontainer",
    ".windsurf",
    ".clinerules",
    ".zed",
];

/// Files that are protected by their name, wherever they stand.
pub const FILES: &[&str] = &[
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "GEMINI.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".mcp.json",
    "mcp.json",
    ".snickignore",
    ".envrc",
    ".git",
    ".gitmodules",
    ".gitattributes",
    ".pre-commit-config.yaml",
];

/// Returns a name as file systems may take it that ignore the case, characters without width,
/// blanks and dots at the end, or know a short name for it.
fn plain(name: &str) -> String {
    let ignored = |c: &char| matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(|c| !ignored(c)).collect();
    let name = name.trim_end_matches([' ', '.']).to_lowercase();
    if name == "git~1" { ".git".to_owned() } else { name }
}

/// Returns why `path` is protected, if it is. Letters' case does not matter, since on some
/// file systems it does not.
pub(super) fn why(path: &Path) -> Option<&'static str> {
    let names: Vec<String> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(plain(&name.to_string_lossy())),
            _ => None,
        })
        .collect();
    let (file, folders) = names.split_last()?;
    let is = |name: &str, listed: &&str| listed.to_lowercase() == name;
    if FILES.iter().any(|listed| is(file, listed)) {
        return Some("it is a protected name, asked in every mode");
    }
    let workflows = folders.windows(2).any(|pair| pair == [".github", "workflows"]);
    let inside = folders.iter().any(|name| FOLDERS.iter().any(|listed| is(name, listed)));
    (inside || workflows).then_some("it is in a protected folder, asked in every mode")
}
