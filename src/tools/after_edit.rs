//! Commands of the settings that run after a file was written, such as a formatter.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::CommandOptions;
use super::behind;
use super::clean::Cleaner;
use super::clip::{Budget, Ends};
use crate::message::ContentHash;
use crate::sandbox;
use crate::sandbox::{Command, End, Finished, OutputReceiver, Wish};
use crate::workspace::Workspace;
use crate::workspace::walk::Glob;

/// What stands for the file in a command.
const PATH: &str = "{path}";

/// What the model gets of a command that failed.
const BUDGET: Budget = Budget { lines: 20, bytes: 2000, line_characters: 300 };

/// One `[[after_edit]]`: a command for the files that a pattern matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub struct AfterEdit {
    pub command: Template,
    /// Seconds that it may run.
    pub timeout: u64,
    /// Whether it comes from the project, so that a person must have said yes to it.
    pub from_project: bool,
    glob: Glob,
}

/// A command line in which `{path}` stands for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

/// The setting as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    glob: String,
    command: String,
    #[serde(default = "usual_timeout")]
    timeout: u64,
}

fn usual_timeout() -> u64 {
    20
}

impl TryFrom<Written> for AfterEdit {
    type Error = String;

    fn try_from(written: Written) -> Result<AfterEdit, String> {
        let Written { glob, command, timeout } = written;
        let glob = Glob::new(&glob).map_err(|error| error.to_string())?;
        if timeout == 0 {
            return Err("`timeout` is 0; it must be seconds above 0".to_owned());
        }
        Ok(AfterEdit { command: Template::new(&command)?, timeout, from_project: false, glob })
    }
}

impl PartialEq for AfterEdit {
    fn eq(&self, other: &AfterEdit) -> bool {
        let parts = |one: &AfterEdit| (one.command.0.clone(), one.timeout, one.from_project);
        parts(self) == parts(other) && self.glob.pattern() == other.glob.pattern()
    }
}

impl AfterEdit {
    /// Returns it as a setting of the project, which needs a person's yes.
    #[must_use]
    pub fn of_project(self) -> AfterEdit {
        AfterEdit { from_project: true, ..self }
    }

    /// Returns the pattern of its files.
    pub fn glob(&self) -> &str {
        self.glob.pattern()
    }

    /// Whether it runs after an edit of the file at the absolute `path`.
    pub fn is_for(&self, path: &Path, workspace: &Workspace) -> bool {
        let Ok(from_root) = path.strip_prefix(workspace.root()) else { return false };
        self.glob.matches(from_root, path.strip_prefix(workspace.start()).ok())
    }

    /// Returns a hash of all that a yes is given to, the project at `root` included.
    pub fn content(&self, workspace: &Workspace) -> ContentHash {
        let Template(command) = &self.command;
        let timeout = self.timeout.to_string();
        let root = workspace.root().as_os_str().as_bytes();
        let parts = [root, self.glob().as_bytes(), command.as_bytes(), timeout.as_bytes()];
        // No part holds a NUL.
        let mut content = parts.join(&0);
        for (path, hash) in self.scripts(workspace) {
            content.extend(format!("\0{path}\0{hash}").into_bytes());
        }
        ContentHash::of(&content)
    }

    /// Returns the files of the workspace that the command would run, each with the hash of its
    /// bytes: a yes holds only as long as they stay as they are.
    pub fn scripts(&self, workspace: &Workspace) -> Vec<(String, ContentHash)> {
        behind::files(&self.command.0, workspace, &|path| self.is_for(path, workspace))
    }
}

impl Template {
    /// Reads a command line.
    ///
    /// # Errors
    /// Places of `{path}` where the shell would read a file's name as something else than one word.
    pub fn new(text: &str) -> Result<Template, String> {
        if text.trim().is_empty() || text.contains('\0') {
            return Err("`command` is empty or holds a NUL character".to_owned());
        }
        let bare = || format!("write {PATH} bare in `{text}`: it is quoted for the shell already");
        if text.contains(PATH) && ["`", "<<"].iter().any(|odd| text.contains(odd)) {
            return Err(bare());
        }
        let mut quote = None;
        let mut before = ' ';
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            let is_path = text[at..].starts_with(PATH);
            if is_path && (quote.is_some() || before == '$') {
                return Err(bare());
            }
            match (quote, character) {
                (None | Some('"'), '\\') => {
                    let escapes_path = text[at + 1..].starts_with(PATH);
                    if escapes_path {
                        return Err(bare());
                    }
                    characters.next();
                }
                // Bash reads escapes in `$'...'`, so where it ends is another question.
                (None, '\'') if before == '$' && text.contains(PATH) => return Err(bare()),
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), _) if open == character => quote = None,
                _ => {}
            }
            before = character;
        }
        Ok(Template(text.to_owned()))
    }

    /// Returns it as it is written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it writes out what it runs: no pattern, variable or search path of its own tells that.
    pub fn is_spelled_out(&self) -> bool {
        let text = self.0.replace(PATH, "");
        let mut quote = None;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some('\''), '\'') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    characters.next();
                }
                (_, '$' | '`') | (None, '*' | '?' | '[' | '{') => return false,
                (None, '\'' | '"') => quote = Some(character),
                (Some(_), '"') => quote = None,
                _ => {}
            }
        }
        let assigns = |word: &str| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.trim_end_matches('+').chars().all(is_name)
            })
        };
        !text.split_whitespace().any(assigns)
    }

    /// Returns the name of what it runs.
    pub fn program(&self) -> &str {
        self.0.split_whitespace().next().unwrap_or_default()
    }

    /// Returns the command line for the file at the absolute `path`.
    pub fn for_file(&self, path: &Path, workspace: &Workspace) -> String {
        let path = path.strip_prefix(workspace.start()).unwrap_or(path);
        self.0.replace(PATH, &quoted(path))
    }
}

/// Returns `path` as one word of the shell, and no option of a program.
fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let start = if bytes.first() == Some(&b'-') { "./" } else { "" };
    let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,@%".contains(&byte);
    match str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_plain) => format!("{start}{text}"),
        Ok(text) if !text.chars().any(char::is_control) => {
            format!("'{start}{}'", text.replace('\'', r"'\''"))
        }
        Ok(_) | Err(_) => {
            let mut word = format!("$'{start}");
            for &byte in bytes {
                if is_plain(&byte) || byte == b' ' {
                    word.push(char::from(byte));
                } else {
                    // Writing to a string does not fail. Three digits, so that none is added.
                    write!(word, "\\{byte:03o}").ok();
                }
            }
            word + "'"
        }
    }
}

/// What running one came to, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Such as `exit code 0`.
    pub end: String,
    /// What it printed, clipped, if it did not succeed.
    pub output: String,
}

/// Runs a command line in the start directory, confined as `wish` says.
pub async fn run(
    command: &str,
    timeout: u64,
    workspace: &Workspace,
    options: &CommandOptions,
    wish: Option<&Wish>,
    cancel: &CancellationToken,
) -> Ran {
    let timeout = timeout.min(options.max_timeout);
    let command = Command {
        text: command,
        directory: workspace.start(),
        environment: &options.environment,
        roots: &workspace.roots().collect::<Vec<&Path>>(),
        timeout: Some(Duration::from_secs(timeout)),
        most_memory: options.most_memory,
        confined: options.sandbox.as_deref().zip(wish),
    };
    let mut short = Short { cleaner: Cleaner::default(), ends: Ends::new(BUDGET) };
    let finished = match sandbox::run(&command, &mut short, cancel).await {
        Ok(Finished { end, .. }) => end,
        Err(error) => return Ran { end: format!("not run: {error}"), output: String::new() },
    };
    let end = match finished {
        End::Exited(0) => {
            return Ran { end: "exit code 0".to_owned(), output: String::new() };
        }
        End::Exited(code) => format!("exit code {code}"),
        End::Signalled(signal) => format!("killed by signal {signal}"),
        End::TimedOut => format!("timed out after {timeout} s"),
        End::Exceeded(excess) => super::bash::exceeded(excess),
        End::Cancelled => "cancelled by the person".to_owned(),
    };
    Ran { end, output: short.finish() }
}

/// Keeps a little of an output.
struct Short {
    cleaner: Cleaner,
    ends: Ends,
}

impl Short {
    fn finish(mut self) -> String {
        let mut last = String::new();
        self.cleaner.finish(&mut last);
        self.ends.push(&last);
        self.ends.finish("run it with bash to see all of it").trim_end().to_owned()
    }
}

#[async_trait]
impl OutputReceiver for Short {
    async fn receive(&mut self, bytes: &[u8]) {
        let mut clean = String::new();
        self.cleaner.push(bytes, &mut clean);
        self.ends.push(&clean);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_name_is_one_word_whatever_is_in_it() {
        let rows: [(&[u8], &str); 7] = [
            (b"src/a-b_c.rs", "src/a-b_c.rs"),
            (b"a b.rs", "'a b.rs'"),
            (b"it's $(x) `y`.rs", r"'it'\''s $(x) `y`.rs'"),
            (b"-rf", "./-rf"),
            (b"-r f", "'./-r f'"),
            (b"a\nb 1\\.rs", r"$'a\012b 1\134.rs'"),
            (b"a\xff1'", r"$'a\3771\047'"),
        ];
        for (name, word) in rows {
            let path = Path::new(std::ffi::OsStr::from_bytes(name));
            assert_eq!(quoted(path), word, "{path:?}");
        }
    }

    #[test]
    fn the_file_stands_bare_in_a_command() {
        let good = ["rustfmt {path}", "a 'b' \"c\" {path} \\d", "make", "x --file={path} '$' && y"];
        let wrong = [
            "",
            "a '{path}'",
            "a \"{path}\"",
            "a \"x {path} y\"",
            "a `b {path}`",
            "a \\{path}",
            "a ${path}",
            "a $'{path}'",
            "cat <<E\n{path}\nE",
            "a \"\\\"{path}\"",
        ];
        let is_taken = |text: &&str| Template::new(text).is_ok();
        assert_eq!(good.iter().filter(|text| is_taken(text)).count(), good.len());
        assert_eq!(wrong.into_iter().filter(is_taken).collect::<Vec<&str>>(), Vec::<&str>::new());
    }
}
