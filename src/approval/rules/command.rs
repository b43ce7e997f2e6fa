//! Rules about commands: which simple commands a rule means.

use super::{Answer, Rule, Rules, Subject};
use crate::approval::Binding;
use crate::approval::shell::{
    Script, Simple, Word, Wraps, is_interpreter, is_wrapper, starts_packages,
};

/// Flags of git before its command that take the next word.
const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
];

/// Flags of git before its command that stand alone: any other may take the next word.
const GIT_ALONE: &[&str] = &[
    "--bare",
    "--exec-path",
    "--glob-pathspecs",
    "--help",
    "--html-path",
    "--icase-pathspecs",
    "--info-path",
    "--literal-pathspecs",
    "--man-path",
    "--no-advice",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--noglob-pathspecs",
    "--paginate",
    "--version",
    "-P",
    "-h",
    "-p",
    "-v",
];

/// Whether the flag `text` before git's command may take the word after it.
pub(in crate::approval) fn git_may_take(text: &str) -> bool {
    let is_long = text.starts_with("--") && text.contains('=');
    text.starts_with('-') && !is_long && !GIT_ALONE.contains(&text)
}

/// The longest command that is remembered: what is shown can be read.
const MOST_REMEMBERED: usize = 200;

impl Rules {
    /// Returns the rule that denies or asks about one of the script's commands.
    pub(in crate::approval) fn against(&self, answer: Answer, script: &Script) -> Option<&Rule> {
        self.with(answer).find(|rule| match &rule.subject {
            Subject::Command { words, exact } => {
                script.all().any(|simple| concerns(words, *exact, simple))
            }
            _ => false,
        })
    }

    /// Returns the rules that together allow every command of the script.
    pub(in crate::approval) fn allowing(&self, script: &Script, now: &Binding) -> Option<&Rule> {
        self.for_all(script, now, |words, exact, simple| {
            let whole = exact || !grows_plainly(simple) || does_more(words.len(), simple);
            covers(words, whole, simple)
        })
    }

    /// Returns the rules that allow exactly the script's commands, word for word.
    pub(in crate::approval) fn allowing_exactly(
        &self,
        script: &Script,
        now: &Binding,
    ) -> Option<&Rule> {
        self.for_all(script, now, |words, _, simple| covers(words, true, simple))
    }

    /// Whether a rule that is bound to files or the sandbox has the words of `script`.
    pub(in crate::approval) fn bound_to_words(&self, script: &Script) -> bool {
        let [simple] = script.commands.as_slice() else { return false };
        self.with(Answer::Allow).any(|rule| match &rule.subject {
            Subject::Command { words, .. } => rule.is_bound() && covers(words, true, simple),
            _ => false,
        })
    }

    fn for_all(
        &self,
        script: &Script,
        now: &Binding,
        allows: impl Fn(&[String], bool, &Simple) -> bool,
    ) -> Option<&Rule> {
        if !script.is_clear() {
            return None;
        }
        let rule_of = |simple: &Simple| {
            self.with(Answer::Allow).find(|rule| match &rule.subject {
                Subject::Command { words, exact } => {
                    (!rule.is_bound() || now.is_held_by(&rule.binding))
                        && allows(words, *exact, simple)
                }
                _ => false,
            })
        };
        let judged = script.commands.iter().filter(|simple| simple.wraps != Wraps::Openly);
        let rules: Option<Vec<&Rule>> = judged.map(rule_of).collect();
        rules?.first().copied()
    }
}

/// Whether an allow rule of `words` covers `simple`: the same words in the same places.
fn covers(words: &[String], whole: bool, simple: &Simple) -> bool {
    let given = &simple.words;
    let same = words.iter().zip(given).all(|(word, given)| *word == given.text);
    !simple.is_fed
        && given.iter().all(|word| word.is_plain)
        && same
        && words.len() <= given.len()
        && (!whole || words.len() == given.len())
}

/// Whether more words after a rule's do more of the same, rather than something else.
fn grows_plainly(simple: &Simple) -> bool {
    let name = simple.name();
    !is_wrapper(name) && !is_interpreter(name) && !starts_packages(&simple.texts())
}

/// Flags that make a program write files, or run or read what it would not without them: letters,
/// and longer ones.
const MORE: &[(&str, &str, &[&str])] = &[
    (
        "git",
        "O",
        &[
            "--output",
            "--output-directory",
            "--ext-diff",
            "--textconv",
            "--no-index",
            "--open-files-in-pager",
            "--exec",
            "--upload-pack",
            "--receive-pack",
            "--template",
            "--separate-git-dir",
        ],
    ),
    ("sort", "oT", &["--output", "--compress-program", "--temporary-directory", "--files0-from"]),
    ("tree", "o", &[]),
    ("wc", "", &["--files0-from"]),
    ("du", "", &["--files0-from"]),
    ("rsync", "eT", &["--rsh", "--rsync-path", "--delete", "--remove-source-files", "--log-file"]),
    ("man", "PHC", &["--pager", "--html", "--browser", "--config-file"]),
    ("less", "oO", &["--log-file", "--LOG-FILE", "--lesskey-file", "--lesskey-src"]),
    ("go", "", &["-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-o"]),
    ("cargo", "CZ", &["--config", "--manifest-path", "--target-dir"]),
    ("npm", "C", &["--prefix", "--script-shell", "--node-options", "--userconfig"]),
    ("pnpm", "C", &["--dir", "--script-shell", "--node-options"]),
    ("yarn", "", &["--cwd", "--script-shell", "--use-yarnrc"]),
    ("pytest", "pco", &["--rootdir", "--confcutdir", "--override-ini", "--config-file"]),
    ("rg", "", &["--pre", "--hostname-bin"]),
    ("curl", "KoO", &["--config", "--output", "--output-dir", "--remote-name"]),
    ("wget", "Oe", &["--output-document", "--execute", "--use-askpass", "--config"]),
];

/// Whether a command has a flag that makes its program write files, or run or read others.
pub(in crate::approval) fn adds_to(simple: &Simple) -> bool {
    does_more(1, simple)
}

/// Whether words after the first `known` have a flag that makes the program do something else.
fn does_more(known: usize, simple: &Simple) -> bool {
    let name = simple.name();
    let Some((_, letters, flags)) = MORE.iter().find(|(program, ..)| *program == name) else {
        return false;
    };
    let does = |word: &Word| {
        let text = word.text.split('=').next().unwrap_or_default();
        let cut = |flag: &&str| text.len() > 3 && flag.starts_with("--") && flag.starts_with(text);
        let long = flags.contains(&text) || flags.iter().any(cut);
        let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        long || short.is_some_and(|rest| rest.contains(|c| letters.contains(c)))
            || name == "less" && text.starts_with('+')
    };
    simple.words.iter().skip(known.max(1)).any(does)
}

/// Whether the whole command `words` stands among the arguments of `simple`. One word alone may be
/// anything there.
pub(super) fn follows(words: &[String], simple: &Simple) -> bool {
    let from = |at: usize| Simple::new(simple.words[at..].to_vec());
    words.len() > 1 && (1..simple.words.len()).any(|at| concerns(words, false, &from(at)))
}

/// Whether a rule that denies or asks about `words` means `simple`, also with flags between.
fn concerns(words: &[String], exact: bool, simple: &Simple) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let texts = simple.texts();
    let Some((given, arguments)) = texts.split_first() else { return false };
    // Git's commands are programs, too, beside git itself.
    let parted = simple.name().strip_prefix("git-").filter(|_| program == "git");
    if let Some(command) = parted {
        let command = std::iter::once(command).chain(arguments.iter().copied());
        let command = std::iter::once("git").chain(command).map(Word::plain).collect();
        return concerns(words, exact, &Simple::new(command));
    }
    if program != given && program != simple.name() {
        return false;
    }
    if exact {
        return rest.len() == arguments.len() && rest.iter().zip(arguments).all(|(a, b)| a == b);
    }
    let Some(first) = rest.first() else { return true };
    let begins = |at: usize| {
        let given = arguments.get(at..at + rest.len());
        given.is_some_and(|given| rest.iter().zip(given).all(|(word, given)| word == given))
    };
    // Flags with their values may stand before the first word that counts.
    let passed = |at: usize| {
        let is_flag = |at: usize| arguments[at].starts_with(['-', '+']);
        if simple.name() == "git" {
            let valued =
                |at: usize| git_may_take(arguments[at]) || GIT_VALUED.contains(&arguments[at]);
            return (0..at).all(|at| is_flag(at) || at > 0 && valued(at - 1));
        }
        first.starts_with('-') || (0..at).all(|at| is_flag(at) || at > 0 && is_flag(at - 1))
    };
    (0..arguments.len()).any(|at| begins(at) && passed(at))
}

/// Whether a rule about `words` may mean `simple`, of which not all words stand as they are: the
/// shell makes some of others, or what is fed to it gives some.
pub(super) fn may_concern(words: &[String], simple: &Simple) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let Some((given, arguments)) = simple.words.split_first() else { return false };
    if !simple.is_fed && !simple.words.iter().any(Word::is_open) {
        return false;
    }
    let named = given.may_be(program) || given.last_part().may_be(program);
    if !named || rest.is_empty() {
        return named && given.is_open();
    }
    if given.is_open() && !given.is_one && !given.is_pattern() {
        return true;
    }
    let more = simple.is_fed.then(Word::any);
    let arguments: Vec<&Word> = arguments.iter().chain(&more).collect();
    let begins = |at: usize| {
        let mut at = at;
        for word in rest {
            match arguments.get(at) {
                // It may be all of the words that follow.
                Some(given) if given.is_open() && !given.is_one => return given.may_be(word),
                Some(given) if given.may_be(word) => at += 1,
                _ => return false,
            }
        }
        true
    };
    let is_git = simple.name() == "git";
    let text = |at: usize| arguments[at].text.as_str();
    let is_flag = |at: usize| text(at).starts_with(['-', '+']);
    let takes = |at: usize| if is_git { git_may_take(text(at)) } else { is_flag(at) };
    let is_value =
        |at: usize| is_git && at > 0 && arguments[at].is_one && GIT_VALUED.contains(&text(at - 1));
    let passed = |at: usize| {
        rest[0].starts_with('-') || (0..at).all(|at| is_flag(at) || at > 0 && takes(at - 1))
    };
    (0..arguments.len()).any(|at| begins(at) && passed(at) && !is_value(at))
}

/// Returns the words of the rule that remembering `command` would store, if it may be remembered.
///
/// Only one simple command of plain words is: no wrapper, interpreter, package runner, compound,
/// expansion or redirection, and nothing that is asked each time.
pub fn offered(command: &str) -> Option<Vec<String>> {
    let script = Script::parse(command);
    let [simple] = script.commands.as_slice() else { return None };
    let texts = simple.texts();
    let may_be = script.is_clear()
        && script.redirects.is_empty()
        && simple.wraps == Wraps::Nothing
        && grows_plainly(simple)
        && command.len() <= MOST_REMEMBERED
        && !command.contains('\n')
        && !texts[0].contains('=')
        && crate::approval::destructive::destroys(&script).is_none();
    may_be.then(|| texts.into_iter().map(str::to_owned).collect())
}

/// Returns the words as they would be typed.
pub fn shown(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_./,:=+@%^-".contains(c))
    };
    let quoted = words.iter().map(|word| {
        if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    quoted.collect::<Vec<String>>().join(" ")
}
