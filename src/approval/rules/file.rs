//! The file that rules are kept in, read whole and changed in place.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Answer, Origin, Paths, Rule, Rules, Subject};
use crate::approval::shell::Script;
use crate::approval::{Binding, Bound};
use crate::message::ContentHash;

/// Why a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("the rules file `{path}` cannot be read")]
    Read { path: String, source: std::io::Error },
    #[error("the rules file `{path}` is wrong: {source}")]
    Parse { path: String, source: Box<toml::de::Error> },
    #[error("the rules file `{path}` is wrong at line {line}: {what}")]
    Rule { path: String, line: usize, what: String },
    #[error("the rules file `{path}` cannot be changed: {source}")]
    Edit { path: String, source: Box<toml_edit::TomlError> },
    #[error("there is no rule `{rule}`; `snick rules list` shows them")]
    Missing { rule: String },
}

/// The tools that rules may name: those of `tools/*.json`.
pub const TOOLS: &[&str] =
    &["bash", "edit_file", "list_files", "read_file", "search", "symbols", "write_file"];

/// A file of rules.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    allow: Vec<Spanned<Written>>,
    ask: Vec<Spanned<Written>>,
    deny: Vec<Spanned<Written>>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    command: Option<Words>,
    #[serde(default)]
    exact: bool,
    read: Option<String>,
    write: Option<String>,
    tool: Option<String>,
    workspace: Option<PathBuf>,
    /// The hash of the files that the command runs.
    content: Option<String>,
    /// Whether the rule holds in the sandbox alone.
    #[serde(default)]
    sandboxed: bool,
    /// For whoever reads the file.
    #[serde(rename = "added")]
    _added: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    List(Vec<String>),
}

impl Rules {
    /// Reads the rules in `text`, the content of the file `path`.
    ///
    /// # Errors
    /// Anything that is not understood, with its line: fewer rules than were written are never used.
    pub fn parse(
        text: &str,
        path: &Path,
        origin: Origin,
        home: Option<&Path>,
    ) -> Result<Vec<Rule>, RulesError> {
        let shown = || path.display().to_string();
        let file: File = toml::from_str(text)
            .map_err(|source| RulesError::Parse { path: shown(), source: Box::new(source) })?;
        let File { allow, ask, deny } = file;
        let lists = [(Answer::Allow, allow), (Answer::Ask, ask), (Answer::Deny, deny)];
        let mut rules = Vec::new();
        for (answer, list) in lists {
            for (index, written) in list.into_iter().enumerate() {
                let line = text[..written.span().start].matches('\n').count() + 1;
                let rule = rule(answer, written.into_inner(), origin, home)
                    .map_err(|what| RulesError::Rule { path: shown(), line, what })?;
                rules.push(Rule { index, ..rule });
            }
        }
        Ok(rules)
    }
}

fn rule(
    answer: Answer,
    written: Written,
    origin: Origin,
    home: Option<&Path>,
) -> Result<Rule, String> {
    let Written { command, exact, read, write, tool, workspace, content, sandboxed, .. } = written;
    if let Some(at) = workspace.as_ref().filter(|at| at.is_relative()) {
        let at = at.display();
        return Err(format!("`workspace` is `{at}`; write the absolute path of its root"));
    }
    let binding = binding(content, sandboxed)?;
    if binding != Binding::default() && (answer != Answer::Allow || !exact || command.is_none()) {
        let text = "`content` and `sandboxed` belong to an `allow` of a command that is `exact`";
        return Err(text.to_owned());
    }
    let subject = match (command, read, write, tool) {
        (Some(words), None, None, None) => Subject::Command { words: words_of(words)?, exact },
        (None, Some(glob), None, None) => Subject::Read(Paths::new(&glob, home)?),
        (None, None, Some(glob), None) => Subject::Write(Paths::new(&glob, home)?),
        (None, None, None, Some(name)) if answer == Answer::Allow && name == "bash" => {
            return Err("`bash` is not allowed as a whole; name commands".to_owned());
        }
        (None, None, None, Some(name)) if !TOOLS.contains(&name.as_str()) => {
            let tools = TOOLS.join("`, `");
            return Err(format!("there is no tool `{name}`; write one of `{tools}`"));
        }
        (None, None, None, Some(name)) => Subject::Tool(name),
        _ => return Err("a rule has one of `command`, `read`, `write` and `tool`".to_owned()),
    };
    Ok(Rule { answer, subject, workspace, origin, binding, index: 0 })
}

/// Reads to what a rule is bound.
fn binding(content: Option<String>, sandboxed: bool) -> Result<Binding, String> {
    let content = content.map(|hash| {
        ContentHash::try_from(hash).map_err(|_| "`content` is no hash of files".to_owned())
    });
    let content = content.transpose()?;
    let to = match (sandboxed, content) {
        (true, _) => Bound::Sandbox,
        (false, Some(_)) => Bound::Files,
        (false, None) => Bound::Words,
    };
    Ok(Binding { to, content })
}

/// Reads the words of a command: a list, or a line that is one plain command.
fn words_of(words: Words) -> Result<Vec<String>, String> {
    let words = match words {
        Words::List(words) => words,
        Words::Line(line) => {
            let script = Script::parse(&line);
            match script.commands.as_slice() {
                [simple] if script.is_clear() && script.redirects.is_empty() => {
                    simple.words.iter().map(|word| word.text.clone()).collect()
                }
                _ => {
                    let text = format!(
                        "`{line}` is not one plain command; write its words as a list: \
                         [\"program\", \"argument\"]"
                    );
                    return Err(text);
                }
            }
        }
    };
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("a command has at least its program".to_owned()),
    }
}

/// Returns the file's `text` with the rule that `words` are allowed, exactly, in `workspace`, as far
/// as `binding` says.
///
/// Everything else stays as it was written.
pub fn added(
    text: &str,
    path: &Path,
    words: &[String],
    binding: &Binding,
    workspace: &Path,
    date: &str,
) -> Result<String, RulesError> {
    let mut document = document(text, path)?;
    let mut table = Table::new();
    table["command"] = value(words.iter().map(String::as_str).collect::<Array>());
    table["exact"] = value(true);
    table["workspace"] = value(workspace.display().to_string());
    if let Some(content) = binding.content {
        table["content"] = value(content.to_string());
    }
    if binding.to == Bound::Sandbox {
        table["sandboxed"] = value(true);
    }
    table["added"] = value(date);
    let list = document.entry("allow").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    match list {
        Item::ArrayOfTables(list) => list.push(table),
        other => {
            if let Some(array) = other.as_array_mut() {
                array.push(table.into_inline_table());
            }
        }
    }
    Ok(document.to_string())
}

/// Returns the file's `text` without the `index`-th rule of `answer`.
pub fn removed(
    text: &str,
    path: &Path,
    answer: Answer,
    index: usize,
) -> Result<String, RulesError> {
    let mut document = document(text, path)?;
    let missing = || RulesError::Missing { rule: format!("{} {index}", answer.name()) };
    match document.get_mut(answer.name()) {
        Some(Item::ArrayOfTables(list)) if index < list.len() => {
            list.remove(index);
        }
        Some(other) => {
            let array = other.as_array_mut().filter(|array| index < array.len());
            array.ok_or_else(missing)?.remove(index);
        }
        None => return Err(missing()),
    }
    Ok(document.to_string())
}

fn document(text: &str, path: &Path) -> Result<DocumentMut, RulesError> {
    text.parse().map_err(|source| RulesError::Edit {
        path: path.display().to_string(),
        source: Box::new(source),
    })
}
