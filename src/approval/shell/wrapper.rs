//! Programs that run another command: which one, and whether it runs as it stands.

use super::possible::supposed;
use super::{Simple, Word, Wraps};

/// A program that runs the command in its words.
struct Wrapper {
    name: &'static str,
    /// Letters of flags that take a value.
    valued: &'static str,
    /// Long flags that take the next word for their value.
    long: &'static str,
    /// Letters of flags without a value.
    flags: &'static str,
    /// Words before the command.
    skipped: usize,
    wraps: Wraps,
}

const fn wrapper(
    name: &'static str,
    valued: &'static str,
    long: &'static str,
    flags: &'static str,
    skipped: usize,
    wraps: Wraps,
) -> Wrapper {
    Wrapper { name, valued, long, flags, skipped, wraps }
}

#[rustfmt::skip]
const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", "", "", "", 0, Wraps::Openly),
    wrapper("command", "", "", "p", 0, Wraps::Openly),
    wrapper("ionice", "cnpPu", "--class --classdata", "t", 0, Wraps::Openly),
    wrapper("nice", "n", "--adjustment", "", 0, Wraps::Openly),
    wrapper("nohup", "", "", "", 0, Wraps::Openly),
    wrapper("stdbuf", "ioe", "--input --output --error", "", 0, Wraps::Openly),
    wrapper("time", "", "", "pv", 0, Wraps::Openly),
    wrapper("timeout", "ks", "--kill-after --signal", "fpv", 1, Wraps::Openly),
    wrapper("busybox", "", "", "", 0, Wraps::Otherwise),
    wrapper("caffeinate", "tw", "", "dimsu", 0, Wraps::Otherwise),
    wrapper("chroot", "", "", "", 1, Wraps::Otherwise),
    wrapper("chrt", "TPD", "", "abdfimoprvRe", 1, Wraps::Otherwise),
    wrapper("doas", "uCa", "", "Lns", 0, Wraps::Otherwise),
    wrapper("env", "uCP", "--unset --chdir", "i0v", 0, Wraps::Otherwise),
    wrapper("exec", "a", "", "cl", 0, Wraps::Otherwise),
    wrapper("fakeroot", "lsbi", "", "u", 0, Wraps::Otherwise),
    wrapper("firejail", "", "", "", 0, Wraps::Otherwise),
    wrapper("flock", "wEc", "--wait --timeout --conflict-exit-code", "eFnosux", 1, Wraps::Otherwise),
    wrapper("ltrace", "aeFlnopsuwxDAX", "", "bcCfhiLrStTV", 0, Wraps::Otherwise),
    wrapper("nsenter", "tSG", "--target", "amuinpUCTFrwZ", 0, Wraps::Otherwise),
    wrapper("proxychains", "f", "", "q", 0, Wraps::Otherwise),
    wrapper("rlwrap", "", "", "", 0, Wraps::Otherwise),
    wrapper("runuser", "ugG", "--user --group", "lmp", 0, Wraps::Otherwise),
    wrapper("setarch", "", "", "BFILRSTXZv3h", 0, Wraps::Otherwise),
    wrapper("setpriv", "", "", "", 0, Wraps::Otherwise),
    wrapper("setsid", "", "", "cfw", 0, Wraps::Otherwise),
    wrapper("strace", "abeEIoOpPsSuUX", "", "cCdDfFhiknqrtTvVwxyzZ", 0, Wraps::Otherwise),
    wrapper("sudo", "ugphUCrtTDR", "--user --group --prompt --host --chdir --chroot --other-user", "AbBEeHiKklnPSsVv", 0, Wraps::Otherwise),
    wrapper("systemd-run", "pEGtuM", "--unit --property --setenv --uid --gid", "Pqrd", 0, Wraps::Otherwise),
    wrapper("taskset", "", "", "acp", 1, Wraps::Otherwise),
    wrapper("toybox", "", "", "", 0, Wraps::Otherwise),
    wrapper("unbuffer", "", "", "p", 0, Wraps::Otherwise),
    wrapper("unshare", "RwSG", "", "cfimnpruCTU", 0, Wraps::Otherwise),
    wrapper("parallel", "jINdSa", "--jobs", "0kmqtuvXr", 0, Wraps::Otherwise),
    wrapper("watch", "n", "--interval", "bcdegptxC", 0, Wraps::Otherwise),
    wrapper("xargs", "aEdILnPs", "--arg-file --delimiter --max-args --max-procs --max-lines --replace --max-chars", "0oprtx", 0, Wraps::Otherwise),
];

const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh"];

/// Programs that run what their arguments or files say.
const INTERPRETERS: &[&str] = &[
    "awk",
    "gawk",
    "mawk",
    "bun",
    "deno",
    "emacs",
    "erl",
    "expect",
    "gdb",
    "ghci",
    "groovy",
    "irb",
    "java",
    "jshell",
    "julia",
    "lldb",
    "lua",
    "luajit",
    "make",
    "gmake",
    "nix",
    "nix-shell",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "powershell",
    "psql",
    "pwsh",
    "pypy",
    "pypy3",
    "python",
    "r",
    "rscript",
    "ruby",
    "sed",
    "sqlite3",
    "ssh",
    "swift",
    "tclsh",
    "tsx",
    "ts-node",
    "vi",
    "vim",
    "nvim",
    "eval",
    "source",
    ".",
    "docker",
    "podman",
    "kubectl",
    "find",
    "just",
    "ninja",
    "tar",
    "script",
    "su",
    "trap",
];

/// Builtins to which an argument may be a variable's name, whose index the shell expands.
const NAMING: &[&str] = &[
    "[",
    "declare",
    "export",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// What a command runs besides itself.
pub(super) struct Inner {
    pub(super) wraps: Wraps,
    pub(super) commands: Vec<Vec<Word>>,
    pub(super) scripts: Vec<String>,
    /// Words among which a command may begin, or be written as one of them.
    pub(super) possible: Vec<Word>,
    /// Whether the inner command gets more than its words.
    pub(super) feeds: bool,
    pub(super) is_unclear: bool,
}

/// Whether the program `name` only runs another, a shell included.
pub(crate) fn is_wrapper(name: &str) -> bool {
    is_shell(name) || WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

/// Whether each argument gives the program `name` more to do than the one before.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    let versioned =
        |stem: &str| name.strip_prefix(stem).is_some_and(|rest| !rest.is_empty() && version(rest));
    INTERPRETERS.contains(&name.as_str())
        || ["python", "ruby", "perl", "php", "node", "lua"].into_iter().any(versioned)
}

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Returns what `simple` runs besides itself.
pub(super) fn unwrap(simple: &Simple) -> Inner {
    let (name, words) = (simple.name(), &simple.words);
    let nothing = Inner {
        wraps: Wraps::Nothing,
        commands: Vec::new(),
        scripts: Vec::new(),
        possible: Vec::new(),
        feeds: false,
        is_unclear: false,
    };
    let otherwise = Inner { wraps: Wraps::Otherwise, ..nothing };
    let scripts = |scripts: Vec<String>| Inner {
        wraps: Wraps::Otherwise,
        commands: Vec::new(),
        scripts,
        possible: Vec::new(),
        feeds: false,
        is_unclear: false,
    };
    let rest = words.get(1..).unwrap_or_default();
    match name {
        // It only says what a program is.
        "command" if rest.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) => {
            Inner { wraps: Wraps::Nothing, ..otherwise }
        }
        "eval" => scripts(vec![joined(rest)]),
        // They take apart names such as `a[$(command)]`, quoted or not.
        name if NAMING.contains(&name)
            && rest.iter().any(|word| word.text.contains(['$', '`'])) =>
        {
            let named = rest.iter().filter(|word| word.text.contains(['$', '`']));
            scripts(named.map(|word| format!(": {}", word.text)).collect())
        }
        "trap" => {
            let action = rest.iter().find(|word| word.text != "--");
            scripts(action.map(|word| word.text.clone()).into_iter().collect())
        }
        "watch" => scripts(vec![joined(skip_flags(rest))]),
        "su" | "script" => {
            let joined = rest.iter().filter_map(|word| word.text.strip_prefix("--command="));
            let joined = joined.map(str::to_owned);
            scripts(after_flag(rest, 'c', "--command").into_iter().chain(joined).collect())
        }
        "find" => {
            let commands = found_commands(rest);
            let wraps = if commands.is_empty() { Wraps::Nothing } else { Wraps::Otherwise };
            Inner { wraps, commands, feeds: true, ..otherwise }
        }
        _ if is_shell(name) => {
            let given = after_flag(rest, 'c', "--command");
            // Without a text it runs a file or its input, which is not looked at.
            Inner { is_unclear: given.is_empty(), scripts: given, ..otherwise }
        }
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => wrapped(wrapper, rest),
            None => Inner { wraps: Wraps::Nothing, possible: supposed(name, rest), ..otherwise },
        },
    }
}

/// Returns what `env` is to take apart, if the flag `text` says so.
fn split_string(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("--split-string") {
        return Some(rest.strip_prefix('=').unwrap_or(rest));
    }
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let (before, rest) = letters.split_once('S')?;
    before.chars().all(|letter| matches!(letter, 'i' | '0' | 'v')).then_some(rest)
}

/// Whether a shell reads its script from what another command prints, where `piped` says that it
/// gets that for its input.
pub(super) fn reads_script(simple: &Simple, piped: bool) -> bool {
    let rest = simple.words.get(1..).unwrap_or_default();
    let operand = rest.iter().find(|word| !word.text.starts_with(['-', '+']));
    let printed = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("<(") || matches!(text, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
    };
    match simple.name() {
        "." | "source" => operand.is_some_and(printed),
        name if is_shell(name) => {
            let reads_input = || {
                let from_input = rest.iter().any(|word| matches!(word.text.as_str(), "-s" | "-"));
                piped
                    && after_flag(rest, 'c', "--command").is_empty()
                    && (operand.is_none() || from_input)
            };
            operand.is_some_and(printed) || reads_input()
        }
        _ => false,
    }
}

/// Finds the command among the words of a wrapper.
fn wrapped(wrapper: &Wrapper, words: &[Word]) -> Inner {
    let mut inner = Inner {
        wraps: wrapper.wraps,
        commands: Vec::new(),
        scripts: Vec::new(),
        possible: Vec::new(),
        feeds: matches!(wrapper.name, "xargs" | "parallel"),
        is_unclear: false,
    };
    let (mut at, mut skipped) = (0, wrapper.skipped);
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        let assigns = || text.split_once('=').is_some_and(|(name, _)| is_name(name));
        if text == "--" {
            at += 1;
            continue;
        }
        if let Some(rest) = split_string(text).filter(|_| wrapper.name == "env") {
            let mut script = vec![rest.trim_start_matches('=').to_owned()];
            script.extend(words[at + 1..].iter().map(|word| word.text.clone()));
            inner.scripts.push(script.join(" "));
            return inner;
        }
        if wrapper.name == "env" && text == "-" {
            at += 1;
        } else if let Some(long) = text.strip_prefix("--") {
            let takes_next = wrapper.long.split(' ').any(|listed| listed == text);
            let known = takes_next || long.contains('=');
            inner.is_unclear |= !known && !matches!(wrapper.name, "env" | "sudo" | "timeout");
            at += if takes_next { 2 } else { 1 };
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            // `nice -10`.
            let number = letters.bytes().all(|byte| byte.is_ascii_digit());
            let valued = letters.find(|letter| wrapper.valued.contains(letter));
            let alone = &letters[..valued.unwrap_or(letters.len())];
            let known = number || alone.chars().all(|letter| wrapper.flags.contains(letter));
            inner.is_unclear |= !known;
            at += if valued.is_some_and(|valued| valued + 1 == letters.len()) { 2 } else { 1 };
        } else if matches!(wrapper.name, "env" | "sudo" | "doas") && assigns() {
            at += 1;
        } else if skipped > 0 {
            skipped -= 1;
            at += 1;
        } else {
            break;
        }
    }
    let rest = words.get(at..).unwrap_or_default();
    if let [script, ..] = rest
        && wrapper.name == "parallel"
        && script.text.contains(char::is_whitespace)
    {
        inner.scripts.push(script.text.clone());
    }
    let placed = placed(wrapper, &words[..at.min(words.len())]);
    let fed = |word: &Word| {
        let is_fed = placed.as_ref().is_some_and(|sign| word.text.contains(sign.as_str()));
        if is_fed { Word::any() } else { word.clone() }
    };
    inner.commands.push(rest.iter().map(fed).collect());
    if inner.is_unclear {
        // Any of the words may be the program.
        inner.commands.extend((0..words.len()).map(|at| words[at..].to_vec()));
    }
    inner
}

/// Returns the sign in whose place `wrapper` with the options `words` puts what it reads.
fn placed(wrapper: &Wrapper, words: &[Word]) -> Option<String> {
    match wrapper.name {
        "parallel" => Some("{".to_owned()),
        "xargs" => {
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let next = |at: usize| texts.get(at + 1).map_or("{}", |next| *next).to_owned();
            texts.iter().enumerate().find_map(|(at, text)| {
                if let Some(sign) = text.strip_prefix("--replace") {
                    return Some(sign.strip_prefix('=').unwrap_or("{}").to_owned());
                }
                let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
                if let Some((_, sign)) = letters.split_once('I') {
                    return Some(if sign.is_empty() { next(at) } else { sign.to_owned() });
                }
                let (_, sign) = letters.split_once('i')?;
                Some(if sign.is_empty() { "{}".to_owned() } else { sign.to_owned() })
            })
        }
        _ => None,
    }
}

/// Returns the commands that `find` runs.
fn found_commands(words: &[Word]) -> Vec<Vec<Word>> {
    let runs = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let starts = words.iter().enumerate().filter(|(_, word)| runs(word));
    let command = |(at, _): (usize, &Word)| {
        let rest = words[at + 1..].iter();
        rest.take_while(|word| !matches!(word.text.as_str(), ";" | "+")).cloned().collect()
    };
    starts.map(command).collect()
}

/// Returns the words after a flag: a letter, also among others, or its long form.
fn after_flag(words: &[Word], letter: char, long: &str) -> Vec<String> {
    let is_flag = |word: &Word| {
        let text = word.text.as_str();
        text == long || text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
    };
    let at = words.iter().position(is_flag);
    // Further flags may stand between the flag and its text.
    let rest = at.map_or(&[][..], |at| &words[at + 1..]);
    rest.iter()
        .find(|word| !word.text.starts_with('-'))
        .map(|word| word.text.clone())
        .into_iter()
        .collect()
}

fn skip_flags(words: &[Word]) -> &[Word] {
    let at = words.iter().position(|word| {
        !word.text.starts_with('-')
            && !word.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    &words[at.unwrap_or(words.len())..]
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<&str>>().join(" ")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
