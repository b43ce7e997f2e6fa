//! What commands change and read through by their words: what no sandbox holds is judged by these.

use super::shell::{Simple, Word};

/// Programs that change all that they name.
const CHANGERS: &[&str] = &[
    "chgrp", "chmod", "chown", "ed", "ex", "mkdir", "patch", "rm", "rmdir", "setfacl", "shred",
    "tee", "touch", "truncate", "unlink",
];

/// Programs that put something at the last path that they name, or into that folder.
const PLACERS: &[&str] = &["cp", "install", "link", "ln", "mv", "rsync", "scp"];

/// Options of programs before a path that is written.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("cp", &["-t", "--target-directory"]),
    ("curl", &["-o", "--output"]),
    ("install", &["-t", "--target-directory"]),
    ("ln", &["-t", "--target-directory"]),
    ("mv", &["-t", "--target-directory"]),
    ("patch", &["-o", "--output"]),
    ("sort", &["-o", "--output"]),
    ("wget", &["-O", "--output-document"]),
];

/// Commands of git that change what they name.
const GIT_CHANGERS: &[&str] = &["checkout", "mv", "restore", "rm"];

/// Settings of git that start nothing, by their sections and names.
const GIT_HARMLESS: &[&str] = &[
    "advice.",
    "branch.",
    "color.",
    "commit.gpgsign",
    "init.defaultbranch",
    "merge.conflictstyle",
    "pull.",
    "push.",
    "rebase.auto",
    "rerere.",
    "user.",
];

/// Programs that read whatever lies in the folders that they name.
const THROUGH: &[&str] = &["ack", "ag", "rg", "rsync", "tar", "zip"];

/// Returns the paths that a command changes, as far as its words tell.
pub(super) fn changes(simple: &Simple) -> Vec<String> {
    let (name, words) = (simple.name(), simple.words.get(1..).unwrap_or_default());
    let operands = || words.iter().filter(|word| !word.text.starts_with('-'));
    let all = || operands().map(text).collect::<Vec<String>>();
    let mut changed = match name {
        _ if CHANGERS.contains(&name) => all(),
        "sed" | "perl" if in_place(words) => all(),
        "mv" => all(),
        _ if PLACERS.contains(&name) => operands().next_back().map(text).into_iter().collect(),
        "dd" => words
            .iter()
            .filter_map(|word| word.text.strip_prefix("of="))
            .map(str::to_owned)
            .collect(),
        "git" => git(words),
        _ => Vec::new(),
    };
    let options = OUTPUTS.iter().filter(|(program, _)| *program == name);
    for option in options.flat_map(|(_, options)| *options) {
        changed.extend(values_of(words, option));
    }
    changed
}

/// Returns what a command puts somewhere, and where: into it, if that is a folder.
pub(super) fn placed(simple: &Simple) -> Option<(Vec<String>, String)> {
    let words = simple.words.get(1..).unwrap_or_default();
    let name = simple.name();
    if !PLACERS.contains(&name) {
        return None;
    }
    let mut operands: Vec<String> =
        words.iter().filter(|word| !word.text.starts_with('-')).map(text).collect();
    let given =
        ["-t", "--target-directory"].iter().find_map(|option| values_of(words, option).pop());
    let target = given.or_else(|| operands.pop())?;
    Some((operands, target))
}

/// Returns the folders that a command reads through.
pub(super) fn through(simple: &Simple) -> Vec<String> {
    let (name, words) = (simple.name(), simple.words.get(1..).unwrap_or_default());
    let letters = |letters: &[char]| {
        let is_short = |word: &&Word| word.text.starts_with('-') && !word.text.starts_with("--");
        words.iter().filter(is_short).any(|word| word.text.contains(letters))
    };
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.text.as_str()));
    let recursive = |short: &[char]| letters(short) || has(&["--recursive", "--archive"]);
    let is_through = match name {
        "grep" | "egrep" | "fgrep" => {
            letters(&['r', 'R'])
                || has(&["--recursive", "--dereference-recursive", "--directories=recurse"])
        }
        "cp" | "scp" => recursive(&['r', 'R', 'a']),
        "diff" => recursive(&['r']),
        // What it starts reads what it finds.
        "find" => has(&["-exec", "-execdir", "-ok", "-okdir"]),
        _ => THROUGH.contains(&name),
    };
    if !is_through {
        return Vec::new();
    }
    let named = words.iter().filter(|word| !word.text.starts_with('-'));
    // The first word may be a pattern, and without another the folder where it starts is meant.
    let mut folders: Vec<String> = named.map(text).collect();
    let is_alone = folders.len() < 2 && !matches!(name, "cp" | "scp" | "find" | "tar" | "zip");
    if is_alone || folders.is_empty() {
        folders.push(".".to_owned());
    }
    folders
}

fn text(word: &Word) -> String {
    word.text.clone()
}

/// Whether `sed` or `perl` writes to what it reads.
fn in_place(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        word.text.starts_with("--in") || letters.is_some_and(|letters| letters.contains('i'))
    })
}

/// Returns the values of an option, which may be joined to it.
fn values_of(words: &[Word], option: &str) -> Vec<String> {
    let is_long = option.starts_with("--");
    let values = words.iter().enumerate().filter_map(|(at, word)| {
        if word.text == option {
            return words.get(at + 1).map(text);
        }
        let joined = word.text.strip_prefix(option)?;
        if is_long { joined.strip_prefix('=').map(str::to_owned) } else { Some(joined.to_owned()) }
    });
    values.collect()
}

/// Returns what a command of git changes.
fn git(words: &[Word]) -> Vec<String> {
    let at = words.iter().position(|word| word.text == "config");
    if let Some(at) = at
        && words[..at].iter().all(|word| !GIT_CHANGERS.contains(&word.text.as_str()))
    {
        return git_settings(&words[at + 1..]);
    }
    if !words.iter().any(|word| GIT_CHANGERS.contains(&word.text.as_str())) {
        return Vec::new();
    }
    words.iter().filter(|word| !word.text.starts_with('-')).map(text).collect()
}

/// Returns the file that `git config` writes a setting to which may start a program.
fn git_settings(words: &[Word]) -> Vec<String> {
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.text.as_str()));
    if words.iter().any(|word| word.text.starts_with("--get")) || has(&["--list", "-l"]) {
        return Vec::new();
    }
    let file = values_of(words, "--file").into_iter().chain(values_of(words, "-f")).next();
    let mut operands = words
        .iter()
        .filter(|word| !word.text.starts_with('-') && Some(&word.text) != file.as_ref());
    let first = operands.next().map(|word| word.text.to_ascii_lowercase()).unwrap_or_default();
    let second = operands.next().map(|word| word.text.to_ascii_lowercase());
    let (key, writes) = match first.as_str() {
        "get" | "list" => return Vec::new(),
        "set" | "unset" => (second.unwrap_or_default(), true),
        "edit" | "rename-section" | "remove-section" => (String::new(), true),
        _ => {
            let writes = ["--add", "--unset", "--replace", "--rename", "--remove", "--edit"];
            let by_flag = words.iter().any(|word| {
                word.text == "-e" || writes.iter().any(|flag| word.text.starts_with(flag))
            });
            (first, by_flag || second.is_some())
        }
    };
    let is_harmless = GIT_HARMLESS.iter().any(|harmless| key.starts_with(harmless));
    if !writes || is_harmless {
        return Vec::new();
    }
    let of_home = has(&["--global"]).then(|| "~/.gitconfig".to_owned());
    vec![file.or(of_home).unwrap_or_else(|| ".git/config".to_owned())]
}
