//! Names whose writing is asked in every mode: they start processes or instruct agents later.

use std::collections::HashSet;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Folders in which everything is protected, wherever they stand.
pub const FOLDERS: &[&str] = &[
    ".git",
    ".snick",
    ".vscode",
    ".idea",
    ".fleet",
    ".zed",
    ".vs",
    ".run",
    ".idx",
    ".devcontainer",
    ".husky",
    ".githooks",
    ".lefthook",
    ".lefthook-local",
    ".cargo",
    ".mise",
    ".mise-tasks",
    ".claude",
    ".claude-plugin",
    ".cursor",
    ".codex",
    ".gemini",
    ".qwen",
    ".windsurf",
    ".clinerules",
    ".roo",
    ".kilocode",
    ".kiro",
    ".junie",
    ".aiassistant",
    ".amazonq",
    ".opencode",
    ".continue",
    ".agents",
    ".agent",
    ".augment",
    ".trae",
    ".factory",
    ".crush",
    ".openhands",
    ".goose",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".builds",
];

/// Files that are protected by their name, wherever they stand: they instruct agents, or programs
/// start what they name as soon as somebody works beside them.
pub const FILES: &[&str] = &[
    "AGENTS.md",
    "AGENTS.override.md",
    "AGENT.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    "CRUSH.md",
    "WARP.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".roorules",
    ".roomodes",
    ".continuerules",
    ".continuerc.json",
    ".rules",
    ".goosehints",
    ".aider.conf.yml",
    ".augment-guidelines",
    "opencode.json",
    "opencode.jsonc",
    "crush.json",
    ".crush.json",
    ".mcp.json",
    "mcp.json",
    ".snickignore",
    ".git",
    ".gitmodules",
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".overcommit.yml",
    ".simple-git-hooks.json",
    ".simple-git-hooks.js",
    ".simple-git-hooks.cjs",
    "simple-git-hooks.json",
    "simple-git-hooks.js",
    "simple-git-hooks.cjs",
    ".huskyrc",
    ".huskyrc.json",
    ".huskyrc.js",
    ".huskyrc.yml",
    ".huskyrc.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lefthook-local.yml",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".cirrus.yml",
    ".build.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".envrc",
    ".envrc.local",
    "mise.toml",
    "mise.local.toml",
    ".mise.toml",
    ".mise.local.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".bazelrc",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    ".devcontainer.json",
    ".gitpod.yml",
    ".replit",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lvimrc",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".ghci",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
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

/// Names that are protected in a folder of the name before.
pub const WITHIN: &[(&str, &str)] = &[
    (".github", "workflows"),
    (".github", "actions"),
    (".github", "instructions"),
    (".github", "prompts"),
    (".github", "agents"),
    (".github", "chatmodes"),
    (".gitlab", "ci.yml"),
    (".forgejo", "workflows"),
    (".gitea", "workflows"),
    (".hg", "hgrc"),
    (".hg", "hgrc-not-shared"),
    (".hg", "sharedpath"),
    (".sl", "config"),
    (".sl", "sharedpath"),
    (".jj", "workspace-config.toml"),
    (".pijul", "config"),
    (".config", "mise"),
    (".config", "mise.toml"),
    (".mvn", "jvm.config"),
    (".mvn", "maven.config"),
    (".mvn", "extensions.xml"),
    (".bundle", "config"),
    (".codesandbox", "tasks.json"),
    (".helix", "languages.toml"),
    (".helix", "config.toml"),
];

/// Names that are protected in a folder of the name before, in one of the name before that.
pub const DEEPER: &[(&str, &str, &str)] = &[
    (".jj", "repo", "config.toml"),
    ("_darcs", "prefs", "defaults"),
    ("_darcs", "prefs", "prefs"),
];

/// Endings of protected names: workspaces with the settings and tasks of an editor.
const ENDINGS: &[&str] = &[".code-workspace"];

/// What git looks for to tell whether a folder is a repository. Elsewhere a command may make it.
const REPOSITORY: &str = "head";

/// All protected names, in small letters.
static NAMES: LazyLock<HashSet<String>> =
    LazyLock::new(|| FOLDERS.iter().chain(FILES).map(|name| name.to_lowercase()).collect());

/// Whether `name` is protected in a folder called `folder`, which lies in one called `above`, as a file
/// or as a folder.
pub fn is_protected_name(name: &str, folder: Option<&str>, above: Option<&str>) -> bool {
    is_listed(&plain(name), folder.map(plain).as_deref(), above.map(plain).as_deref())
}

fn is_listed(name: &str, folder: Option<&str>, above: Option<&str>) -> bool {
    NAMES.contains(name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || WITHIN.iter().any(|pair| folder == Some(pair.0) && name == pair.1)
        || DEEPER
            .iter()
            .any(|(outer, inner, own)| (above, folder, name) == (Some(*outer), Some(*inner), *own))
}

/// Whether writing `path` is asked in every mode, also where it is a folder.
pub fn is_protected(path: &Path) -> bool {
    why(path).is_some()
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
    let (last, folders) = names.split_last()?;
    let before = |at: usize, by: usize| at.checked_sub(by).map(|at| names[at].as_str());
    let listed = |name: &str, at: usize| is_listed(name, before(at, 1), before(at, 2));
    if listed(last, folders.len()) {
        return Some("it is a protected name, asked in every mode");
    }
    if last == REPOSITORY {
        return Some("git takes a folder with such a file for a repository, asked in every mode");
    }
    let inside = folders.iter().enumerate().any(|(at, name)| listed(name, at));
    inside.then_some("it is in a protected folder, asked in every mode")
}
