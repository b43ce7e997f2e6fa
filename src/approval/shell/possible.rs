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
    "autossh",
    "batch",
    "bind",
    "bpftrace",
    "bwrap",
    "capsh",
    "catatonit",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "chronic",
    "compgen",
    "complete",
    "concurrently",
    "coproc",
    "cpulimit",
    "crontab",
    "cross-env",
    "dbus-launch",
    "dbus-run-session",
    "direnv",
    "distrobox",
    "docker",
    "dtach",
    "dumb-init",
    "eatmydata",
    "entr",
    "env-cmd",
    "envdir",
    "envuidgid",
    "execlineb",
    "fakechroot",
    "faketime",
    "fd",
    "fdfind",
    "flatpak",
    "gdb",
    "gdbserver",
    "gosu",
    "hash",
    "heaptrack",
    "honcho",
    "hyperfine",
    "i386",
    "ifne",
    "kubectl",
    "lckdo",
    "ld.so",
    "linux32",
    "linux64",
    "lldb",
    "logsave",
    "machinectl",
    "mapfile",
    "minijail0",
    "mispipe",
    "mosh",
    "mpiexec",
    "mpirun",
    "nix",
    "nix-shell",
    "nsjail",
    "numactl",
    "pee",
    "perf",
    "pgrphack",
    "pkexec",
    "podman",
    "prlimit",
    "proot",
    "proxychains4",
    "readarray",
    "rootlesskit",
    "rr",
    "rsh",
    "run-parts",
    "runcon",
    "s6-setuidgid",
    "schroot",
    "screen",
    "setlock",
    "setuidgid",
    "sg",
    "singularity",
    "snap",
    "softlimit",
    "srun",
    "ssh",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "su-exec",
    "systemd-inhibit",
    "systemd-nspawn",
    "tar",
    "tini",
    "tmux",
    "toolbox",
    "torify",
    "torsocks",
    "trickle",
    "uclampset",
    "uftrace",
    "uname26",
    "valgrind",
    "vipe",
    "wine",
    "x86_64",
    "xinit",
    "xterm",
    "xvfb-run",
    "zrun",
];

/// Words that make a program run the words after them.
const RUN_WORDS: &[(&str, &str)] = &[
    ("ack", "--pager"),
    ("ag", "--pager"),
    ("conda", "run"),
    ("gcc", "-wrapper"),
    ("go", "--exec"),
    ("go", "--toolexec"),
    ("go", "--vettool"),
    ("go", "-exec"),
    ("go", "-toolexec"),
    ("go", "-vettool"),
    ("hatch", "run"),
    ("install", "--strip-program"),
    ("make", "SHELL"),
    ("mamba", "run"),
    ("man", "--pager"),
    ("man", "-P"),
    ("micromamba", "run"),
    ("mise", "exec"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pixi", "run"),
    ("rg", "--hostname-bin"),
    ("rg", "--pre"),
    ("rye", "run"),
    ("scp", "-D"),
    ("scp", "-S"),
    ("sftp", "-D"),
    ("sftp", "-S"),
    ("sort", "--compress-program"),
    ("svn", "--diff-cmd"),
    ("svn", "--diff3-cmd"),
    ("svn", "--editor-cmd"),
    ("tcpdump", "--postrotate-command"),
    ("tcpdump", "-z"),
    ("wget", "--use-askpass"),
];

/// Flags of git whose value is a program.
const GIT_PROGRAMS: &[&str] = &[
    "--access-hook",
    "--browser",
    "--cc-cmd",
    "--editor",
    "--exec",
    "--exec-path",
    "--extcmd",
    "--header-cmd",
    "--httpd",
    "--receive-pack",
    "--sendmail-cmd",
    "--smtp-server",
    "--to-cmd",
    "--upload-pack",
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
            let pager = pager.or_else(|| word.text.strip_prefix("-O"));
            pager.or_else(|| word.text.strip_prefix("ext::")).map(Word::plain)
        });
        let clones = words.iter().any(|word| word.text == "clone");
        let programs = words.iter().enumerate().filter_map(|(at, word)| {
            let listed = GIT_PROGRAMS.iter().any(|flag| is_flag(&word.text, flag));
            let short = word.text.strip_prefix("-u").filter(|_| clones);
            let value = word.text.split_once('=').map(|(_, value)| value);
            let next = words.get(at + 1).map(|next| next.text.as_str());
            let given = if listed { value.or(next) } else { short.filter(|rest| !rest.is_empty()) };
            let given = given.or_else(|| next.filter(|_| short == Some("")));
            given.map(Word::plain)
        });
        let settings = settings.chain(pagers).chain(programs);
        let run = from(&|text| {
            matches!(text, "foreach" | "run" | "filter-branch" | "remote-ext" | "merge-index")
                || text.starts_with("-x")
                || text.starts_with("--exec")
        });
        // The value may be joined to its letter.
        let joined = run.first().and_then(|word| word.text.strip_prefix("-x")).map(Word::plain);
        return apart(settings.chain(joined).chain(run.iter().cloned()).collect());
    }
    let runs = RUNNERS.contains(&name)
        || name.starts_with("ld-linux")
        || name.starts_with("ld-musl")
        || starts_packages(&texts)
        || RUN_WORDS.iter().any(|(program, word)| {
            *program == name && texts.iter().any(|text| is_flag(text, word))
        })
        || name.starts_with("qemu-");
    if runs { apart(words.to_vec()) } else { Vec::new() }
}

/// Whether a word is this flag or word, with a value joined to it or cut short as programs take it.
fn is_flag(text: &str, flag: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    let is_letter = flag.len() == 2 && flag.starts_with('-');
    name == flag
        || is_letter && text.starts_with(flag)
        || name.len() > 3 && flag.starts_with("--") && flag.starts_with(name)
}

/// Adds the values of `--flag=value` as words of their own, since they may be a command.
fn apart(words: Vec<Word>) -> Vec<Word> {
    let values = words.iter().filter_map(|word| {
        let (flag, value) = word.text.split_once('=')?;
        flag.starts_with('-').then(|| Word::plain(value.trim_start_matches("exec=")))
    });
    // So may what is joined to a letter: `-Sprogram`.
    let joined = words.iter().filter_map(|word| {
        let rest = word.text.strip_prefix('-')?;
        let at = rest.char_indices().nth(1)?.0;
        (!rest.starts_with('-')).then(|| Word::plain(&rest[at..]))
    });
    let values: Vec<Word> = values.chain(joined).collect();
    words.into_iter().chain(values).collect()
}
