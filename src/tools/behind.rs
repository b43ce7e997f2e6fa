//! The files of the workspace that a command would run: a yes to it is one to them.
//!
//! Found by names: what the command writes out, what the programs it starts run by themselves (git
//! what its settings name), and what shell scripts among these name in turn. What only shows while it runs is not found.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::approval;
use crate::approval::{Binding, Bound, Named, Runs};
use crate::message::ContentHash;
use crate::sandbox::GitStarts;
use crate::workspace::{FileImage, Place, Workspace};

/// Files up to this size are part of what a yes is about.
const LARGEST: u64 = 4 << 20;

/// How many files are looked at, and through how many scripts.
const MOST_FILES: usize = 64;
const MOST_DEPTH: usize = 4;

/// How many words are looked up of a file that a program runs by itself.
const MOST_WORDS: usize = 512;

/// Ends of the names of scripts.
const SCRIPTS: &[&str] = &[
    "sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "lua", "php", "awk", "sed",
    "mk",
];

/// Files that programs run by themselves, in the folder where they are started.
const RUN_BY: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["rake"], &["Rakefile", "rakefile"]),
    (&["npm", "pnpm", "yarn", "bun", "npx", "bunx"], &["package.json"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["composer"], &["composer.json"]),
    (&["cargo"], &["Cargo.toml", ".cargo/config.toml", "build.rs"]),
    (&["gradle", "gradlew"], &["build.gradle", "build.gradle.kts", "settings.gradle"]),
    (&["mvn"], &["pom.xml"]),
    (&["tox"], &["tox.ini"]),
    (&["pytest"], &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["nox"], &["noxfile.py"]),
    (&["invoke", "inv"], &["tasks.py"]),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["lefthook"], &["lefthook.yml"]),
    (
        &["eslint"],
        &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.ts",
            ".eslintrc.js",
            ".eslintrc.cjs",
        ],
    ),
    (
        &["prettier"],
        &["prettier.config.js", "prettier.config.mjs", "prettier.config.ts", ".prettierrc.js"],
    ),
];

/// What is behind a command.
#[derive(Default)]
struct Behind {
    /// The files by their names, with the hashes of their bytes.
    files: BTreeMap<String, ContentHash>,
    /// Whether more may run than these.
    is_open: bool,
}

/// Returns to what a yes to `command` is bound; `is_confined` says whether a sandbox holds it.
pub fn binding(command: &str, workspace: &Workspace, is_confined: bool) -> Binding {
    let is_told = approval::runs(command) == Runs::Words;
    if is_told && !approval::uses_git(command) {
        return Binding::default();
    }
    // Git is bound to what its settings start also where they start nothing yet.
    let Behind { files, is_open } = look(command, workspace, is_told, &|_| false);
    let mut content = Vec::new();
    for (path, hash) in files {
        // No path holds a NUL.
        content.extend(format!("{path}\0{hash}\0").into_bytes());
    }
    let to = match (is_open, is_confined) {
        (false, _) => Bound::Files,
        (true, true) => Bound::Sandbox,
        (true, false) => Bound::Once,
    };
    Binding { to, content: Some(ContentHash::of(&content)) }
}

/// Returns the files behind `command`, as they are found, each with the hash of its bytes.
///
/// A file that is only an operand counts if it is a program, unless `is_edited` says that the
/// command runs because of such files.
pub(super) fn files(
    command: &str,
    workspace: &Workspace,
    is_edited: &dyn Fn(&Path) -> bool,
) -> Vec<(String, ContentHash)> {
    look(command, workspace, false, is_edited).files.into_iter().collect()
}

/// Looks for the files; of a command of which `is_told` says that its words run none of them, only
/// for those that git starts.
fn look(
    command: &str,
    workspace: &Workspace,
    is_told: bool,
    is_edited: &dyn Fn(&Path) -> bool,
) -> Behind {
    let mut behind = Behind::default();
    let mut pending = VecDeque::from([(command.to_owned(), workspace.start().to_owned(), 0)]);
    while let Some((text, home, depth)) = pending.pop_front() {
        behind.is_open |= is_open(&text, depth, workspace);
        let named = Named::parse(&text);
        let runs_data = approval::runs_data(&text);
        let mut folders = vec![workspace.start().to_owned(), home];
        folders.extend(named.folders.iter().map(|folder| workspace.start().join(folder)));
        let into = |word: &&String| workspace.start().join(word.as_str()).is_dir();
        folders.extend(named.words.iter().filter(into).map(|word| workspace.start().join(word)));
        folders.dedup();
        if approval::uses_git(&text) {
            for starts in folders.iter().filter_map(|folder| GitStarts::of(folder)) {
                let shown = starts.git.strip_prefix(workspace.root()).unwrap_or(&starts.git);
                let shown = shown.join("config").to_string_lossy().into_owned();
                let hash = ContentHash::of(starts.settings.as_bytes());
                if behind.files.insert(shown, hash).is_some() || depth == MOST_DEPTH {
                    continue;
                }
                // Git starts them at the top of the work tree.
                let tree = starts.git.parent().unwrap_or(workspace.start()).to_owned();
                let commands = starts.commands.into_iter();
                pending.extend(commands.map(|text| (text, tree.clone(), depth + 1)));
            }
        }
        if depth == 0 && is_told {
            continue;
        }
        let ran = named.scripts.iter().cloned().chain(run_by_programs(&text));
        let ran = ran.chain(joined(&text));
        let ran = ran.map(|word| (word, true));
        let others = named.words.iter().chain(&named.reads).map(|word| (word.clone(), runs_data));
        let mut words: VecDeque<(String, bool)> =
            ran.chain(others).chain(assigned(&text).map(|word| (word, runs_data))).collect();
        while let Some((word, is_run)) = words.pop_front() {
            for folder in &folders {
                if behind.files.len() == MOST_FILES {
                    return Behind { is_open: true, ..behind };
                }
                let Some((path, image)) = read(workspace, &folder.join(&word)) else { continue };
                let shown = path.strip_prefix(workspace.root()).unwrap_or(&path);
                let shown = shown.to_string_lossy().into_owned();
                let is_data = || is_edited(&path) || !is_program(&path, &image);
                if is_run && is_run_by_programs(&path) && !behind.files.contains_key(&shown) {
                    words.extend(mentioned(&image.bytes).map(|word| (word, false)));
                }
                if behind.files.contains_key(&shown) || (!is_run && is_data()) {
                    continue;
                }
                if depth < MOST_DEPTH && is_shell_script(&path, &image.bytes) {
                    let text = String::from_utf8_lossy(&image.bytes).into_owned();
                    let home = path.parent().unwrap_or(workspace.start()).to_owned();
                    pending.push_back((text, home, depth + 1));
                }
                behind.files.insert(shown, image.hash);
            }
        }
    }
    behind
}

/// Whether the text of a command, or of a script `depth` scripts within others, may run more than
/// the files that are found by it.
fn is_open(text: &str, depth: usize, workspace: &Workspace) -> bool {
    let runs = if depth == 0 { approval::runs(text) } else { approval::script_runs(text) };
    let is_told = |word: &String| {
        let Some((path, image)) = read(workspace, &workspace.start().join(word)) else {
            return false;
        };
        // The scripts of other languages take in what lies beside them.
        let is_followed = depth < MOST_DEPTH && is_shell_script(&path, &image.bytes);
        is_followed || image.bytes.starts_with(b"\x7fELF")
    };
    match runs {
        Runs::Words => false,
        Runs::Files(files) => !files.iter().all(is_told),
        Runs::Unknown => true,
    }
}

/// Returns what may be a file's name in options that are written together with it (`-fx.mk`,
/// `--file=x.mk`).
fn joined(text: &str) -> impl Iterator<Item = String> {
    let options = text.split_whitespace().filter(|word| word.starts_with('-'));
    let short = |word: &str| (!word.starts_with("--")).then(|| word.chars().skip(2).collect());
    let long = |word: &str| word.split_once('=').map(|(_, name)| name.to_owned());
    let names = options.flat_map(move |word| short(word).into_iter().chain(long(word)));
    names.filter(|name: &String| !name.is_empty())
}

/// Returns what may be a file's name in what `text` sets variables to (`BASH_ENV=x`).
fn assigned(text: &str) -> impl Iterator<Item = String> {
    let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
    let values = pairs.filter(|(name, _)| !name.starts_with('-')).map(|(_, value)| value);
    values.map(|value| value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

/// Whether a program runs the file by itself.
fn is_run_by_programs(path: &Path) -> bool {
    RUN_BY.iter().flat_map(|(_, files)| *files).any(|file| path.ends_with(file))
}

/// Returns what may be names of files in one that a program runs by itself, such as what a recipe
/// of a makefile starts.
fn mentioned(bytes: &[u8]) -> impl Iterator<Item = String> + use<> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let words = text.split(|c: char| c.is_whitespace() || "\"'`=:,;()[]{}|&<>@".contains(c));
    let words = words.filter(|word| word.contains(['.', '/']));
    words.take(MOST_WORDS).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Returns the files that the programs in `text` run by themselves.
fn run_by_programs(text: &str) -> impl Iterator<Item = String> + use<> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ";|&()".contains(c)).collect();
    let names =
        |word: &&str| Path::new(word).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let programs: Vec<String> = words.iter().filter_map(names).collect();
    let listed = RUN_BY.iter().filter(move |(names, _)| {
        names.iter().any(|name| programs.iter().any(|program| program == name))
    });
    // `python -m name` runs a module.
    let modules = words.windows(2).filter(|pair| pair[0] == "-m").flat_map(|pair| {
        let path = pair[1].replace('.', "/");
        [format!("{path}.py"), format!("{path}/__main__.py"), format!("{path}/__init__.py")]
    });
    let modules: Vec<String> = modules.collect();
    listed.flat_map(|(_, files)| files.iter().map(|file| (*file).to_owned())).chain(modules)
}

/// Reads the file at `path`, if it is one of the workspace.
fn read(workspace: &Workspace, path: &Path) -> Option<(PathBuf, FileImage)> {
    let at = workspace.locate_path(path).ok().filter(|at| at.place() == Place::Workspace)?;
    let image = workspace.read(&at, LARGEST).ok()?;
    Some((at.path().to_owned(), image))
}

/// Whether something would run the file: other operands may be what the command itself makes.
fn is_program(path: &Path, image: &FileImage) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    end.is_some_and(|end| SCRIPTS.contains(&end))
        || image.mode & 0o111 != 0
        || image.bytes.starts_with(b"#!")
}

fn is_shell_script(path: &Path, bytes: &[u8]) -> bool {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Some(line) = first.strip_prefix(b"#!") else {
        return path.extension().is_some_and(|end| end == "sh" || end == "bash");
    };
    // Flags may follow.
    let mut words = line.split(u8::is_ascii_whitespace);
    words.any(|word| word == b"sh" || word.ends_with(b"/sh") || word.ends_with(b"bash"))
}
