//! Programs that run commands among their words, in ways that are not taken apart.
//!
//! What may be a command among the words counts for what is denied or destroys, and for nothing else.

use super::{Simple, Word, is_interpreter};

/// Programs that fetch and run packages, with the words that make them do so; none means always.
const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("pnpx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("pipx", &[]),
    ("npm", &["exec", "x", "init", "create", "install", "i", "ci", "add"]),
    ("pnpm", &["exec", "dlx", "create", "install", "i", "add"]),
    ("yarn", &["exec", "dlx", "create", "install", "add"]),
    ("uv", &["run", "tool", "pip", "add", "sync"]),
    ("poetry", &["run", "install", "add"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("cargo", &["run", "r", "install"]),
    ("go", &["run", "generate", "install", "get"]),
    ("gem", &["install", "exec"]),
    ("bundle", &["exec", "install"]),
];

/// Programs that run a command among their words, in ways that are not taken apart here.
const RUNNERS: &[&str] = &[
    "aa-exec",
    "alias",
    "apptainer",
    "at",
    "bind",
    "bwrap",
    "capsh",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "compgen",
    "complete",
    "coproc",
    "cpulimit",
    "dbus-run-session",
    "direnv",
    "distrobox",
    "docker",
    "dumb-init",
    "entr",
    "envdir",
    "fd",
    "fdfind",
    "flatpak",
    "gdb",
    "gosu",
    "hash",
    "heaptrack",
    "hyperfine",
    "i386",
    "kubectl",
    "ld.so",
    "linux32",
    "linux64",
    "lldb",
    "machinectl",
    "mapfile",
    "nix",
    "nix-shell",
    "numactl",
    "perf",
    "pkexec",
    "podman",
    "prlimit",
    "proxychains4",
    "readarray",
    "rr",
    "screen",
    "setuidgid",
    "singularity",
    "snap",
    "softlimit",
    "ssh",
    "start-stop-daemon",
    "su-exec",
    "systemd-inhibit",
    "tar",
    "tini",
    "tmux",
    "toolbox",
    "torify",
    "torsocks",
    "uname26",
    "valgrind",
    "x86_64",
    "xvfb-run",
];

/// Words that make a program run the words after them.
const RUN_WORDS: &[(&str, &str)] = &[
    ("conda", "run"),
    ("hatch", "run"),
    ("make", "SHELL"),
    ("mamba", "run"),
    ("micromamba", "run"),
    ("mise", "exec"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pixi", "run"),
    ("rg", "--pre"),
    ("rye", "run"),
];

/// Programs besides interpreters that run code or commands from their words or their input.
const WITH_CODE: &[&str] = &[
    "bc",
    "clisp",
    "clojure",
    "cmake",
    "csi",
    "dc",
    "ed",
    "elixir",
    "elvish",
    "emacsclient",
    "ex",
    "gnuplot",
    "guile",
    "gvim",
    "iex",
    "kotlin",
    "m4",
    "mysql",
    "nc",
    "ncat",
    "nodemon",
    "nu",
    "ocaml",
    "octave",
    "racket",
    "rake",
    "rsync",
    "runghc",
    "runhaskell",
    "sbcl",
    "scala",
    "socat",
    "split",
    "view",
    "watchexec",
    "wish",
    "xonsh",
    "zip",
];

/// Whether a command runs code or commands that stand in its words. What `find` runs is taken apart.
pub(crate) fn runs_code(simple: &Simple) -> bool {
    let name = simple.name();
    name != "find" && (is_interpreter(name) || WITH_CODE.contains(&name) || RUNNERS.contains(&name))
}

/// Whether a command that runs code may read it from its input.
pub(crate) fn reads_code(simple: &Simple) -> bool {
    let from_file = |word: &Word| word.text.starts_with("-f") || word.text.starts_with("--file");
    match simple.name() {
        // Their input is what they work on.
        "sed" | "awk" | "gawk" | "mawk" | "tar" => simple.words.iter().any(from_file),
        _ => runs_code(simple),
    }
}

/// Whether a command fetches or runs packages of others.
pub(crate) fn starts_packages(words: &[&str]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let starts = |(runner, triggers): &(&str, &[&str])| {
        runner == name && (triggers.is_empty() || rest.iter().any(|word| triggers.contains(word)))
    };
    PACKAGE_RUNNERS.iter().any(starts)
}

/// Returns the words of a program that may run some of them.
pub(super) fn supposed(name: &str, words: &[Word]) -> Vec<Word> {
    let texts: Vec<&str> =
        std::iter::once(name).chain(words.iter().map(|word| word.text.as_str())).collect();
    let from = |found: &dyn Fn(&str) -> bool| {
        let at = words.iter().position(|word| found(&word.text));
        at.map_or(Vec::new(), |at| words[at..].to_vec())
    };
    if name == "git" {
        let settings = words.windows(2).filter(|pair| pair[0].text == "-c");
        let settings = settings.filter_map(|pair| pair[1].text.split_once('='));
        let settings = settings.map(|(name, value)| match value.strip_prefix('!') {
            Some(value) => Word::plain(value),
            None if name.starts_with("alias.") => Word::plain(&format!("git {value}")),
            None => Word::plain(value),
        });
        let pagers = words.iter().filter_map(|word| {
            let pager = word.text.strip_prefix("--open-files-in-pager=");
            pager.or_else(|| word.text.strip_prefix("-O")).map(Word::plain)
        });
        let settings = settings.chain(pagers);
        let run = from(&|text| {
            matches!(text, "foreach" | "run" | "-x" | "filter-branch") || text.starts_with("--exec")
        });
        return apart(settings.chain(run).collect());
    }
    let runs = RUNNERS.contains(&name)
        || name.starts_with("ld-linux")
        || name.starts_with("ld-musl")
        || starts_packages(&texts)
        || RUN_WORDS.iter().any(|(program, word)| {
            *program == name && texts.iter().any(|text| text.split('=').next() == Some(*word))
        });
    if runs { apart(words.to_vec()) } else { Vec::new() }
}

/// Adds the values of `--flag=value` as words of their own, since they may be a command.
fn apart(words: Vec<Word>) -> Vec<Word> {
    let values = words.iter().filter_map(|word| {
        let (flag, value) = word.text.split_once('=')?;
        flag.starts_with('-').then(|| Word::plain(value.trim_start_matches("exec=")))
    });
    let values: Vec<Word> = values.collect();
    words.into_iter().chain(values).collect()
}
