//! Rules against commands that another program may run without the parser's seeing it.
//!
//! Code in the words of an interpreter, a text for its input, a program in a flag or a variable: a
//! rule is not found there as a command, so its words are looked for as text. What a file or a
//! built name leads to is not seen at all; so this asks, and promises nothing.

use super::{Answer, Rule, Rules, Subject, command};
use crate::approval::shell::{Script, Simple, reads_code, runs_code};

/// Programs that show, look for or store words and run none of them.
const TALKERS: &[&str] = &[
    "ag", "ack", "basename", "cat", "cd", "column", "cut", "diff", "dirname", "echo", "egrep",
    "false", "fgrep", "file", "gh", "git", "glab", "grep", "head", "jq", "ls", "mkdir", "mv", "cp",
    "printf", "pwd", "rg", "rm", "stat", "tail", "tee", "test", "touch", "tr", "true", "wc",
    "which", "[",
];

impl Rules {
    /// Returns the rule that denies or asks about a command which the script may run unseen, and the
    /// program that may run it.
    pub(in crate::approval) fn unseen<'a>(&self, script: &'a Script) -> Option<(&Rule, &'a str)> {
        let against = self.list.iter().filter(|rule| rule.answer != Answer::Allow);
        against
            .filter_map(|rule| match &rule.subject {
                Subject::Command { words, .. } => Some((rule, words.as_slice())),
                _ => None,
            })
            .find_map(|(rule, words)| Some((rule, may_run(words, script)?)))
    }
}

/// Returns the program of `script` that may run the command `words`.
fn may_run<'a>(words: &[String], script: &'a Script) -> Option<&'a str> {
    let inputs = script.inputs.iter().map(String::as_str);
    let mut fed = script.commands.iter().flat_map(arguments).chain(inputs);
    let reader = script.commands.iter().find(|simple| reads_code(simple));
    if let Some(reader) = reader.filter(|_| fed.any(|text| names_all(text, words))) {
        return Some(reader.name());
    }
    let by_words = script.commands.iter().find(|simple| {
        let code = || arguments(simple).any(|text| names(text, &words[0]));
        let tells = || arguments(simple).any(|text| is_line(text) && names_all(text, words));
        let talks = TALKERS.contains(&simple.name());
        runs_code(simple) && code() || !talks && (tells() || command::follows(words, simple))
    });
    let by_words = by_words.map(Simple::name);
    let open = || script.all().find(|simple| command::may_concern(words, simple)).map(Simple::name);
    by_words
        .or_else(open)
        .or_else(|| script.values.iter().any(|text| names_all(text, words)).then_some("a variable"))
}

fn arguments(simple: &Simple) -> impl Iterator<Item = &str> {
    simple.words.iter().skip(1).map(|word| word.text.as_str())
}

/// Whether a word could be a whole command line, or a flag with one.
fn is_line(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || "=:,".contains(c))
}

/// Whether `text` names the program of a rule and each of its further words that is no flag.
fn names_all(text: &str, words: &[String]) -> bool {
    let mut further = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    names(text, &words[0]) && further.all(|word| text.contains(word.as_str()))
}

/// Whether `text` names `program`, by itself or at the end of a path.
fn names(text: &str, program: &str) -> bool {
    let program = program.rsplit('/').next().unwrap_or(program);
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(program).any(|(at, _)| {
        let (head, tail) = (&text[..at], &text[at + program.len()..]);
        // The letter before it may be that of a blank.
        let begins = ["\\n", "\\t", "\\r"].iter().any(|blank| head.ends_with(blank))
            || !head.ends_with(|c| joins(c) || c == '-');
        let ends = !tail.starts_with(|c| joins(c) || c == '/');
        // `.git` is a folder.
        let is_hidden = head.ends_with('.') && (tail.is_empty() || tail.starts_with(['\'', '"']));
        !program.is_empty() && begins && ends && !is_hidden
    })
}
