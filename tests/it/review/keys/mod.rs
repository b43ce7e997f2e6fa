//! An approval from its first picture to what is written and what the model is told.

mod batch;
mod commands;
mod files;
mod hunks;
mod typed;

use std::fmt::Write as _;

use expect_test::Expect;
use snick::approval::Access;
use snick::approval::Answer;
use snick::approval::Asked;
use snick::approval::Decision;
use snick::approval::Effect;
use snick::approval::Execute;
use snick::approval::Grant;
use snick::approval::Settled;
use snick::approval::Verdict;
use snick::approval::settle;
use snick::change::Change;
use snick::frontend::diff_view::ViewOptions;
use snick::frontend::review::Key;
use snick::frontend::review::Review;
use snick::frontend::review::Step;
use snick::frontend::review::may_answer;
use snick::message::CallId;
use snick::message::ContentHash;
use snick::workspace::FileImage;
use snick::workspace::Options;
use snick::workspace::Workspace;

use super::plain;

/// A question, owned.
struct Question {
    title: String,
    effect: Effect,
    verdict: Verdict,
}

fn question(title: &str, effect: Effect) -> Question {
    let rule = "mode `ask`".to_owned();
    let verdict = Verdict { answer: Answer::Ask, rule, always: false };
    Question { title: title.to_owned(), effect, verdict }
}

/// A change of `path` from `before` to `after`.
fn change(path: &str, before: Option<&str>, after: Option<&str>) -> Change {
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().to_owned();
    let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
    let at = workspace.locate(path).unwrap();
    let image = |text: &str| FileImage {
        bytes: text.as_bytes().into(),
        hash: ContentHash::of(text.as_bytes()),
        mode: 0o644,
        links: 1,
    };
    let after = after.map(|text| text.as_bytes().into());
    Change { at, before: before.map(image), after, mode: None, notes: Vec::new() }
}

fn edit(path: &str, before: &str, after: &str) -> Question {
    question(&format!("edit {path}"), Effect::Write(change(path, Some(before), Some(after))))
}

fn command(command: &str) -> Question {
    let execute = Execute { command: command.to_owned(), ..Execute::default() };
    question("run a command", Effect::Execute(execute))
}

/// What the person does.
enum Act {
    Keys(&'static str),
    Escape,
    Words(&'static str),
    /// Saves the editor's text with one replacement.
    Save(&'static str, &'static str),
    /// Types a whole line.
    Line(&'static str),
}

use Act::Escape;
use Act::Keys;
use Act::Save;
use Act::Words;

/// Plays `acts` and compares what is shown, decided, written and told.
#[track_caller]
fn check(questions: &[Question], acts: &[Act], expected: &Expect) {
    let call = CallId("1".to_owned());
    let asked: Vec<Asked<'_>> = questions
        .iter()
        .map(|question| Asked {
            call: &call,
            title: &question.title,
            effect: &question.effect,
            verdict: &question.verdict,
        })
        .collect();
    let view = ViewOptions { width: Some(76), colour: false, folded: false };
    let mut review = Review::new(&asked, view);
    let mut play =
        Play { shown: String::new(), text: String::new(), keys: String::new(), questions };
    play.print(&review, &review.shown());
    for act in acts {
        match act {
            Keys(keys) => {
                for key in keys.chars() {
                    let step = match key {
                        '>' => review.key(Key::Next),
                        '<' => review.key(Key::Previous),
                        key => review.key(Key::Char(key)),
                    };
                    play.step(&review, &format!("key {key}"), step);
                }
            }
            Escape => {
                let step = review.key(Key::Escape);
                play.step(&review, "key esc", step);
            }
            Words(words) => {
                let step = review.words(words);
                play.step(&review, &format!("words {words:?}"), step);
            }
            Save(from, to) => {
                let saved = play.text.replace(from, to);
                let step = review.edited(&saved);
                play.step(&review, &format!("saved {saved:?}"), step);
            }
            Act::Line(line) => {
                let step = review.typed(line);
                play.step(&review, &format!("line {line:?}"), step);
            }
        }
    }
    // An expectation holds no blanks alone in a row.
    let rows = play.shown.lines().map(|row| if row.trim().is_empty() { "" } else { row });
    expected.assert_eq(&rows.flat_map(|row| [row, "\n"]).collect::<String>());
}

/// What was seen so far.
struct Play<'a> {
    shown: String,
    /// What the editor was given last.
    text: String,
    /// The keys that were offered last.
    keys: String,
    questions: &'a [Question],
}

impl Play<'_> {
    /// Notes what is printed, unchanged lines of files aside, and the question under it.
    fn print(&mut self, review: &Review, lines: &[snick::frontend::style::Line]) {
        for line in
            plain(lines).lines().filter(|line| !line.starts_with("  ") || !line.contains('│'))
        {
            writeln!(self.shown, "  {line}").unwrap();
        }
        // The keys are noted when they change.
        let question = plain(&review.lines());
        let (said, keys) = match question.find("y yes") {
            Some(at) => question.split_at(at),
            None => (question.as_str(), ""),
        };
        for line in said.lines() {
            writeln!(self.shown, "? {line}").unwrap();
        }
        if keys != self.keys {
            for line in keys.lines() {
                writeln!(self.shown, "? {line}").unwrap();
            }
        }
        keys.clone_into(&mut self.keys);
    }

    fn step(&mut self, review: &Review, what: &str, step: Step) {
        writeln!(self.shown, "> {what}").unwrap();
        match step {
            Step::Stay => writeln!(self.shown, "  nothing").unwrap(),
            Step::Redraw => self.print(review, &[]),
            Step::Print(lines) => self.print(review, &lines),
            Step::NeedWords(prompt) => writeln!(self.shown, "  words: {prompt}").unwrap(),
            Step::NeedEditor { text, suffix } => {
                writeln!(self.shown, "  editor {suffix}: {text:?}").unwrap();
                self.text = text;
            }
            Step::Decided { decisions, unseen } => {
                for line in plain(&unseen).lines() {
                    writeln!(self.shown, "  {line}").unwrap();
                }
                for (question, decision) in self.questions.iter().zip(decisions) {
                    settled(&mut self.shown, question, decision);
                }
            }
        }
    }
}

/// Says what a decision comes to: what is done, and what the model is told.
fn settled(out: &mut String, question: &Question, decision: Decision) {
    let name = match &decision {
        Decision::Accept(scope) => format!("accept {scope:?}"),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap().to_owned(),
    };
    write!(out, "= {}: {name}", question.title).unwrap();
    match settle(&question.effect, &question.verdict, Some(decision)) {
        Settled::Granted { grant, remarks, altered, .. } => {
            let done = match grant {
                Grant::Read => "read".to_owned(),
                Grant::Execute(execute) => format!("run {:?}", execute.command),
                Grant::Write(decided) => {
                    let after = decided.change().after.as_deref().map(String::from_utf8_lossy);
                    format!("write {after:?}")
                }
            };
            let altered = if altered { ", altered" } else { "" };
            writeln!(out, "{altered}\n    {done}").unwrap();
            for remark in remarks {
                writeln!(out, "    [{remark}]").unwrap();
            }
        }
        Settled::Denied { reason, stop, .. } => {
            writeln!(out, "{}\n    {reason}", if stop { ", stop" } else { "" }).unwrap();
        }
        Settled::Cancelled => writeln!(out, ", cancelled").unwrap(),
    }
}

/// Two hunks; the first can be split.
const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n";
const NEW: &str = "1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n";

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever is pressed, every question gets one decision, and only once.
    #[test]
    fn no_keys_lead_astray(keys in "[ynhsdaAcefjkq?rx\\[\\]<>!]{0,40}") {
        let questions = [edit("a", OLD, NEW), edit("a", NEW, OLD), edit("b", "", NEW), command("ls")];
        let call = CallId("1".to_owned());
        let asked = questions.each_ref().map(|question| Asked {
            call: &call,
            title: &question.title,
            effect: &question.effect,
            verdict: &question.verdict,
        });
        let mut review = Review::new(&asked, ViewOptions::default());
        let mut decided = 0;
        for key in keys.chars() {
            let mut step = review.key(match key {
                '<' => Key::Previous,
                '>' => Key::Next,
                '!' => Key::Escape,
                key => Key::Char(key),
            });
            if let Step::NeedWords(_) = step {
                step = review.words("words");
            }
            if let Step::NeedEditor { text, .. } = step {
                step = review.edited(&text.replace("four", "x\ny"));
            }
            if let Step::Decided { decisions, .. } = step {
                proptest::prop_assert_eq!(decisions.len(), asked.len());
                decided += 1;
                for (question, decision) in questions.iter().zip(decisions) {
                    settled(&mut String::new(), question, decision);
                }
            }
            review.lines();
        }
        proptest::prop_assert!(decided < 2);
    }
}
