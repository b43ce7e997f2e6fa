//! What an input means: a prompt, the person's own shell command, or a command of Snick's.

use std::str::FromStr as _;

use super::editor::Written;
use crate::approval::Mode;

/// A command's word, what it takes, and its line of help.
pub(super) struct Entry {
    pub name: &'static str,
    pub argument: &'static str,
    pub help: &'static str,
}

const fn entry(name: &'static str, argument: &'static str, help: &'static str) -> Entry {
    Entry { name, argument, help }
}

/// Every command, as the help and the completion list them.
pub(super) const COMMANDS: &[Entry] = &[
    entry("help", "", "commands and keys"),
    entry("model", "[NAME]", "choose a model, or use the one named"),
    entry("mode", "[MODE]", "show or set the mode: read, ask, auto, full"),
    entry("new", "", "start a new session"),
    entry("resume", "[ID]", "go on with an earlier session"),
    entry("compact", "[WORDS]", "sum up the older part; WORDS say what counts"),
    entry("status", "", "session, model, mode, tokens, cost, files loaded"),
    entry("rules", "", "what rules allow, ask and deny here"),
    entry("diff", "", "everything this session changed"),
    entry("undo", "", "take back the last turn's changes"),
    entry("redo", "", "do again what the last undo took back"),
    entry("quit", "", "leave; the session is kept"),
];

/// Words that stand for a command without being listed.
const ALIASES: &[(&str, &str)] = &[("exit", "quit"), ("clear", "new"), ("cost", "status")];

/// What an input means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Nothing,
    Prompt(String),
    /// `!` and `!!`: the second is hidden from the model.
    Shell {
        command: String,
        hidden: bool,
    },
    Command(Command),
    /// Something that looks like a command and cannot be done; the sentence says why.
    Mistake(String),
}

/// A command of Snick's, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Model(Option<String>),
    Mode(Option<Mode>),
    New,
    Resume(Option<String>),
    /// With words about what counts.
    Compact(Option<String>),
    Status,
    Rules,
    Diff,
    Undo,
    Redo,
    Quit,
}

/// Reads the meaning of `written`. Prefixes act only at the very start, and only when typed.
pub(super) fn meaning(written: &Written) -> Meaning {
    let text = &written.text;
    if text.trim().is_empty() {
        return Meaning::Nothing;
    }
    if written.typed {
        if let Some(rest) = text.strip_prefix('!') {
            return shell(rest);
        }
        if let Some(rest) = text.strip_prefix('/')
            && let Some(meaning) = slash(rest)
        {
            return meaning;
        }
    }
    Meaning::Prompt(text.trim().to_owned())
}

fn shell(rest: &str) -> Meaning {
    let (hidden, command) = rest.strip_prefix('!').map_or((false, rest), |rest| (true, rest));
    match command.trim() {
        "" => Meaning::Mistake("write the shell command after the `!`".to_owned()),
        command => Meaning::Shell { command: command.to_owned(), hidden },
    }
}

/// Returns `None` where the words after the slash cannot be meant as a command, such as a path.
fn slash(rest: &str) -> Option<Meaning> {
    let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if word.is_empty()
        || !word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    {
        return None;
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, name)| *name);
    let name = alias.unwrap_or(word);
    let argument = Some(argument.trim()).filter(|argument| !argument.is_empty());
    let owned = argument.map(str::to_owned);
    let command = match name {
        "help" => Command::Help,
        "model" => Command::Model(owned),
        "mode" => match argument.map(Mode::from_str).transpose() {
            Ok(mode) => Command::Mode(mode),
            Err(error) => return Some(Meaning::Mistake(error.to_string())),
        },
        "new" => Command::New,
        "resume" => Command::Resume(owned),
        "compact" => Command::Compact(owned),
        "status" => Command::Status,
        "rules" => Command::Rules,
        "diff" => Command::Diff,
        "undo" => Command::Undo,
        "redo" => Command::Redo,
        "quit" => Command::Quit,
        unknown => return Some(Meaning::Mistake(unknown_command(unknown))),
    };
    let takes = COMMANDS.iter().any(|entry| entry.name == name && !entry.argument.is_empty());
    if let (Some(argument), false) = (argument, takes) {
        return Some(Meaning::Mistake(format!("`/{word}` takes nothing, but got `{argument}`")));
    }
    Some(Meaning::Command(command))
}

fn unknown_command(word: &str) -> String {
    let names = COMMANDS.iter().map(|entry| entry.name);
    let nearest = names.map(|name| (distance(word, name), name)).min();
    let advice = match nearest {
        Some((steps, name)) if steps <= 2 || name.starts_with(word) => {
            format!("did you mean `/{name}`?")
        }
        _ => "`/help` lists the commands".to_owned(),
    };
    format!("there is no command `/{word}`: {advice} A blank before the `/` sends it as text.")
        .replace("commands A", "commands. A")
}

/// Returns the number of letters to insert, remove or replace between two words.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, against) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
