//! The calls of one reply, in order: prepared, judged, perhaps decided, run; one outcome each.

mod after_edit;
mod kept_back;
mod ready;
mod running;
mod view;

pub use after_edit::AfterEdits;

use std::collections::{HashSet, VecDeque};

use futures_util::future::join_all;

use after_edit::Edited;
use ready::{Ready, only_looks};

use super::{Agent, Conversation, Frontend, TurnEnd, TurnError};
use crate::approval::{Answer, Asked, Decision, Effect, Grant, Scope, Settled, judge_call, settle};
use crate::change::Change;
use crate::change::diff;
use crate::event::{Event, Stop};
use crate::message::{Message, Outcome, Status, ToolCall, ToolResult};
use crate::sandbox::View;
use crate::session::Record;
use crate::tools::{Output, Prepare, Prepared, ToolError};
use crate::workspace::name;

/// How many calls of one reply are run.
const MOST_CALLS: usize = 128;

/// How often a change is proposed anew because its file changed under the person's eyes.
const MAX_PROPOSALS: usize = 3;

/// What performing some calls came to.
#[derive(Debug, Default)]
pub struct Performed {
    /// Set when the turn must end here.
    pub stop: Option<Stop>,
    /// Paths as shown, as they were written.
    pub changed_files: Vec<String>,
    /// Titles of calls that nobody was there to allow.
    pub denied_calls: Vec<String>,
    /// Whether something that a command changed was refused, or could not be kept.
    pub left_out: bool,
}

impl Performed {
    pub(super) fn add_to(self, end: &mut TurnEnd) {
        for path in self.changed_files {
            if !end.changed_files.contains(&path) {
                end.changed_files.push(path);
            }
        }
        end.denied_calls.extend(self.denied_calls);
        end.left_out |= self.left_out;
    }
}

/// One pass over the open calls of a reply.
struct Pass<'a> {
    agent: &'a Agent,
    conversation: &'a mut Conversation,
    front: Frontend<'a>,
    open: VecDeque<ToolCall>,
    performed: Performed,
    /// Why the remaining calls are not even tried.
    given_up: Option<&'static str>,
    /// The person said yes to the other changes of this reply.
    changes_accepted: bool,
    edited: Edited,
    /// Bytes that each outcome may have at the most.
    allowance: Option<usize>,
    /// What the last command left in its view.
    left: Option<View>,
    /// How often a command was asked about once more.
    asked_again: usize,
}

impl Agent {
    /// Performs `calls`, the open ones of the last reply, and logs one outcome for each.
    pub async fn perform(
        &self,
        conversation: &mut Conversation,
        calls: Vec<ToolCall>,
        front: Frontend<'_>,
    ) -> Result<Performed, TurnError> {
        let performed = Performed::default();
        let mut calls = calls;
        let beyond = calls.split_off(calls.len().min(MOST_CALLS));
        let allowance = self.allowance(conversation, calls.len());
        let open = calls.into();
        let (given_up, changes_accepted, edited, left) = (None, false, Edited::default(), None);
        let agent = self;
        let mut pass = Pass {
            agent,
            conversation,
            front,
            open,
            performed,
            given_up,
            changes_accepted,
            edited,
            allowance,
            left,
            asked_again: 0,
        };
        pass.run().await?;
        for call in beyond {
            let text = format!("not run: it comes after {MOST_CALLS} calls in one reply");
            pass.finish(&call, Outcome::new(Status::Failed, text)).await?;
        }
        let mut performed = pass.performed;
        if front.cancel.is_cancelled() {
            performed.stop = Some(Stop::Cancelled);
        }
        Ok(performed)
    }
}

impl Pass<'_> {
    async fn run(&mut self) -> Result<(), TurnError> {
        while let Some(call) = self.open.pop_front() {
            if self.front.cancel.is_cancelled() {
                self.given_up = Some("cancelled by the person before it was started");
            }
            if let Some(why) = self.given_up {
                self.finish(&call, Outcome::new(Status::Cancelled, why)).await?;
                continue;
            }
            self.asked_again = 0;
            let Some(ready) = self.prepare(call).await? else { continue };
            match &ready.prepared.effect {
                Effect::Read(_) if ready.is_free_read() => self.read_together(ready).await?,
                Effect::Write(_) => self.change_together(ready).await?,
                Effect::Read(_) | Effect::Execute(_) => {
                    let decision = self.decide(std::slice::from_ref(&ready)).await.pop().flatten();
                    self.carry_out(ready, decision).await?;
                }
            }
        }
        Ok(())
    }

    /// Prepares the call; one that cannot be prepared is answered at once.
    async fn prepare(&mut self, call: ToolCall) -> Result<Option<Ready>, TurnError> {
        match self.try_prepare(&call).await {
            Ok(prepared) => Ok(Some(self.announce(call, prepared).await)),
            Err(error) => {
                let (title, effect) = (call.name.clone(), "none");
                let event = Event::CallStarted { call: call.clone(), title, effect };
                self.front.events.emit(event).await;
                self.finish(&call, failed(&error)).await?;
                Ok(None)
            }
        }
    }

    async fn announce(&self, call: ToolCall, mut prepared: Prepared) -> Ready {
        let verdict = self.agent.judge(&call.name, &mut prepared.effect);
        let (title, effect) = (prepared.title.clone(), prepared.effect.name());
        let event = Event::CallStarted { call: call.clone(), title, effect };
        self.front.events.emit(event).await;
        Ready { call, prepared, verdict }
    }

    /// Finds the tool, parses the arguments and lets the tool check them.
    async fn try_prepare(&self, call: &ToolCall) -> Result<Prepared, ToolError> {
        let tools = &self.agent.tools;
        let Some((spec, tool)) = tools.iter().find(|(spec, _)| spec.name == call.name) else {
            let names: Vec<&str> = tools.iter().map(|(spec, _)| spec.name.as_str()).collect();
            let names = names.join(", ");
            let name = name::shown(&call.name);
            let text = format!("there is no tool `{name}`; the tools are: {names}");
            return Err(ToolError::Failed(text));
        };
        let arguments = call.object().map_err(|error| {
            ToolError::Failed(format!("{error}. Nothing was run; send the call again"))
        })?;
        let (workspace, ledger) = (&self.agent.workspace, &self.conversation.derived.ledger);
        if let Some(why) = self.keeps_back(&arguments) {
            return Err(ToolError::Failed(why));
        }
        tool.prepare(arguments, &Prepare { spec, workspace, ledger }).await
    }

    /// Runs `first` and the reads right after it side by side.
    async fn read_together(&mut self, first: Ready) -> Result<(), TurnError> {
        let mut reads = vec![first];
        while let Some(call) = self.open.front() {
            let Ok(prepared) = self.try_prepare(call).await else { break };
            if !self.reads_freely(&call.name, &prepared) {
                break;
            }
            let Some(call) = self.open.pop_front() else { break };
            reads.push(self.announce(call, prepared).await);
        }
        let runs = reads.into_iter().map(|ready| async {
            let Ready { call, prepared, .. } = ready;
            let outcome = self.run_action(&call, prepared, Grant::Read).await;
            (call, outcome)
        });
        for (call, outcome) in join_all(runs).await {
            let outcome = self.outcome(outcome, &[], "").await;
            self.finish(&call, outcome).await?;
        }
        Ok(())
    }

    fn reads_freely(&self, tool: &str, prepared: &Prepared) -> bool {
        matches!(prepared.effect, Effect::Read(_))
            && judge_call(&self.agent.policy_for(&prepared.effect), tool, &prepared.effect).answer
                == Answer::Allow
    }

    /// Prepares `first` and the changes right after it, each on the result of the one before, has
    /// them decided together and carries them out in order.
    async fn change_together(&mut self, first: Ready) -> Result<(), TurnError> {
        let mut group = vec![];
        let mut next = Some(first);
        while let Some(ready) = next.take() {
            if let Effect::Write(change) = &ready.prepared.effect {
                self.conversation.derived.ledger.propose(change);
            }
            group.push(ready);
            // The next call belongs here if it proposes a change, too; a call that cannot be
            // prepared yet is left to its own turn, since an earlier refusal may be the cause.
            let Some(call) = self.open.front() else { break };
            if let Ok(prepared @ Prepared { effect: Effect::Write(_), .. }) =
                self.try_prepare(call).await
                && let Some(call) = self.open.pop_front()
            {
                next = Some(self.announce(call, prepared).await);
            }
        }
        let decisions = self.decide(&group).await;
        self.conversation.derived.ledger.settle();
        let mut altered = HashSet::new();
        self.edited.awaited = group.iter().filter_map(Ready::changes).collect();
        for (ready, decision) in group.into_iter().zip(decisions) {
            self.edited.awaited.remove(0);
            if let Some(why) = self.given_up {
                self.finish(&ready.call, Outcome::new(Status::Cancelled, why)).await?;
                continue;
            }
            let path = ready.changes();
            let whole = if path.as_ref().is_some_and(|path| altered.contains(path)) {
                // An earlier change of this file was not accepted whole: show this one again.
                self.propose_again(ready.call).await?
            } else {
                self.carry_out(ready, decision).await?
            };
            if let (false, Some(path)) = (whole, path) {
                altered.insert(path);
            }
        }
        Ok(())
    }

    /// Prepares `call` anew, has it decided alone and carries it out; whether it was done whole.
    async fn propose_again(&mut self, call: ToolCall) -> Result<bool, TurnError> {
        let Some(ready) = self.prepare(call).await? else { return Ok(false) };
        let decision = self.decide(std::slice::from_ref(&ready)).await.pop().flatten();
        Box::pin(self.carry_out(ready, decision)).await
    }

    /// Asks about those of `group` that policy asks; one entry for each of the group.
    async fn decide(&mut self, group: &[Ready]) -> Vec<Option<Decision>> {
        let accepted = |ready: &Ready| {
            self.changes_accepted && ready.changes().is_some() && !ready.verdict.always
        };
        let is_question = |ready: &Ready| ready.verdict.answer == Answer::Ask && !accepted(ready);
        let asked = group.iter().filter(|ready| is_question(ready)).map(Ready::asked);
        let asked: Vec<Asked<'_>> = asked.collect();
        let mut decisions = VecDeque::new();
        if !asked.is_empty() {
            decisions.extend(self.front.approver.decide(&asked).await);
        }
        let decisions = group.iter().map(|ready| match ready.verdict.answer {
            Answer::Ask if accepted(ready) => Some(Decision::Accept(Scope::Once)),
            Answer::Ask => Some(decisions.pop_front().unwrap_or(Decision::Unanswered)),
            Answer::Allow | Answer::Deny => None,
        });
        let decisions: Vec<Option<Decision>> = decisions.collect();
        self.changes_accepted |= decisions.contains(&Some(Decision::Accept(Scope::Reply)));
        decisions
    }

    /// Settles one call and runs it if it may; returns whether it was done as proposed.
    async fn carry_out(
        &mut self,
        ready: Ready,
        decision: Option<Decision>,
    ) -> Result<bool, TurnError> {
        if let (Answer::Ask, Some(Decision::Accept(_))) = (ready.verdict.answer, &decision)
            && self.agent.has_changed(&ready.prepared.effect)
        {
            return self.ask_again(ready).await;
        }
        let Ready { call, prepared, verdict } = ready;
        let title = prepared.title.clone();
        if let Some(text) = self.agent.remember(&prepared.effect, decision.as_ref()) {
            self.front.events.emit(Event::Notice { text }).await;
        }
        match settle(&prepared.effect, &verdict, decision) {
            Settled::Cancelled => {
                self.given_up = Some("cancelled by the person before it was started");
                let text = "cancelled by the person; nothing of it was done";
                self.finish(&call, Outcome::new(Status::Cancelled, text)).await?;
                Ok(false)
            }
            Settled::Denied { reason, by, unanswered, stop } => {
                self.log_approval(&call, verdict.answer, &by).await?;
                if unanswered {
                    self.performed.denied_calls.push(prepared.title.clone());
                }
                if verdict.answer == Answer::Ask && !unanswered {
                    self.given_up =
                        Some("not started: the person rejected an earlier call of this reply");
                    self.performed.stop = stop.then_some(Stop::Denied);
                }
                self.finish(&call, Outcome::new(Status::Denied, reason)).await?;
                Ok(false)
            }
            Settled::Granted { grant, by, remarks, altered } => {
                let answer =
                    if verdict.answer == Answer::Ask { Answer::Ask } else { Answer::Allow };
                if !matches!(grant, Grant::Read) {
                    self.log_approval(&call, answer, &by).await?;
                    self.conversation.append(Record::Started { call: call.id.clone() })?;
                    // What only looks leaves nothing in doubt after a crash, and may be run again.
                    if !only_looks(&grant) {
                        self.conversation.session.sync()?;
                    }
                }
                let output = match self.conversation.open_journal() {
                    Err(error) if matches!(grant, Grant::Write(_)) => {
                        Err(ToolError::Failed(format!(
                            "nothing was written, since it could not be recorded for undo: {error}"
                        )))
                    }
                    _ if matches!(grant, Grant::Execute(_)) => {
                        self.run_command(&call, prepared, grant).await
                    }
                    _ => self.run_action(&call, prepared, grant).await,
                };
                if let Err(ToolError::Stale { .. }) = &output
                    && verdict.answer == Answer::Ask
                    && self.proposals_left(&call)
                {
                    return self.propose_again(call).await;
                }
                let mut outcome = self.outcome(output, &remarks, &by).await;
                if let Some(view) = self.left.take() {
                    let settled = self.settle_view(&call, &title, &view, &mut outcome);
                    Box::pin(settled).await?;
                }
                let done = outcome.status == Status::Done;
                self.finish(&call, outcome).await?;
                Ok(done && !altered)
            }
        }
    }

    async fn log_approval(
        &mut self,
        call: &ToolCall,
        verdict: Answer,
        by: &str,
    ) -> Result<(), TurnError> {
        let (by, id) = (by.to_owned(), call.id.clone());
        let record = Record::Approval {
            call: id.clone(),
            verdict: verdict.name().to_owned(),
            by: by.clone(),
        };
        self.conversation.append(record)?;
        self.front.events.emit(Event::Approval { call: id, verdict, by }).await;
        Ok(())
    }

    /// Whether a change whose file was edited meanwhile may be shown once more.
    fn proposals_left(&self, call: &ToolCall) -> bool {
        let records = self.conversation.session.records().iter().rev();
        let recent = records.take_while(|record| {
            !matches!(record, Record::Message { message: Message::Assistant(_) })
        });
        let is_start =
            |record: &&Record| matches!(record, Record::Started { call: id } if *id == call.id);
        recent.filter(is_start).count() < MAX_PROPOSALS
    }

    /// Makes the outcome of what an action gave; a change that was written is shown.
    async fn outcome(
        &mut self,
        output: Result<Output, ToolError>,
        remarks: &[String],
        by: &str,
    ) -> Outcome {
        let output = match output {
            Ok(output) => output,
            Err(error) => return failed(&error),
        };
        if let Some(change) = output.change {
            if change.after.is_some() {
                self.edited.add(&change.at);
            }
            self.show(change, by.to_owned()).await;
        }
        let mut text = output.text;
        for remark in remarks {
            text.push_str(if text.ends_with('\n') { "" } else { "\n" });
            text.extend(["[", remark, "]"]);
        }
        if text.is_empty() {
            text.push_str("[done]");
        }
        Outcome { status: Status::Done, text, files: output.files }
    }

    /// Shows a change that was written.
    async fn show(&mut self, change: Change, by: String) {
        self.conversation.watch.wrote(change.at.path(), change.after.clone());
        if let (Some(sandbox), None) = (&self.agent.commands.sandbox, &change.before) {
            // The new name may be one to protect or to hide.
            sandbox.forget_prepared();
        }
        let path = change.at.shown().to_owned();
        self.performed.changed_files.push(path.clone());
        let model = diff::diff(&change);
        let diff = diff::unified_of(&model);
        let (added, removed) = (model.added, model.removed);
        let change = Box::new(change);
        self.front.events.emit(Event::Change { path, diff, added, removed, by, change }).await;
    }

    async fn finish(&mut self, call: &ToolCall, mut outcome: Outcome) -> Result<(), TurnError> {
        if self.edited.any() {
            Box::pin(self.after_edits(call, &mut outcome)).await?;
        }
        self.without_tags(&mut outcome).await;
        let event = Event::CallFinished { call: call.id.clone(), outcome: outcome.clone() };
        let result = ToolResult { call: call.id.clone(), outcome };
        self.conversation.append(Record::Message { message: Message::Tool(result) })?;
        self.front.events.emit(event).await;
        Ok(())
    }
}

fn failed(error: &ToolError) -> Outcome {
    let status = match error {
        ToolError::Failed(_) | ToolError::Stale { .. } => Status::Failed,
        ToolError::Cancelled(_) => Status::Cancelled,
    };
    Outcome::new(status, error.to_string())
}
