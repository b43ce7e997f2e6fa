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

/// Files and folders of a home that start processes or let somebody in, by their way from it.
pub const OF_HOME: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/direnv",
    ".config/emacs",
    ".config/environment.d",
    ".config/fish",
    ".config/gdb",
    ".config/git",
    ".config/hypr",
    ".config/i3",
    ".config/mise",
    ".config/nvim",
    ".config/pip",
    ".config/plasma-workspace",
    ".config/sway",
    ".config/systemd",
    ".config/tmux",
    ".config/zsh",
    ".crontab",
    ".cshrc",
    ".curlrc",
    ".emacs",
    ".emacs.d",
    ".gdbinit",
    ".gitconfig",
    ".gnupg",
    ".inputrc",
    ".kshrc",
    ".local/bin",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/systemd",
    ".login",
    ".npmrc",
    ".oh-my-zsh",
    ".pam_environment",
    ".profile",
    ".ssh",
    ".tcshrc",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".wgetrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bin",
];

/// Whether `path`, or what is in it, starts processes since it is where it is below `home`.
pub fn is_of_home(path: &Path, home: Option<&Path>) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let below = below.map(|below| below.to_string_lossy().to_lowercase());
    below.is_some_and(|below| OF_HOME.iter().any(|name| Path::new(&below).starts_with(name)))
}

/// Whether writing `path` is asked in every mode, also where it is a folder of protected files.
pub fn is_protected(path: &Path) -> bool {
    why(path).is_some() || why(&path.join("any")).is_some()
}

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
