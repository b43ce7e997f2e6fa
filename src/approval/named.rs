//! The paths that a command names, as it wrote them, for whoever can resolve them.

use super::shell::{Script, Simple, Word, is_interpreter, is_wrapper};
use super::{Execute, ReadOnly, changed};

/// Programs that make a file out of another, under another name.
const MAKERS: &[&str] =
    &["cp", "curl", "dd", "install", "link", "ln", "mv", "rsync", "tee", "wget"];

/// Paths in a command's text. A text that is no path leads nowhere and harms nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Words that may be paths.
    pub words: Vec<String>,
    /// Files that it runs: programs by their path, and what interpreters are given first.
    pub scripts: Vec<String>,
    /// Programs by their path.
    pub programs: Vec<String>,
    /// What the command itself makes, as far as its words tell: it could be run under another name.
    pub made: Vec<String>,
    /// What redirections read.
    pub reads: Vec<String>,
    /// What redirections write.
    pub writes: Vec<String>,
    /// What commands move or copy, and where to: a file there is lost. Git moves what it has.
    pub moves: Vec<(Vec<String>, String)>,
    /// What its programs change.
    pub changes: Vec<String>,
    /// What they put somewhere, and where to: if that is a folder, into it.
    pub placed: Vec<(Vec<String>, String)>,
    /// Folders that they read through.
    pub through: Vec<String>,
    /// Folders that it changes to.
    pub folders: Vec<String>,
}

impl Named {
    /// Finds the paths in `command`.
    pub fn parse(command: &str) -> Named {
        let script = Script::parse(command);
        let text = |word: &Word| word.text.clone();
        let redirects = |writes| {
            let chosen = script.redirects.iter().filter(move |redirect| redirect.writes == writes);
            chosen.map(|redirect| home(text(&redirect.target))).collect()
        };
        let all: Vec<&Simple> = script.commands.iter().chain(&script.spelled).collect();
        let words = all.iter().flat_map(|simple| &simple.words[1..]);
        // Git takes a file out of what it keeps: `HEAD:x`.
        let gits = all.iter().filter(|simple| simple.name() == "git");
        let kept = gits.flat_map(|simple| &simple.words[1..]);
        let kept = kept.filter_map(|word| Some(word.text.split_once(':')?.1.to_owned()));
        // The value of a flag or of an operand may be a path: `--file=x`, `of=x`.
        let words = words.flat_map(|word| {
            let value = word.text.split_once('=').map(|(_, value)| value.to_owned());
            [Some(text(word)), value].into_iter().flatten()
        });
        let moves = script.commands.iter().filter(|simple| {
            let clobbers = |word: &Word| {
                let word = word.text.as_str();
                matches!(word, "--no-clobber" | "--backup" | "-t")
                    || word.starts_with('-') && !word.starts_with("--") && word.contains('n')
            };
            matches!(simple.name(), "mv" | "cp" | "install") && !simple.words.iter().any(clobbers)
        });
        let moves = moves.filter_map(|simple| {
            let is_operand = |word: &&Word| !word.text.starts_with('-');
            let mut operands: Vec<String> =
                simple.words[1..].iter().filter(is_operand).map(text).collect();
            let target = operands.pop()?;
            (!operands.is_empty()).then_some((operands, target))
        });
        // What may be a branch may be a file as well.
        let restored = script.commands.iter().filter(|simple| {
            simple.name() == "git" && simple.words.iter().any(|word| word.text == "checkout")
        });
        let restored = restored.flat_map(|simple| {
            let is_operand = |word: &&Word| !word.text.starts_with('-') && word.text != "checkout";
            simple.words[1..].iter().filter(is_operand).map(text)
        });
        let restored = restored.map(|path| (Vec::new(), path));
        let changes =
            script.commands.iter().filter(|simple| matches!(simple.name(), "cd" | "pushd"));
        let ran = script.commands.iter().flat_map(|simple| {
            let name = simple.name();
            let runs = is_wrapper(name) || is_interpreter(name);
            let is_operand = |word: &&Word| runs && !word.text.starts_with('-');
            let given = simple.words[1..].iter().find(is_operand);
            let program = simple.words.first().filter(|word| word.text.contains('/'));
            program.into_iter().chain(given)
        });
        let programs = script.commands.iter().filter_map(|simple| simple.words.first());
        let programs = programs.filter(|word| word.text.contains('/')).map(text);
        let makes = script.commands.iter().filter(|simple| MAKERS.contains(&simple.name()));
        let made = makes.flat_map(|simple| &simple.words[1..]).flat_map(|word| {
            let value = word.text.split_once('=').map(|(_, value)| value.to_owned());
            [Some(text(word)), value].into_iter().flatten()
        });
        Named {
            programs: programs.map(home).collect(),
            made: made.map(home).collect(),
            scripts: ran.map(text).collect(),
            words: words.chain(kept).filter(|word| !word.is_empty()).map(home).collect(),
            reads: redirects(false),
            writes: redirects(true),
            changes: all.iter().flat_map(|simple| changed::changes(simple)).map(home).collect(),
            placed: all.iter().filter_map(|simple| changed::placed(simple)).collect(),
            through: all.iter().flat_map(|simple| changed::through(simple)).map(home).collect(),
            moves: moves.chain(restored).collect(),
            folders: changes.filter_map(|simple| simple.words.get(1).map(text)).map(home).collect(),
        }
    }
}

/// Writes home as `~`, which the workspace expands.
fn home(path: String) -> String {
    let rest = path.strip_prefix("$HOME").or_else(|| path.strip_prefix("${HOME}"));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path,
    }
}

/// Returns the programs of a command that runs unasked because of their names.
pub fn programs_by_name(execute: &Execute) -> Vec<String> {
    if !execute.by_rule && ReadOnly::parse(&execute.command).is_none() {
        return Vec::new();
    }
    let script = Script::parse(&execute.command);
    script.commands.iter().map(|simple| simple.name().to_owned()).collect()
}
