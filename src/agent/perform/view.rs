//! What a command left in its copy-on-write view: decided like any change, written if accepted.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ready::Ready;
use super::{MAX_PROPOSALS, Pass, TurnError};
use crate::approval::{
    Answer, Bars, Decision, Execute, Grant, Settled, barred, is_of_home, is_protected, judge,
    settle,
};
use crate::change::Change;
use crate::change::diff;
use crate::change::view::{self, Decides, Layer, Seen};
use crate::event::{Event, Stop};
use crate::message::{Outcome, Status, ToolCall};
use crate::sandbox::View;
use crate::tools::{self, Prepared, ToolError};
use crate::workspace::{FOLDER_MODE, Located};

/// Most paths that one line names.
const MOST_NAMED: usize = 40;

/// What became of the changes of one command.
#[derive(Default)]
struct Told {
    written: Vec<String>,
    /// Each with what the person said of it.
    refused: Vec<String>,
    unanswered: Vec<String>,
    /// Against a rule, or impossible, each with the reason.
    not_written: Vec<String>,
    remarks: Vec<String>,
    /// Files that are now just as the command left them, with what they hold.
    whole: Vec<(Located, Arc<[u8]>)>,
    /// Folders that may be removed, when what they hold is.
    folders: Vec<(String, Prepared, Grant)>,
    cancelled: bool,
}

/// What became of one change.
enum Settlement {
    Over,
    /// The file is not what it was: to be decided again.
    Stale(Change),
}

impl Pass<'_> {
    /// Has what the command of `call` left decided and writes what was accepted; tells it in `outcome`.
    pub(super) async fn settle_view(
        &mut self,
        call: &ToolCall,
        title: &str,
        left: &View,
        outcome: &mut Outcome,
    ) -> Result<(), TurnError> {
        let layers = left.layers.iter();
        let layers: Vec<Layer<'_>> =
            layers.map(|layer| Layer { root: &layer.root, upper: &layer.upper }).collect();
        let policy = self.agent.policy();
        let barred = barred(&policy, &Execute::default());
        let bars = Bars::new(&barred);
        let protects = |below: &Path| {
            let starts = |path: &Path| is_of_home(path, policy.ground.home.as_deref());
            is_protected(below) || layers.iter().any(|layer| starts(&layer.root.join(below)))
        };
        let spelled_out = barred.spelled_out().into_iter().filter(|(_, bar)| bar.guards);
        let spelled_out: Vec<PathBuf> = spelled_out.map(|(path, _)| path).collect();
        let decides = Decides {
            protects: &protects,
            guards: &|path, is_folder| bars.of(path, is_folder).guards,
            has_rules: !bars.is_empty(),
            spelled_out: &spelled_out,
            left_before: &self.conversation.left_before,
        };
        let seen = view::read(&self.agent.workspace, &layers, left.since, decides);
        if seen.is_empty() {
            return Ok(());
        }
        if outcome.status == Status::Cancelled || self.front.cancel.is_cancelled() {
            outcome.status = Status::Cancelled;
            add(outcome, "nothing that it changed in the workspace was kept");
            return Ok(());
        }
        let mut told = Told::default();
        let mut open = seen.changes.clone();
        for round in 0..MAX_PROPOSALS {
            open = self.decide_changes((call, title), open, &mut told, round).await?;
            if open.is_empty() {
                break;
            }
        }
        let busy = |change: Change| format!("{}: somebody else writes it", change.at.shown());
        told.not_written.extend(open.into_iter().map(busy));
        for (at, _) in &told.whole {
            view::keep_time(&self.agent.workspace, &layers, at);
        }
        if !told.cancelled {
            self.keep_outputs(&seen, &mut told);
        }
        self.remove_folders(call, &seen, &mut told).await;
        let built = left.layers.iter().any(|layer| !layer.through.is_empty());
        tell(outcome, &told, &seen, built);
        self.performed.left_out |=
            !told.not_written.is_empty() || !seen.left.is_empty() || seen.too_much.is_some();
        self.settle_status(&told, outcome);
        for text in told.notices(&seen) {
            self.front.events.emit(Event::Notice { text }).await;
        }
        Ok(())
    }

    /// Has `changes` decided together and writes them in order. Returns those to be decided anew.
    async fn decide_changes(
        &mut self,
        of: (&ToolCall, &str),
        changes: Vec<Change>,
        told: &mut Told,
        round: usize,
    ) -> Result<Vec<Change>, TurnError> {
        let group: Vec<Ready> =
            changes.into_iter().map(|change| self.proposed(of, change)).collect();
        let decisions = self.decide(&group).await;
        let words = |decision: &Option<Decision>| {
            matches!(decision, Some(Decision::Reject { words: Some(_) }))
        };
        let has_words = decisions.iter().any(words);
        let mut stale = Vec::new();
        for (ready, decision) in group.into_iter().zip(decisions) {
            if let Settlement::Stale(change) =
                self.carry_out_change(ready, decision, has_words, told).await?
            {
                stale.push(change);
            }
        }
        if told.cancelled || self.given_up.is_some() || round + 1 == MAX_PROPOSALS {
            return Ok(stale);
        }
        let mut again = Vec::new();
        for change in stale {
            let shown = change.at.shown();
            match view::on_present(&self.agent.workspace, &change) {
                Ok(Some(present)) => again.push(told.explained(present, &change)),
                Ok(None) => {
                    told.remarks.push(format!("{shown}: somebody else made the same change"));
                }
                Err(why) => told.not_written.push(format!("{shown}: {why}")),
            }
        }
        Ok(again)
    }

    /// Judges a change that the command of a call would make.
    fn proposed(&self, (call, title): (&ToolCall, &str), change: Change) -> Ready {
        let prepared = tools::proposed(change);
        let mut verdict = judge(&self.agent.policy_for(&prepared.effect), &prepared.effect);
        if verdict.answer == Answer::Ask {
            let command = title.strip_prefix("run ").unwrap_or(title);
            verdict.rule = format!("by `{command}`; {}", verdict.rule);
        }
        Ready { call: call.clone(), prepared, verdict }
    }

    /// Settles one change and writes it if it may be.
    async fn carry_out_change(
        &mut self,
        ready: Ready,
        decision: Option<Decision>,
        has_words: bool,
        told: &mut Told,
    ) -> Result<Settlement, TurnError> {
        let Ready { call, prepared, verdict } = ready;
        let title = prepared.title.clone();
        if let Some(text) = self.agent.remember(&prepared.effect, decision.as_ref()) {
            self.front.events.emit(Event::Notice { text }).await;
        }
        let words = match &decision {
            Some(Decision::Reject { words }) => words.clone(),
            _ => None,
        };
        match settle(&prepared.effect, &verdict, decision) {
            Settled::Cancelled => told.cancelled = true,
            Settled::Denied { by, unanswered, stop, .. } => {
                self.log_approval(&call, verdict.answer, &by).await?;
                if unanswered {
                    self.performed.denied_calls.push(title.clone());
                    told.unanswered.push(title);
                } else if verdict.answer == Answer::Deny {
                    told.not_written.push(format!("{title}: {}", verdict.rule));
                } else {
                    let said = words.map(|words| format!("; they say: {words}"));
                    told.refused.push(title + &said.unwrap_or_default());
                    self.given_up =
                        Some("not started: the person rejected what an earlier call changed");
                    if stop && !has_words {
                        self.performed.stop = Some(Stop::Denied);
                    }
                }
            }
            Settled::Granted { grant, by, remarks, .. } => {
                let answer =
                    if verdict.answer == Answer::Ask { Answer::Ask } else { Answer::Allow };
                self.log_approval(&call, answer, &by).await?;
                self.conversation.session.sync()?;
                let Grant::Write(decided) = &grant else { return Ok(Settlement::Over) };
                let proposal = decided.change().clone();
                if proposal.after.is_none() && proposal.mode == Some(FOLDER_MODE) {
                    told.folders.push((summary(&title, &proposal), prepared, grant));
                    return Ok(Settlement::Over);
                }
                let written = match self.conversation.open_journal() {
                    Err(error) => Err(ToolError::Failed(format!(
                        "it could not be recorded for undo: {error}"
                    ))),
                    Ok(()) => self.run_action(&call, prepared, grant).await,
                };
                match written {
                    Ok(output) => {
                        let path = proposal.at.shown();
                        let remarks = remarks.into_iter().map(|remark| format!("{path}: {remark}"));
                        told.remarks.extend(remarks);
                        match output.change {
                            Some(change) => {
                                let after =
                                    change.after.clone().filter(|_| change.after == proposal.after);
                                told.whole.extend(after.map(|after| (change.at.clone(), after)));
                                told.written.push(summary(&title, &change));
                                self.show(change, by).await;
                            }
                            None => told.written.push(title),
                        }
                    }
                    Err(ToolError::Stale { .. }) => return Ok(Settlement::Stale(proposal)),
                    Err(error) => told.not_written.push(format!("{title}: {error}")),
                }
            }
        }
        Ok(Settlement::Over)
    }

    /// Makes new folders, keeps ignored files, and removes folders that are empty by now.
    fn keep_outputs(&mut self, seen: &Seen, told: &mut Told) {
        let workspace = &self.agent.workspace;
        for output in &seen.outputs {
            match view::keep(workspace, output) {
                Ok(()) => self.conversation.left_before.note(output),
                Err(error) => told.not_written.push(format!("an ignored file: {error}")),
            }
        }
    }

    /// Removes folders: what was in them is removed by now, as far as it may be.
    async fn remove_folders(&mut self, call: &ToolCall, seen: &Seen, told: &mut Told) {
        let emptied: &[PathBuf] = if told.cancelled { &[] } else { &seen.emptied };
        view::remove_emptied(&self.agent.workspace, emptied);
        for (title, prepared, grant) in std::mem::take(&mut told.folders) {
            let removed = match self.conversation.open_journal() {
                Ok(()) => self.run_action(call, prepared, grant).await,
                Err(error) => Err(ToolError::Failed(error.to_string())),
            };
            match removed {
                Ok(_) => told.written.push(title),
                Err(error) => told.not_written.push(format!("{title}: {error}")),
            }
        }
        // Those that held one of these.
        view::remove_emptied(&self.agent.workspace, emptied);
    }

    /// Makes the call a denied or cancelled one where that is what became of its changes.
    fn settle_status(&mut self, told: &Told, outcome: &mut Outcome) {
        if told.cancelled {
            outcome.status = Status::Cancelled;
            self.given_up = Some("cancelled by the person before it was started");
        } else if !told.unanswered.is_empty() || told.written.is_empty() && !told.refused.is_empty()
        {
            outcome.status = Status::Denied;
        }
    }
}

impl Told {
    /// Says of a file that is to go, and that somebody changed after it was moved, where it is without that.
    fn explained(&self, mut present: Change, change: &Change) -> Change {
        let (Some(before), None) = (&change.before, &change.after) else { return present };
        let moved = self.whole.iter().find(|(_, after)| *after == before.bytes);
        if let Some((to, _)) = moved.filter(|_| !before.bytes.is_empty()) {
            let to = to.shown();
            present
                .notes
                .push(format!("`{to}` has what it held before, and not what is new in it"));
        }
        present
    }

    /// Returns what the person should know and no question told.
    fn notices(&self, seen: &Seen) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(why) = &seen.too_much {
            notices.push(format!("nothing that the command changed was kept: {why}"));
        }
        let left = seen.left.iter().map(|left| format!("{} ({})", left.path, left.why));
        let left: Vec<String> = left.collect();
        if !left.is_empty() {
            notices.push(format!("not kept of what the command changed: {}", listed(&left, ", ")));
        }
        if !self.unanswered.is_empty() {
            let what = listed(&self.unanswered, ", ");
            notices.push(format!("not written, since nobody was there to ask: {what}"));
        }
        notices
    }
}

/// Says in a line what was written.
fn summary(title: &str, change: &Change) -> String {
    let diff = diff::diff(change);
    let lines = match (&change.after, diff.added, diff.removed) {
        (None, ..) | (_, 0, 0) => None,
        (_, added, removed) => Some(format!("+{added} -{removed} lines")),
    };
    let facts: Vec<String> = lines.into_iter().chain(change.notes.iter().cloned()).collect();
    if facts.is_empty() { title.to_owned() } else { format!("{title}: {}", facts.join("; ")) }
}

/// Adds to `outcome` what became of what the command changed.
fn tell(outcome: &mut Outcome, told: &Told, seen: &Seen, built: bool) {
    if !told.written.is_empty() {
        add(outcome, &format!("of what it changed was written:\n{}", listed(&told.written, "\n")));
    }
    if !told.refused.is_empty() {
        let what = listed(&told.refused, "\n");
        add(
            outcome,
            &format!(
                "refused by the person and not written:\n{what}\nDo not try to achieve it another \
                 way"
            ),
        );
    }
    if !told.unanswered.is_empty() {
        let what = listed(&told.unanswered, "\n");
        add(
            outcome,
            &format!(
                "not written, since it needs a person's yes and nobody is here to ask:\n{what}\nDo \
                 not try to achieve it another way; say in your answer what was left undone"
            ),
        );
    }
    if !told.not_written.is_empty() {
        add(outcome, &format!("not written:\n{}", listed(&told.not_written, "\n")));
    }
    if !seen.left.is_empty() {
        let left = seen.left.iter().map(|left| format!("{}: {}", left.path, left.why));
        let left: Vec<String> = left.collect();
        let what = listed(&left, "\n");
        add(
            outcome,
            &format!(
                "not kept, since the copy-on-write view cannot carry it:\n{what}\nWhat needs it \
                 takes `access`: `unsandboxed`, with `why`"
            ),
        );
    }
    if let Some(why) = &seen.too_much {
        add(
            outcome,
            &format!(
                "nothing that it changed was kept: {why}, which is too much to look at. Do less at \
                 once, or let the person decide with `access`: `unsandboxed`, with `why`"
            ),
        );
    }
    for remark in &told.remarks {
        add(outcome, remark);
    }
    if told.cancelled {
        add(outcome, "the review was cancelled; what is left of it was dropped");
    }
    if built && (!told.refused.is_empty() || !told.unanswered.is_empty()) {
        add(outcome, "build outputs may have been made from what was not written");
    }
}

fn add(outcome: &mut Outcome, text: &str) {
    outcome.text.push_str(if outcome.text.ends_with('\n') { "" } else { "\n" });
    write!(outcome.text, "[{text}]").unwrap_or_default();
}

/// Joins `items`, of which only so many are named.
fn listed(items: &[String], between: &str) -> String {
    let mut text = items.iter().take(MOST_NAMED).cloned().collect::<Vec<String>>().join(between);
    if items.len() > MOST_NAMED {
        write!(text, "{between}and {} more", items.len() - MOST_NAMED).unwrap_or_default();
    }
    text
}
