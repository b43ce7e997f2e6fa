//! To what a yes to a command is bound beyond its words: the files that it would run, or the sandbox.

use super::ReadOnly;
use super::rules::adds_to;
use super::shell::{Script, Simple, is_interpreter, is_shell};
use super::view;
use crate::message::ContentHash;

/// Programs of the machine that run nothing of what a workspace holds, whatever they are given.
const SELF_CONTAINED: &[&str] = &[
    ":",
    "[",
    "basename",
    "cat",
    "cd",
    "chmod",
    "cksum",
    "cmp",
    "comm",
    "cp",
    "curl",
    "cut",
    "date",
    "df",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "expr",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hostname",
    "id",
    "jq",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mktemp",
    "mv",
    "nl",
    "nproc",
    "od",
    "paste",
    "ping",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "rmdir",
    "seq",
    "set",
    "sha1sum",
    "sha256sum",
    "shift",
    "sleep",
    "stat",
    "sum",
    "tac",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "true",
    "tsort",
    "tty",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xxd",
    "xz",
];

/// What in a script may make another program of a name than the machine's.
const MISLEADING: &[&str] = &["PATH", "LD_", "ENV", "alias", "hash", "enable"];

/// What in the names of variables that a command sets may make its programs start others.
const LEADING: &[&str] =
    &["PATH", "LD_", "ENV", "GIT_", "HOME", "XDG_", "PAGER", "EDITOR", "VISUAL", "IFS"];

/// To what a yes is bound beside a command's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    pub to: Bound,
    /// The hash of the files that it would run as far as they are found, with their names.
    pub content: Option<ContentHash>,
}

/// How far a yes may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The words say all that would run.
    #[default]
    Words,
    /// All that would run is in files whose content is known.
    Files,
    /// More runs than is known, and the sandbox confines it.
    Sandbox,
    /// More runs than is known, and nothing confines it: a yes holds once.
    Once,
}

impl Binding {
    /// Whether a yes that was bound to `given` holds for this.
    pub(super) fn is_held_by(&self, given: &Binding) -> bool {
        self == given && self.to != Bound::Once
    }

    /// Returns what is said of it after a rule's words.
    pub fn shown(&self) -> &'static str {
        match self.to {
            Bound::Words | Bound::Once => "",
            Bound::Files => " with its files as they are now",
            Bound::Sandbox => " in the sandbox, with its files as they are now",
        }
    }
}

/// A yes to exactly one command, for the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    pub command: String,
    pub binding: Binding,
}

impl From<String> for Consent {
    /// A yes to the words alone.
    fn from(command: String) -> Consent {
        Consent { command, binding: Binding::default() }
    }
}

/// What a command or a shell script runs, as far as its words tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Programs of the machine that run nothing else.
    Words,
    /// Those, and these files.
    Files(Vec<String>),
    /// Something that is not told by its words: what a test runner or a build finds.
    Unknown,
}

/// Returns what `command`, which a person is asked about, would run.
pub fn runs(command: &str) -> Runs {
    if ReadOnly::parse(command).is_some() {
        return Runs::Words;
    }
    let script = Script::parse(command);
    if !script.values.is_empty() && LEADING.iter().any(|word| command.contains(word)) {
        return Runs::Unknown;
    }
    runs_of(&script)
}

/// Returns what the shell script `text` would run.
pub fn script_runs(text: &str) -> Runs {
    if MISLEADING.iter().any(|word| text.contains(word)) {
        return Runs::Unknown;
    }
    runs_of(&Script::parse(text))
}

/// Whether a shell or an interpreter in `command` may run what a file holds that is no program by
/// itself: `sh < x`, `cat x | sh`, `bash -c "$(cat x)"`.
pub fn runs_data(command: &str) -> bool {
    let script = Script::parse(command);
    let is_fed = |simple: &Simple| {
        let name = simple.name();
        let first = simple.words.get(1);
        let is_given = first.is_some_and(|word| !word.text.starts_with('-') || word.text == "-m");
        name == "eval" || (is_shell(name) || is_interpreter(name)) && !is_given
    };
    script.hides_programs() || script.commands.iter().chain(&script.possible).any(is_fed)
}

/// Whether `command` runs git, which may start what a repository's settings name.
pub fn uses_git(command: &str) -> bool {
    Script::parse(command).all().any(|simple| simple.name() == "git")
}

fn runs_of(script: &Script) -> Runs {
    if script.is_over || script.hides_programs() || !script.possible.is_empty() {
        return Runs::Unknown;
    }
    let mut files = Vec::new();
    for simple in &script.commands {
        match file_of(simple) {
            Some(file) => files.push(file),
            None if is_self_contained(simple) => {}
            None => return Runs::Unknown,
        }
    }
    let moves = || script.commands.iter().any(|simple| matches!(simple.name(), "cd" | "pushd"));
    match files.as_slice() {
        [] => Runs::Words,
        // Where these lie is another question then.
        _ if moves() => Runs::Unknown,
        _ => Runs::Files(files),
    }
}

/// Returns the file that a command runs: its program by a path, or the script of a shell.
fn file_of(simple: &Simple) -> Option<String> {
    let (program, rest) = simple.words.split_first()?;
    if program.text.contains('/') {
        return program.is_plain.then(|| program.text.clone());
    }
    let reads = is_shell(simple.name()) || matches!(simple.name(), "." | "source");
    let script = rest.first().filter(|word| reads && word.is_plain);
    script.map(|word| word.text.clone()).filter(|text| !text.starts_with(['-', '+', '<']))
}

fn is_self_contained(simple: &Simple) -> bool {
    let name = simple.name();
    if name == "git" {
        let odd = |text: &&str| {
            *text == "-c"
                || ["--config-env", "--exec-path", "--git-dir"]
                    .iter()
                    .any(|flag| text.starts_with(flag))
        };
        return view::looks(simple) && !adds_to(simple) && !simple.texts().iter().any(odd);
    }
    !is_interpreter(name) && SELF_CONTAINED.contains(&name)
}
