//! Commands that destroy what no undo brings back: asked in every mode, whatever the mode allows.
//!
//! Every simple command is looked at, also what wrappers and substitutions run. This decides only
//! whether to ask; it is no boundary.

use std::path::{Path, PathBuf};

use super::policy::Ground;
use super::rules::git_may_take;
use super::shell::{Script, Simple, Word};
use crate::workspace::lexical;

/// Folders that tools make and make again.
const BUILD_FOLDERS: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    "coverage",
    "htmlcov",
    ".nyc_output",
    "CMakeFiles",
    ".eggs",
];

/// Returns what `script` would destroy, in words, if it looks like destroying anything.
pub(super) fn destroys(script: &Script) -> Option<&'static str> {
    let vast = script.is_vast.then_some("a command of more words than can be told");
    let found = script.all().find_map(|simple| destruction(simple).or_else(|| undecided(simple)));
    found.or_else(|| overwritten_device(script)).or(vast)
}

/// Returns what `script` would destroy if that could be a home, a workspace or a machine: no rule
/// answers that.
pub(super) fn beyond_repair(script: &Script, ground: &Ground) -> Option<&'static str> {
    let moves = script.commands.iter().any(|simple| matches!(simple.name(), "cd" | "pushd"));
    script
        .all()
        .find_map(|simple| {
            let targets = targets(simple)?;
            let wide = targets.iter().any(|word| is_wide(word, ground, moves));
            (wide || simple.is_fed && targets.is_empty()).then(|| reach(simple))
        })
        .or_else(|| script.all().find_map(|simple| device(simple.name(), &simple.texts())))
        .or_else(|| overwritten_device(script))
}

/// Whether a redirection writes to a device other than those that keep nothing.
fn overwritten_device(script: &Script) -> Option<&'static str> {
    let harmless =
        ["null", "zero", "full", "tty", "stdout", "stderr", "stdin", "random", "urandom"];
    let keeps = |target: &str| {
        let device = lexical(Path::new(target));
        device.strip_prefix("/dev").is_ok_and(|name| {
            let name = name.to_string_lossy();
            // The shell itself makes connections of these two.
            let other = ["fd/", "shm/", "tcp/", "udp/", "pts/"];
            !harmless.contains(&name.as_ref()) && !other.iter().any(|start| name.starts_with(start))
        })
    };
    let mut written = script.redirects.iter().filter(|redirect| redirect.writes);
    written.any(|redirect| keeps(&redirect.target.text)).then_some("overwriting a device")
}

/// Says what one simple command destroys.
fn destruction(simple: &Simple) -> Option<&'static str> {
    let (name, texts) = (simple.name(), simple.texts());
    let rest = texts.get(1..).unwrap_or_default();
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    let recursive = has_letters(rest, &['r', 'R'], "--recursive");
    match name {
        "rm" | "unlink" if simple.is_fed => Some("deleting what another command names"),
        "rm" if recursive && !only_build_folders(simple) => Some("deleting folders"),
        "rm" if simple.words.iter().any(is_everything) => Some("deleting whatever there is"),
        "rmdir" if has(&["-p", "--parents"]) => Some("deleting folders"),
        "find" if has(&["-delete"]) => Some("deleting what `find` finds"),
        "shred" | "wipefs" | "blkdiscard" => Some("wiping"),
        "truncate" => Some("cutting files short"),
        "chmod" | "chown" | "chgrp" | "setfacl" if recursive => {
            Some("changing the permissions of whole folders")
        }
        "rsync"
            if rest
                .iter()
                .any(|word| word.starts_with("--del") || *word == "--remove-source-files") =>
        {
            Some("deleting what the other side lacks")
        }
        "dd" if rest.iter().any(|word| word.starts_with("of=") && *word != "of=/dev/null") => {
            Some("overwriting with `dd`")
        }
        "crontab" if has(&["-r"]) => Some("deleting the table of jobs"),
        "git" => git(rest),
        _ if name.starts_with("git-") => {
            let command: Vec<&str> =
                std::iter::once(&name[4..]).chain(rest.iter().copied()).collect();
            git(&command)
        }
        _ => elsewhere(name, rest).or_else(|| device(name, &texts)),
    }
}

/// Programs of which a pattern may be the name.
const BY_PATTERN: &[&str] =
    &["chmod", "chown", "dd", "find", "git", "rm", "rmdir", "rsync", "shred", "truncate", "unlink"];

/// Commands of git that destroy by what follows them.
const GIT_BY_OPTION: &[&str] = &[
    "branch",
    "checkout",
    "checkout-index",
    "gc",
    "push",
    "read-tree",
    "reflog",
    "reset",
    "stash",
    "submodule",
    "switch",
    "tag",
    "update-ref",
    "worktree",
];

/// Says what a command may destroy since a word that decides does not stand as it is.
fn undecided(simple: &Simple) -> Option<&'static str> {
    let (program, rest) = simple.words.split_first()?;
    if program.is_pattern() {
        let last = program.last_part();
        return BY_PATTERN.iter().filter(|name| last.may_be(name)).find_map(|name| {
            let mut words = simple.words.clone();
            words[0] = Word::plain(name);
            let named = Simple { words, ..simple.clone() };
            destruction(&named).or_else(|| undecided(&named))
        });
    }
    let options = ["-r", "-R", "-rf", "-fr", "-d", "-f", "-D", "--hard", "--force"];
    let may_be_option = |word: &Word| {
        word.is_open() && word.text.starts_with('-')
            || word.is_pattern() && options.iter().any(|option| word.may_be(option))
    };
    match simple.name() {
        "rm" | "chmod" | "chown" | "chgrp" | "rsync" if rest.iter().any(may_be_option) => {
            Some("deleting or changing with options that cannot be told")
        }
        "git" => {
            let is_taken =
                |at: usize| at > 0 && git_may_take(&rest[at - 1].text) && rest[at].is_one;
            let at = (0..rest.len()).find(|&at| {
                !(rest[at].text.starts_with('-') && !rest[at].is_open() || is_taken(at))
            });
            let is_unknown = match at {
                None => simple.is_fed,
                Some(at) if rest[at].is_open() => true,
                Some(at) => {
                    GIT_BY_OPTION.contains(&rest[at].text.as_str())
                        && (simple.is_fed || rest[at..].iter().any(may_be_option))
                }
            };
            is_unknown.then_some("git with words that cannot be told")
        }
        _ => None,
    }
}

/// Whether a word means each file of a folder.
fn is_everything(word: &Word) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    !word.is_plain && name.contains('*') && name.chars().all(|c| matches!(c, '*' | '.'))
}

/// Deleting what lies on other machines or in databases.
fn elsewhere(name: &str, rest: &[&str]) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().all(|word| rest.contains(word));
    let deletes = match name {
        "dropdb" | "dropuser" => true,
        "terraform" | "tofu" | "pulumi" | "vagrant" => has(&["destroy"]),
        "kubectl" | "oc" | "gcloud" | "az" | "gh" => has(&["delete"]),
        "docker" | "podman" => has(&["prune"]) || has(&["volume", "rm"]),
        "aws" => has(&["s3", "rm"]) || has(&["s3", "rb"]),
        _ => false,
    };
    deletes.then_some("deleting what no undo here brings back")
}

/// Says what a git command destroys.
fn git(words: &[&str]) -> Option<&'static str> {
    let mut words = words;
    // Flags before the command, some with a value, and some of which that is not known.
    while let [first, rest @ ..] = words
        && first.starts_with('-')
    {
        let valued = matches!(*first, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace");
        if !valued
            && git_may_take(first)
            && let Some(found) = rest.get(1..).and_then(git)
        {
            return Some(found);
        }
        words = if valued { rest.get(1..).unwrap_or_default() } else { rest };
    }
    let (command, rest) = words.split_first()?;
    let exactly = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    let has = |flags: &[&str]| rest.iter().any(|word| flags.iter().any(|flag| means(word, flag)));
    let letter = |letter: char| has_letters(rest, &[letter], "");
    let named = rest.iter().filter(|word| !word.starts_with('-')).count();
    let (changes, branch) = (Some("throwing away changes"), Some("deleting a branch"));
    match *command {
        "clean" if !exactly(&["-n", "--dry-run"]) => Some("deleting untracked files"),
        "reset" if has(&["--hard", "--merge", "--keep"]) => changes,
        "checkout" => {
            let makes = exactly(&["-b", "--orphan"]);
            let path = |word: &str| {
                word == "." || word.contains('.') || word.ends_with('/') || word.starts_with(':')
            };
            let forced =
                letter('f') || has(&["--force", "--", "--ours", "--theirs"]) || letter('B');
            let paths = !makes && (named > 1 || rest.iter().any(|word| path(word)));
            (forced || paths).then_some("throwing away changes")
        }
        "switch" if letter('f') || letter('C') || has(&["--force", "--discard-changes"]) => changes,
        "restore" if !exactly(&["--staged", "-S"]) || has(&["--worktree", "-W", "-SW", "-WS"]) => {
            changes
        }
        "checkout-index" if letter('f') || has(&["--force"]) => changes,
        "read-tree" if has(&["--reset"]) => changes,
        "rm" if !exactly(&["--cached"]) => Some("deleting files"),
        "stash" if has(&["drop", "clear"]) => Some("throwing away a stash"),
        "branch" if letter('D') || letter('M') || letter('C') => branch,
        "branch" if has(&["--delete"]) && has(&["--force"]) || letter('f') => branch,
        "tag" if letter('d') || letter('f') || has(&["--delete", "--force"]) => {
            Some("deleting a tag")
        }
        // Ignored files in a folder that is left out go with it.
        "sparse-checkout" if exactly(&["set", "add", "init", "reapply"]) => {
            Some("deleting what a sparse checkout leaves out")
        }
        "worktree" if has(&["remove"]) => Some("deleting a work tree"),
        "submodule" if has(&["deinit"]) => Some("deleting a submodule's files"),
        "update-ref" if letter('d') || has(&["--stdin"]) => Some("deleting a reference"),
        "reflog" if has(&["expire", "delete"]) => Some("throwing away history"),
        "gc" if rest.iter().any(|word| word.starts_with("--prune")) => {
            Some("throwing away history")
        }
        "prune" | "filter-branch" | "filter-repo" => Some("throwing away history"),
        "push" if rest.iter().any(|word| forces(word)) || letter('f') || letter('d') => {
            Some("rewriting what was pushed")
        }
        _ => None,
    }
}

/// Whether `word` is `flag`, also cut short as git and others take it.
fn means(word: &str, flag: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    word == flag || name.len() > 3 && flag.starts_with("--") && flag.starts_with(name)
}

fn forces(word: &str) -> bool {
    let flag = word.starts_with("--force")
        || means(word, "--force")
        || word.starts_with("--prune")
        || matches!(word, "--mirror" | "--delete");
    flag || word.len() > 1 && word.starts_with(['+', ':'])
}

/// Whether a flag of `words` has one of `letters`, also among others, or is `long`.
fn has_letters(words: &[&str], letters: &[char], long: &str) -> bool {
    words.iter().take_while(|word| **word != "--").any(|word| {
        !long.is_empty() && means(word, long)
            || word.starts_with('-') && !word.starts_with("--") && word.contains(letters)
    })
}

/// Whether an `rm` deletes only folders that are made again.
fn only_build_folders(simple: &Simple) -> bool {
    let mut named =
        simple.words.iter().skip(1).filter(|word| !word.text.starts_with('-')).peekable();
    let is_built = |word: &Word| {
        let path = Path::new(word.text.trim_end_matches('/'));
        let name = path.file_name().and_then(|name| name.to_str());
        word.is_plain
            && path.is_relative()
            && !word.text.split('/').any(|part| part == "..")
            && name.is_some_and(|name| {
                BUILD_FOLDERS.contains(&name) || name.starts_with("cmake-build-")
            })
    };
    named.peek().is_some() && named.all(is_built)
}

/// Says what a command of [`targets`] does with such a path.
fn reach(simple: &Simple) -> &'static str {
    match simple.name() {
        "mv" => "moving whole folders by such a path",
        "chmod" | "chown" | "chgrp" => "changing the permissions of whole folders by such a path",
        _ => "deleting whole folders by such a path",
    }
}

/// Returns what a command that deletes or changes whole folders is pointed at.
fn targets(simple: &Simple) -> Option<Vec<&Word>> {
    let texts = simple.texts();
    let rest = texts.get(1..).unwrap_or_default();
    let recursive = has_letters(rest, &['r', 'R'], "--recursive");
    let words = || simple.words.iter().skip(1).filter(|word| !word.text.starts_with('-'));
    match simple.name() {
        "rm" if recursive => Some(words().collect()),
        // It may be `rm`.
        _ if simple.is_expanded() && recursive => Some(words().collect()),
        "chmod" | "chown" | "chgrp" if recursive => Some(words().skip(1).collect()),
        "mv" => Some(
            words()
                .collect::<Vec<&Word>>()
                .split_last()
                .map_or(Vec::new(), |(_, from)| from.to_vec()),
        ),
        "find" if rest.contains(&"-delete") => {
            let places = simple
                .words
                .iter()
                .skip(1)
                .take_while(|word| !word.text.starts_with(['-', '(', '!']));
            Some(places.filter(|word| word.text != ".").collect())
        }
        _ => None,
    }
}

/// Whether a path may be a home, a root or a workspace, or become anything when it is expanded.
fn is_wide(word: &Word, ground: &Ground, moves: bool) -> bool {
    let text = word.text.as_str();
    let Some(expanded) = expanded(word, ground) else { return true };
    let path = Path::new(&expanded);
    // What `*` means in a folder is as much as the folder.
    let (path, all) = match path.file_name() {
        Some(name) if name == "*" || name == ".*" => (path.parent().unwrap_or(path), true),
        _ => (path, false),
    };
    if path.to_string_lossy().contains(['$', '`', '*', '?', '[', '{']) {
        return true;
    }
    let up = text.split('/').any(|part| part == "..");
    if moves && path.is_relative() && (up || all || matches!(text, "." | "./")) {
        return true;
    }
    let full = lexical(&ground.start.join(path));
    let git = |root: &PathBuf| full == root.join(".git");
    let around = |folder: &PathBuf| folder.starts_with(&full);
    let outside =
        !ground.roots.iter().any(|root| full.starts_with(root)) && !full.starts_with("/tmp");
    full == Path::new("/")
        || outside && (path.is_absolute() || up)
        || ground.home.iter().chain(&ground.roots).any(around)
        || ground.roots.iter().any(git)
        || ground.roots.is_empty()
            && (up || matches!(text, "." | "./" | ".git" | ".git/" | "./.git"))
        || around(&ground.start)
}

/// Returns the text of a word with home in its place; `None` if it may be anything.
fn expanded(word: &Word, ground: &Ground) -> Option<String> {
    if word.is_plain {
        return Some(word.text.clone());
    }
    let home = ground.home.as_ref()?.display().to_string();
    let text = word.text.replace("${HOME}", &home).replace("$HOME", &home);
    match text.strip_prefix('~') {
        Some("") => Some(home),
        Some(rest) if rest.starts_with('/') => Some(format!("{home}{rest}")),
        Some(_) => None,
        None => Some(text),
    }
}

/// Overwriting a device, and ending the machine.
fn device(name: &str, words: &[&str]) -> Option<&'static str> {
    let rest = words.get(1..).unwrap_or_default();
    let to_device = |word: &&str| word.starts_with("of=/dev/") && *word != "of=/dev/null";
    match name {
        "dd" if rest.iter().any(to_device) => Some("overwriting a device"),
        _ if name.starts_with("mkfs") || name == "mkswap" => Some("making a file system"),
        "shutdown" | "reboot" | "poweroff" | "halt" if rest.len() <= 2 => {
            Some("ending the machine")
        }
        "systemctl"
            if ["reboot", "poweroff", "halt", "kexec"].iter().any(|word| rest.contains(word)) =>
        {
            Some("ending the machine")
        }
        "init" | "telinit" if matches!(rest, ["0" | "6"]) => Some("ending the machine"),
        "kill" if rest.len() > 1 && rest.last() == Some(&"-1") => Some("ending every process"),
        _ => None,
    }
}
