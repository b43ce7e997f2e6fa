//! A command text taken apart by the grammar of bash: its simple commands, redirections and doubts.
//!
//! This decides only whether to ask. What is not known to be harmless is a doubt, and a doubt asks.

mod around;
mod possible;
mod spelled;
mod word;
mod wrapper;

pub(super) use possible::{reads_code, runs_code, starts_packages};
pub(super) use word::Word;
pub(super) use wrapper::{is_interpreter, is_shell, is_wrapper};

use around::{is_evaluated, is_piped};

use std::cell::RefCell;
use std::sync::Arc;

use tree_sitter::{Node, Parser, Tree};

/// The most bytes, simple commands and nested nodes that are looked at.
const MOST_BYTES: usize = 32 << 10;
const MOST_COMMANDS: usize = 64;
const MOST_DEPTH: usize = 120;
/// The most commands that are looked at once more as they are spelled out.
const MOST_SPELLED: usize = 512;
/// How deep texts for other shells are followed.
const MOST_NESTED: usize = 6;

/// Named nodes that mean what they seem to mean; every other kind is a doubt.
const CLEAR: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "string",
    "string_content",
    "raw_string",
    "number",
    "concatenation",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "subshell",
    "compound_statement",
    "negated_command",
    "variable_assignment",
    "variable_name",
];

/// Variables that change how output looks and nothing else.
const HARMLESS_VARIABLES: &[&str] = &[
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// A command text as bash would take it apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// Every simple command, also in substitutions, wrappers and texts for other shells.
    pub(super) commands: Vec<Simple>,
    pub(super) redirects: Vec<Redirect>,
    /// What its commands may run besides, as far as words can tell: looked at for what is denied
    /// or destroys, and for nothing that is allowed.
    pub(super) possible: Vec<Simple>,
    /// Its commands once more where the shell spells words out that are written in short.
    pub(super) spelled: Vec<Simple>,
    /// Texts for the input of its commands.
    pub(super) inputs: Vec<String>,
    /// What it sets variables to.
    pub(super) values: Vec<String>,
    /// Why it is not known what it would do; empty if it is.
    pub(super) doubts: Vec<&'static str>,
    /// Whether there is more to it than was looked at.
    pub(super) is_over: bool,
    /// Whether the braces of a command come to more words than are looked at.
    pub(super) is_vast: bool,
    /// Whether it, or a text in it for another shell, is not understood as a whole.
    is_broken: bool,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Simple {
    /// The program, then its arguments; never empty.
    pub(super) words: Vec<Word>,
    /// Whether it runs another command, which is one of the script's as well.
    pub(super) wraps: Wraps,
    /// Whether what it is given comes from elsewhere than its words, as by `xargs`.
    pub(super) is_fed: bool,
    /// Whether it is a shell whose script is what another command prints.
    pub(super) is_piped_shell: bool,
}

/// What running another command means for whether both may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wraps {
    /// It runs no other.
    Nothing,
    /// It runs the other as it stands.
    Openly,
    /// It runs the other in another way: as somebody else, with other words or variables.
    Otherwise,
}

/// Where a command reads from or writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) target: Word,
    pub(super) writes: bool,
}

impl Simple {
    /// Returns a command of `words` alone.
    pub(super) fn new(words: Vec<Word>) -> Simple {
        Simple { words, wraps: Wraps::Nothing, is_fed: false, is_piped_shell: false }
    }

    /// Whether the shell makes the program's name out of something else.
    pub(super) fn is_expanded(&self) -> bool {
        let program = self.words.first();
        program.is_some_and(|word| {
            word.text.contains(['$', '`', '*', '?', '[', '{']) && word.text != "["
        })
    }

    /// Returns the program's name without its folder.
    pub(super) fn name(&self) -> &str {
        let text = self.words.first().map_or("", |word| word.text.as_str());
        text.rsplit('/').next().unwrap_or(text)
    }

    /// Returns the texts of its words.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }
}

impl Script {
    /// Takes `text` apart. Judging one command asks for this several times in a row, so the last
    /// one is kept.
    pub(super) fn parse(text: &str) -> Arc<Script> {
        let known = |(last, script): &(String, Arc<Script>)| (last == text).then(|| script.clone());
        if let Some(script) = LAST.with_borrow(|last| last.as_ref().and_then(known)) {
            return script;
        }
        let mut script = Script::default();
        script.read(text, 0);
        if text.contains("\\\n") {
            // What the shell joins.
            let mut joined = Script::default();
            joined.read(&text.replace("\\\n", ""), 0);
            script.hold(joined);
        }
        if script.commands.is_empty() {
            script.doubt("it holds no command that is known");
        }
        let script = Arc::new(script);
        LAST.set(Some((text.to_owned(), Arc::clone(&script))));
        script
    }

    /// Whether everything about it is known: plain words, and no command that cannot be judged.
    pub(super) fn is_clear(&self) -> bool {
        self.doubts.is_empty() && !self.is_over
    }

    /// Returns every command that is run, or may be.
    pub(super) fn all(&self) -> impl Iterator<Item = &Simple> {
        self.commands.iter().chain(&self.possible).chain(&self.spelled)
    }

    /// Whether a program of it comes to light only when the shell expands its name, or when a
    /// shell reads what another command prints, or not at all.
    pub(super) fn hides_programs(&self) -> bool {
        self.is_broken
            || self.commands.iter().any(|simple| simple.is_expanded() || simple.is_piped_shell)
    }

    fn doubt(&mut self, why: &'static str) {
        if !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }

    /// Adds what `text` holds, which stands `depth` texts within others.
    pub(super) fn read(&mut self, text: &str, depth: usize) {
        if deceives(text) {
            self.doubt("it holds characters that act or hide");
        }
        if text.contains("\\\n") {
            self.doubt("it holds a line that goes on in the next");
        }
        if text.len() > MOST_BYTES || depth > MOST_NESTED {
            self.is_over = true;
            return self.doubt("it is too long to be judged");
        }
        let Some(tree) = tree_of(text) else {
            return self.doubt("it cannot be parsed");
        };
        if tree.root_node().has_error() {
            self.is_broken = true;
            self.doubt("it cannot be parsed");
            // The shell may take for a command what is none to the grammar: `{rm,x}`.
            self.spell_out(text, depth);
        }
        self.visit(tree.root_node(), text, 0, depth);
    }

    fn visit(&mut self, node: Node<'_>, text: &str, level: usize, depth: usize) {
        if level > MOST_DEPTH || self.commands.len() >= MOST_COMMANDS {
            self.is_over = true;
            return self.doubt("it is too long to be judged");
        }
        let kind = node.kind();
        match kind {
            "variable_assignment" => {
                let name = node.child_by_field_name("name").map_or("", |name| of(name, text));
                if !HARMLESS_VARIABLES.contains(&name) {
                    self.doubt("it sets variables");
                }
                let value = node.child_by_field_name("value");
                self.values.extend(value.map(|value| Word::of(value, text).text));
            }
            "comment" => self.doubt("it holds a comment"),
            "heredoc_redirect" | "herestring_redirect" | "heredoc_body" => {
                self.doubt("it holds a text for a command's input");
                self.inputs.push(of(node, text).to_owned());
            }
            "&" => self.doubt("it leaves a command running"),
            _ if node.is_named() && !CLEAR.contains(&kind) => {
                self.doubt("it holds what the shell expands or repeats");
            }
            _ => {}
        }
        match kind {
            "command" => self.command(node, text, depth),
            "declaration_command" | "unset_command" => {
                let words = children(node).map(|child| Word::of(child, text)).collect();
                self.add(Simple::new(words), depth);
            }
            "file_redirect" => self.redirect(node, text),
            // A text for the input of a shell is a script.
            "heredoc_body" | "herestring_redirect" if self.commands.iter().any(takes_script) => {
                let quoted = of(node, text).trim_start_matches('<').trim();
                let inner = quoted.trim_matches(['"', '\'']).to_owned();
                self.read(&inner, depth + 1);
            }
            "raw_string" | "string" | "ansi_c_string" | "translated_string" | "word"
                if is_evaluated(node, text) =>
            {
                self.read(&format!(": {}", Word::of(node, text).text), depth + 1);
            }
            _ => {}
        }
        for child in all_children(node) {
            self.visit(child, text, level + 1, depth);
        }
    }

    fn command(&mut self, node: Node<'_>, text: &str, depth: usize) {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        let mut ends = None;
        for child in node.children(&mut cursor).filter(Node::is_named) {
            match child.kind() {
                "variable_assignment" => {}
                // Words after the target belong to the command, whatever the grammar says.
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    words.extend(surplus(child, text));
                }
                // The grammar parts some words that the shell takes for one.
                _ if ends == Some(child.start_byte())
                    && let Some(word) = words.last_mut() =>
                {
                    *word = Word::joined(word, &Word::of(child, text));
                }
                _ => words.push(Word::of(child, text)),
            }
            ends = Some(child.end_byte());
        }
        if let Some(outer) = node.parent().filter(|outer| outer.kind() == "redirected_statement") {
            for redirect in children(outer).filter(|child| child.kind().ends_with("_redirect")) {
                let more = surplus(redirect, text);
                if !more.is_empty() {
                    self.doubt("words follow a redirection");
                }
                words.extend(more);
            }
        }
        if words.iter().any(|word| !word.is_plain) {
            self.doubt("it holds what the shell expands or repeats");
        }
        if !words.is_empty() {
            let piped = is_piped(node);
            self.spell_out(of(node, text), depth);
            let simple = Simple::new(words);
            let is_piped_shell = wrapper::reads_script(&simple, piped);
            self.add(Simple { is_piped_shell, ..simple }, depth);
        }
    }

    /// Adds what the shell makes of the command `text` where words of it are written in short.
    fn spell_out(&mut self, text: &str, depth: usize) {
        let Some(short) = spelled::spelled(text) else { return };
        self.is_vast |= short.is_over;
        self.is_over |= short.is_over;
        if depth < MOST_NESTED {
            let mut whole = Script::default();
            whole.read(&short.text, depth + 1);
            self.hold(whole);
        }
    }

    /// Adds what a text holds that was read apart, as what may be run.
    fn hold(&mut self, other: Script) {
        self.is_over |= other.is_over;
        self.is_vast |= other.is_vast;
        self.spelled.extend(other.commands);
        self.spelled.extend(other.spelled);
        self.possible.extend(other.possible);
        self.redirects.extend(other.redirects);
        self.inputs.extend(other.inputs);
        self.values.extend(other.values);
        if self.spelled.len() > MOST_SPELLED {
            self.spelled.truncate(MOST_SPELLED);
            self.is_over = true;
            self.is_vast = true;
        }
    }

    /// Adds a simple command, and the one that it runs.
    fn add(&mut self, mut simple: Simple, depth: usize) {
        if self.commands.len() >= MOST_COMMANDS {
            self.is_over = true;
            return self.doubt("it is too long to be judged");
        }
        let inner = wrapper::unwrap(&simple);
        simple.wraps = inner.wraps;
        let is_fed = simple.is_fed || inner.feeds;
        self.commands.push(simple);
        if inner.is_unclear {
            self.doubt("it runs a command that cannot be told");
        }
        for words in inner.commands.into_iter().filter(|words| !words.is_empty()) {
            self.add(Simple { is_fed, ..Simple::new(words) }, depth + 1);
        }
        for script in inner.scripts {
            self.read(&script, depth + 1);
        }
        self.suppose(&inner.possible, depth + 1);
    }

    /// Adds the commands that `words` may be, wherever they begin.
    fn suppose(&mut self, words: &[Word], depth: usize) {
        if words.is_empty() || depth > MOST_NESTED {
            return;
        }
        let mut supposed = Script::default();
        for word in words.iter().filter(|word| word.text.contains(char::is_whitespace)) {
            supposed.read(&word.text, depth);
        }
        for at in 0..words.len().min(MOST_COMMANDS) {
            let simple = Simple::new(words[at..].to_vec());
            // What the rest of the words wraps begins at one of them, too.
            supposed.commands.push(simple);
        }
        self.is_over |= supposed.is_over;
        self.possible.append(&mut supposed.commands);
        self.possible.append(&mut supposed.possible);
        self.inputs.append(&mut supposed.inputs);
        self.values.append(&mut supposed.values);
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let mut operator = "";
        for child in all_children(node) {
            if !child.is_named() {
                operator = child.kind();
            }
        }
        let mut cursor = node.walk();
        let target = node.children_by_field_name("destination", &mut cursor).next();
        let Some(target) = target.map(|target| Word::of(target, text)) else { return };
        let is_descriptor = operator.ends_with('&')
            && (target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit()));
        if is_descriptor {
            return;
        }
        if !target.is_plain {
            self.doubt("it holds what the shell expands or repeats");
        }
        let writes = operator != "<";
        let written = node.child_by_field_name("destination").map_or("", |node| of(node, text));
        if let Some(short) = spelled::spelled(written) {
            let words =
                short.text.split_whitespace().map(|word| word.replace(['"', '\'', '\\'], ""));
            let words = words.map(|word| Redirect { target: Word::plain(&word), writes });
            self.redirects.extend(words);
        }
        self.redirects.push(Redirect { target, writes });
    }
}

thread_local! {
    /// The text that was taken apart last, and what it came to.
    static LAST: RefCell<Option<(String, Arc<Script>)>> = const { RefCell::new(None) };
    /// Making a parser costs more than parsing a short command with it.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Parses `text` by the grammar of bash.
fn tree_of(text: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|kept| {
        if kept.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *kept = Some(parser);
        }
        kept.as_mut()?.parse(text, None)
    })
}

/// Whether a shell without a script of its own reads one from its input.
fn takes_script(simple: &Simple) -> bool {
    wrapper::is_shell(simple.name())
}

/// Whether `text` holds characters that act, hide or turn the reading direction.
pub(super) fn deceives(text: &str) -> bool {
    text.chars().any(|character| match character {
        '\n' | '\t' | ' '..='~' => false,
        _ => !character.is_alphanumeric(),
    })
}

/// Returns the words that the grammar takes for further targets of a redirection.
fn surplus(redirect: Node<'_>, text: &str) -> Vec<Word> {
    let mut cursor = redirect.walk();
    let targets = redirect.children_by_field_name("destination", &mut cursor);
    let mut words: Vec<Word> = targets.skip(1).map(|target| Word::of(target, text)).collect();
    let mut cursor = redirect.walk();
    let arguments = redirect.children_by_field_name("argument", &mut cursor);
    words.extend(arguments.map(|argument| Word::of(argument, text)));
    words
}

fn of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    all_children(node).into_iter().filter(Node::is_named)
}

fn all_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
