//! Commands that destroy what no undo brings back: asked in every mode, whatever was allowed.
//!
//! The words of a command are looked at, wherever they stand, so that `cd x && rm -rf y` is
//! found. This decides only whether to ask; it is no boundary.

/// Returns what `command` would destroy, in words, if it looks like destroying anything.
pub(super) fn destroys(command: &str) -> Option<&'static str> {
    find(command, destruction)
}

/// Returns what `command` would destroy if that could be a home, a workspace or a machine.
pub(super) fn beyond_repair(command: &str) -> Option<&'static str> {
    find(command, |words| {
        let wide = deletes(words) && words.iter().skip(1).any(|word| is_wide(word));
        if wide { Some("deleting whole folders by such a path") } else { device(words) }
    })
}

/// Applies `judge` to the words from each program of `command` on.
fn find(command: &str, judge: impl Fn(&[&str]) -> Option<&'static str>) -> Option<&'static str> {
    let parts = command.split(['\n', ';', '|', '&', '(', ')', '{', '}', '`']);
    let mut words = parts.map(|part| {
        part.split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '\\']))
            .collect::<Vec<&str>>()
    });
    // Any word may be the program: wrappers such as `sudo`, `env` and `xargs` come before it.
    words.find_map(|words| (0..words.len()).find_map(|at| judge(&words[at..])))
}

fn destruction(words: &[&str]) -> Option<&'static str> {
    let (program, rest) = words.split_first()?;
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    let says = |word: &str| rest.first() == Some(&word);
    let name = program.rsplit('/').next().unwrap_or_default();
    match name {
        "rm" if deletes(words) => Some("deleting folders"),
        "find" if has(&["-delete"]) => Some("deleting what `find` finds"),
        "shred" | "wipefs" => Some("wiping"),
        "git" if says("clean") => Some("deleting untracked files"),
        "git" if says("reset") && has(&["--hard"]) => Some("throwing away changes"),
        "git" if says("checkout") && has(&[".", "--", "-f", "--force"]) => {
            Some("throwing away changes")
        }
        "git" if says("restore") && (!has(&["--staged", "-S"]) || has(&["--worktree", "-W"])) => {
            Some("throwing away changes")
        }
        "git" if says("stash") && has(&["drop", "clear"]) => Some("throwing away a stash"),
        "git" if says("branch") && has(&["-D"]) => Some("deleting a branch"),
        "git" if says("push") && rest.iter().any(|word| forces(word)) => {
            Some("rewriting what was pushed")
        }
        _ => device(words),
    }
}

/// Whether the words are an `rm` that deletes folders.
fn deletes(words: &[&str]) -> bool {
    let recursive = |word: &&str| -> bool {
        *word == "--recursive"
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
    };
    let is_rm = |program: &&str| program.rsplit('/').next() == Some("rm");
    words.first().is_some_and(is_rm) && words.iter().skip(1).any(recursive)
}

/// Whether a path may be a home, a root or a workspace, or become anything when it is expanded.
fn is_wide(word: &str) -> bool {
    let outside = word.starts_with(['/', '~']) && !word.starts_with("/tmp/");
    let anything = word.contains(['$', '*', '?', '[']) || word.split('/').any(|part| part == "..");
    outside || anything || matches!(word, "." | "./" | ".git" | ".git/" | "./.git")
}

fn forces(word: &str) -> bool {
    let flag =
        word == "-f" || word.starts_with("--force") || word == "--mirror" || word == "--delete";
    flag || word.starts_with('+') && word.len() > 1
}

/// Overwriting a device, and ending the machine.
fn device(words: &[&str]) -> Option<&'static str> {
    let (program, rest) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or_default();
    let to_device = |word: &&str| word.starts_with("of=/dev/") && *word != "of=/dev/null";
    match name {
        "dd" if rest.iter().any(to_device) => Some("overwriting a device"),
        _ if name.starts_with("mkfs") => Some("making a file system"),
        "shutdown" | "reboot" | "poweroff" | "halt" if rest.len() <= 2 => {
            Some("ending the machine")
        }
        _ => None,
    }
}
