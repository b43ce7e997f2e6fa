//! What runs after a file was written: whether it may, and what it made of the file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::Pass;
use crate::agent::TurnError;
use crate::approval::{
    Answer, Asked, Consents, Decision, Effect, Execute, Grant, Scope, Settled, ask_after_edit,
    judge, settle,
};
use crate::change;
use crate::change::diff;
use crate::event::{Event, Stop};
use crate::message::{ContentHash, FileNote, FileTouch, Outcome, ToolCall};
use crate::sandbox::Wish;
use crate::tools::after_edit;
use crate::tools::after_edit::{AfterEdit, Template};
use crate::workspace::Located;

/// How often what a command would run may change while it is asked.
const MOST_QUESTIONS: usize = 3;

/// Commands that run after edits, with the answers that some of them need.
#[derive(Default)]
pub struct AfterEdits {
    rules: Vec<AfterEdit>,
    consents: Mutex<Consents>,
    /// Answers of this session; `None` is no.
    answers: Mutex<HashMap<ContentHash, Option<Template>>>,
}

impl AfterEdits {
    /// Takes the rules of the settings, and what the person said yes to for good.
    pub fn new(rules: Vec<AfterEdit>, consents: Consents) -> AfterEdits {
        AfterEdits { rules, consents: Mutex::new(consents), answers: Mutex::default() }
    }

    /// Forgets the answers of the session: another one begins.
    pub fn forget_answers(&self) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn answer(&self, content: ContentHash, answer: Option<Template>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(content, answer);
    }
}

/// Files that were written and whose commands have not run yet.
#[derive(Default)]
pub(super) struct Edited {
    files: Vec<Located>,
    /// Files that further calls change, so that their commands wait.
    pub(super) awaited: Vec<PathBuf>,
}

impl Edited {
    pub(super) fn add(&mut self, at: &Located) {
        if !self.files.contains(at) {
            self.files.push(at.clone());
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.files.is_empty()
    }

    /// Takes the files that no further call changes.
    fn take_ready(&mut self) -> Vec<Located> {
        let files = std::mem::take(&mut self.files);
        let (later, now) = files.into_iter().partition(|at| {
            let path = at.path();
            self.awaited.iter().any(|awaited| awaited == path)
        });
        self.files = later;
        now
    }
}

/// Whether a command runs.
enum Clearance {
    Runs(Template),
    /// It does not, which the model and the person are told.
    Not(String),
    /// It does not, as was told before.
    Silent,
}

impl Pass<'_> {
    /// Runs what is to run before `call` ends, and adds to its outcome what came of it.
    pub(super) async fn after_edits(
        &mut self,
        call: &ToolCall,
        outcome: &mut Outcome,
    ) -> Result<(), TurnError> {
        let agent = self.agent;
        for at in self.edited.take_ready() {
            for rule in &agent.after_edits.rules {
                if !rule.is_for(at.path(), &agent.workspace) {
                    continue;
                }
                match self.clear(call, rule).await? {
                    Clearance::Runs(template) => {
                        self.after_edit(call, rule, &template, &at, outcome).await;
                    }
                    Clearance::Not(why) => {
                        let text =
                            format!("after_edit `{}` was not run: {why}", rule.command.text());
                        add_line(outcome, &format!("[{text}]"));
                        self.front.events.emit(Event::Notice { text }).await;
                    }
                    Clearance::Silent => {}
                }
            }
        }
        Ok(())
    }

    /// Looks whether the person said yes to a command of the project, and asks the first time.
    ///
    /// What changed while the question stood is asked about again.
    async fn clear(&mut self, call: &ToolCall, rule: &AfterEdit) -> Result<Clearance, TurnError> {
        if !rule.from_project {
            return Ok(Clearance::Runs(rule.command.clone()));
        }
        for _ in 0..MOST_QUESTIONS {
            let content = rule.content(&self.agent.workspace);
            let known = self.cleared_before(rule, content);
            // A yes to what is not written out could not be one to what it runs.
            let counts = |known: &Clearance| {
                rule.command.is_spelled_out() || !matches!(known, Clearance::Runs(_))
            };
            if let Some(known) = known.filter(counts) {
                return Ok(known);
            }
            let clearance = self.ask_about(call, rule, content).await?;
            let is_yes = matches!(clearance, Clearance::Runs(_));
            if !is_yes || rule.content(&self.agent.workspace) == content {
                return Ok(clearance);
            }
        }
        Ok(Clearance::Not("what it would run changes all the time".to_owned()))
    }

    /// Returns what the person said of `content` before.
    fn cleared_before(&self, rule: &AfterEdit, content: ContentHash) -> Option<Clearance> {
        let after_edits = &self.agent.after_edits;
        let answers = after_edits.answers.lock().unwrap_or_else(PoisonError::into_inner);
        match answers.get(&content).cloned() {
            Some(Some(template)) => return Some(Clearance::Runs(template)),
            Some(None) => return Some(Clearance::Silent),
            None => {}
        }
        let consents = after_edits.consents.lock().unwrap_or_else(PoisonError::into_inner);
        consents.hold(content).then(|| Clearance::Runs(rule.command.clone()))
    }

    /// Asks the person about `content`.
    async fn ask_about(
        &mut self,
        call: &ToolCall,
        rule: &AfterEdit,
        content: ContentHash,
    ) -> Result<Clearance, TurnError> {
        let after_edits = &self.agent.after_edits;
        let consents = || after_edits.consents.lock().unwrap_or_else(PoisonError::into_inner);
        let command = rule.command.text().to_owned();
        let effect = Effect::Execute(Execute { command, ..Execute::default() });
        let former = consents().former(&self.place_of(rule));
        if let Some(before) = former {
            let (now, was) = (self.shown(rule), before);
            let text = format!(
                "what runs after edits of `{}` changed since you allowed it:\n- {}\n+ {}",
                rule.glob(),
                was.replace('\n', "\n- "),
                now.replace('\n', "\n+ ")
            );
            self.front.events.emit(Event::Notice { text }).await;
        }
        let verdict = ask_after_edit(rule.glob());
        let title = format!("after_edit {}", rule.command.text());
        let asked = Asked { call: &call.id, title: &title, effect: &effect, verdict: &verdict };
        let decision = self.front.approver.decide(&[asked]).await.pop();
        let decision = decision.unwrap_or(Decision::Unanswered);
        let for_good = matches!(decision, Decision::Accept(Scope::Session | Scope::Workspace));
        match settle(&effect, &verdict, Some(decision)) {
            Settled::Granted { grant: Grant::Execute(execute), by, .. } => {
                self.log_approval(call, Answer::Ask, &by).await?;
                let template = Template::new(&execute.command);
                after_edits.answer(content, template.clone().ok());
                let (place, shown) = (self.place_of(rule), self.shown(rule));
                let is_bound = rule.command.is_spelled_out();
                let kept = if for_good && is_bound {
                    consents().keep(content, &place, &shown)
                } else {
                    Ok(())
                };
                if !is_bound {
                    let text = "the yes holds once: a pattern, a variable or a search path of its own tells what the command runs".to_owned();
                    self.front.events.emit(Event::Notice { text }).await;
                }
                if let Err(error) = kept {
                    let text = format!("the yes holds for this session only: {error}");
                    self.front.events.emit(Event::Notice { text }).await;
                }
                Ok(template.map_or_else(Clearance::Not, Clearance::Runs))
            }
            Settled::Denied { reason, unanswered, stop, .. } => {
                after_edits.answer(content, None);
                if stop {
                    self.given_up = Some("not started: the person ended the turn");
                    self.performed.stop = Some(Stop::Denied);
                }
                Ok(Clearance::Not(if unanswered {
                    "the project's settings name it, and nobody is here to allow it".to_owned()
                } else {
                    reason
                }))
            }
            Settled::Granted { .. } | Settled::Cancelled => {
                Ok(Clearance::Not("cancelled by the person".to_owned()))
            }
        }
    }

    /// Returns what stays the same of a rule while its command changes.
    fn place_of(&self, rule: &AfterEdit) -> String {
        let root = self.agent.workspace.root().to_string_lossy();
        ContentHash::of(format!("{root}\0{}", rule.glob()).as_bytes()).to_string()
    }

    /// Returns what a yes to `rule` is about: its command, and the files that it names.
    fn shown(&self, rule: &AfterEdit) -> String {
        let scripts = rule.scripts(&self.agent.workspace).into_iter();
        let scripts = scripts.map(|(path, hash)| format!("\n{path} with the content {hash}"));
        format!("{}{}", rule.command.text(), scripts.collect::<String>())
    }

    /// Runs a command and takes what it made of the file as a change of the call.
    async fn after_edit(
        &mut self,
        call: &ToolCall,
        rule: &AfterEdit,
        template: &Template,
        at: &Located,
        outcome: &mut Outcome,
    ) {
        let workspace = &self.agent.workspace;
        let command = template.for_file(at.path(), workspace);
        let execute = Execute { command: command.clone(), ..Execute::default() };
        let outputs = self.conversation.session.folder().map(|folder| folder.join("outputs"));
        // A yes to it is one to what it makes of the file, so nothing is left to be decided in a view.
        let wish = self.agent.wish(&execute, outputs.as_deref());
        let wish = wish.map(|wish| Wish { view: false, ..wish });
        let verdict = {
            let effect = Effect::Execute(execute);
            judge(&self.agent.policy_for(&effect), &effect)
        };
        if verdict.answer == Answer::Deny {
            let line = format!("[after_edit `{command}` was not run: {}]", verdict.rule);
            return add_line(outcome, &line);
        }
        // A file that cannot be read any more is not the one that was written.
        let Ok(before) = workspace.read(at, change::LARGEST) else { return };
        let (commands, cancel) = (&self.agent.commands, self.front.cancel);
        let (time, wish) = (rule.timeout, wish.as_ref());
        let ran = after_edit::run(&command, time, workspace, commands, wish, cancel).await;
        self.agent.index.note_activity();
        let adopted = {
            let journal = self.conversation.journal.as_ref();
            let mut journal =
                journal.map(|journal| journal.lock().unwrap_or_else(PoisonError::into_inner));
            change::adopt(workspace, at, before, &call.id, journal.as_deref_mut())
        };
        let (written, made) = match adopted {
            Ok(None) => (None, String::new()),
            Ok(Some(written)) => {
                let made = match (&written.change.after, diff::changed_lines(&written.change)) {
                    (None, _) => "; it removed the file".to_owned(),
                    (Some(_), Some(lines)) => format!("; it changed {lines}"),
                    (Some(_), None) => "; it changed the file".to_owned(),
                };
                (Some(written), made)
            }
            Err(error) => (None, format!("; what it made of the file is not known: {error}")),
        };
        add_line(outcome, &format!("[after_edit `{command}`: {}{made}]", ran.end));
        if !ran.output.is_empty() {
            add_line(outcome, &ran.output);
        }
        let Some(written) = written else { return };
        let excerpt = diff::outcome_excerpt(&written.change);
        if let Some((_, lines)) = excerpt.split_once('\n') {
            add_line(outcome, lines);
        }
        for note in &written.notes {
            add_line(outcome, &format!("[{note}]"));
        }
        let path = at.path().to_string_lossy().into_owned();
        outcome.files.retain(|file| file.path != path);
        outcome.files.push(FileNote { path, hash: written.hash, touch: FileTouch::Written });
        let by = format!("after_edit: {}", template.program());
        self.show(written.change, by).await;
    }
}

fn add_line(outcome: &mut Outcome, line: &str) {
    outcome.text.push_str(if outcome.text.ends_with('\n') { "" } else { "\n" });
    outcome.text.push_str(line);
}
