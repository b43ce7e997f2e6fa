//! Which commands may change `.git`: git itself, called so that nothing else speaks through it.

/// Settings that `-c` may give: they start nothing.
const HARMLESS: &[&str] = &[
    "user.name=",
    "user.email=",
    "commit.gpgsign=false",
    "tag.gpgsign=false",
    "init.defaultbranch=",
    "advice.",
    "color.",
    "core.quotepath=",
];

/// Programs that may stand beside git in a command, since they only look or print.
const BESIDE: &[&str] = &["cd", "echo", "pwd", "true", "ls", "cat", "head", "tail", "wc"];

/// What of git works in its own repository, starts nothing but hooks, and writes nothing elsewhere.
const COMMANDS: &[&str] = &[
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "commit-tree",
    "count-objects",
    "describe",
    "diff",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Whether `command` is only git, so that `.git` may be writable for it.
///
/// Parsed strictly: what is not understood is not git.
pub fn is_plain_git(command: &str) -> bool {
    let Some(parts) = simple_commands(command) else { return false };
    let is_git = |words: &Vec<String>| words.first().is_some_and(|word| word == "git");
    parts.iter().any(is_git) && parts.iter().all(|words| is_harmless(words))
}

fn is_harmless(words: &[String]) -> bool {
    match words.split_first() {
        Some((program, _)) if BESIDE.contains(&program.as_str()) => true,
        Some((program, rest)) if program == "git" => git_is_harmless(rest),
        _ => false,
    }
}

/// Looks at the options before git's own command, and at the command.
fn git_is_harmless(words: &[String]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-c" => {
                let Some(setting) = words.next() else { return false };
                let setting = setting.to_lowercase();
                if !HARMLESS.iter().any(|harmless| setting.starts_with(harmless)) {
                    return false;
                }
            }
            "-C" => {
                words.next();
            }
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            command if !COMMANDS.contains(&command) => return false,
            _ => {
                // `rebase --exec`, `bisect run`, `submodule foreach`.
                return !words.any(|word| {
                    ["-x", "run", "foreach"].contains(&word.as_str())
                        || word.starts_with("--exec")
                        || word.starts_with("-O")
                        || word.starts_with("--open-files-in-pager")
                        || word.starts_with("--template")
                        || word.starts_with("--upload-pack")
                        || word.starts_with("--receive-pack")
                });
            }
        }
    }
    false
}

/// Splits `command` at `&&`, `||`, `;`, `|` and line ends into words; `None` where it has
/// anything that this does not understand.
fn simple_commands(command: &str) -> Option<Vec<Vec<String>>> {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut characters = command.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => word.push(characters.next()?),
                        inner => word.push(inner),
                    }
                }
            }
            ' ' | '\t' => parts.last_mut()?.extend(word.take()),
            ';' | '\n' => {
                parts.last_mut()?.extend(word.take());
                parts.push(Vec::new());
            }
            '&' | '|' => {
                let doubled = characters.next_if_eq(&character).is_some();
                if character == '&' && !doubled {
                    return None;
                }
                parts.last_mut()?.extend(word.take());
                parts.push(Vec::new());
            }
            '2' if word.is_none() && characters.peek() == Some(&'>') => {
                // Only `2>&1` and `2>/dev/null`.
                let rest: String = characters.clone().collect();
                let known = [">&1", ">/dev/null"].into_iter().find(|known| {
                    rest.strip_prefix(known).is_some_and(|after| {
                        after.is_empty() || after.starts_with([' ', '\t', ';', '\n', '|', '&'])
                    })
                })?;
                for _ in known.chars() {
                    characters.next();
                }
            }
            '$' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | '\\' | '#' | '!' | '*' | '?' | '['
            | '\r' => {
                return None;
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    parts.last_mut()?.extend(word.take());
    parts.retain(|words| !words.is_empty());
    Some(parts)
}
