//! The loop: next step, ask, perform.

mod ask;
mod compact;
mod confine;
mod conversation;
mod leads;
mod meter;
mod perform;
mod step;
mod watch;

pub use compact::Compacted;
pub use conversation::Conversation;
pub use leads::Leads;
pub use perform::{AfterEdits, Performed};
pub use step::{Step, next_step};

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::approval::{
    Approver, Binding, Bound, Consent, Decision, Effect, Policy, Rules, Scope, Unreadable, rules,
};
use crate::event::{Event, EventSink, Stop};
use crate::index::Index;
use crate::message::{Finish, Message, ToolSpec};
use crate::prompt::instructions;
use crate::provider::{Provider, ProviderError, Window, WindowSource};
use crate::session::{Record, SessionError};
use crate::tools::{CommandOptions, Entry};
use crate::workspace::{Workspace, clean};
pub use watch::Patience;
use watch::Place;

/// The front end as the loop sees it.
#[derive(Clone, Copy)]
pub struct Frontend<'a> {
    pub events: &'a dyn EventSink,
    pub approver: &'a dyn Approver,
    pub cancel: &'a CancellationToken,
}

/// Limits of a turn.
#[derive(Clone, Debug)]
pub struct Options {
    /// Requests in one turn.
    pub max_requests: u32,
    /// US dollars in one session, where the server tells the cost.
    pub max_cost: Option<f64>,
    pub patience: Patience,
}

/// What ends a turn that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The conversation was compacted, and the server says again that it is too long.
    #[error("{0}; and that after its older part was replaced by a summary")]
    StillTooLong(ProviderError),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    pub stop: Stop,
    /// The text of the last reply.
    pub text: String,
    /// Paths as shown, in the order they were first written.
    pub changed_files: Vec<String>,
    /// Titles of calls that were denied because nobody was there to ask.
    pub denied_calls: Vec<String>,
    /// Whether something that a command changed was refused, or could not be kept.
    pub left_out: bool,
}

/// Everything a turn needs but the conversation itself.
pub struct Agent {
    pub provider: Box<dyn Provider>,
    pub tools: Vec<Entry>,
    pub workspace: Workspace,
    /// Of the workspace's root.
    pub index: Arc<Index>,
    /// Shared with the front end, since the person changes the mode at any time.
    pub policy: Arc<Mutex<Policy>>,
    pub commands: CommandOptions,
    /// What runs after a file was written.
    pub after_edits: AfterEdits,
    /// What guarded names lead to.
    pub leads: Leads,
    /// Where a rule goes that the person wants kept; nowhere keeps it for the session.
    pub keep_rule: Option<KeepRule>,
    pub options: Options,
}

/// Stores that exactly these words are allowed in this workspace, as far as they are bound to, and
/// returns all rules since.
pub type KeepRule = Box<dyn Fn(&[String], &Binding) -> Result<Rules, String> + Send + Sync>;

impl Agent {
    /// Returns what the model is told of the tools, in the order it sees them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Takes the person's words, then asks and performs until nothing is asked for.
    ///
    /// # Errors
    /// A provider that stays down and a log that cannot be written. Everything else is an
    /// outcome or a [`Stop`].
    pub async fn turn(
        &self,
        conversation: &mut Conversation,
        prompt: String,
        front: Frontend<'_>,
    ) -> Result<TurnEnd, TurnError> {
        conversation.settle_all()?;
        conversation.begin_turn();
        let (prompt, tags) = clean::without_tags(&prompt).unwrap_or((prompt, 0));
        if tags > 0 {
            let text = format!(
                "{tags} invisible characters of the Unicode tag block were left out of your message: \
                 they can hide instructions"
            );
            front.events.emit(Event::Notice { text }).await;
        }
        conversation.append(Record::Message { message: Message::user(prompt) })?;
        conversation.session.sync()?;
        self.run(conversation, front).await
    }

    /// Goes on with a turn that broke off or stopped at a limit.
    ///
    /// A call that had started gets the outcome "interrupted"; the others are offered again.
    pub async fn go_on(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
    ) -> Result<TurnEnd, TurnError> {
        conversation.settle_started()?;
        if conversation.repeats() {
            conversation.append(Record::note(
                "The person lets you go on. You made the same call three times with the same \
                 result: do something else.",
            ))?;
        }
        self.run(conversation, front).await
    }

    async fn run(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
    ) -> Result<TurnEnd, TurnError> {
        front.events.emit(Event::TurnStarted).await;
        let mut end = TurnEnd {
            stop: Stop::EndTurn,
            text: String::new(),
            changed_files: Vec::new(),
            denied_calls: Vec::new(),
            left_out: false,
        };
        let stop = self.steps(conversation, front, &mut end).await;
        for event in conversation.watch.finish(&self.place(conversation)).await {
            front.events.emit(event).await;
        }
        end.stop = *stop.as_ref().unwrap_or(&Stop::EndTurn);
        if stop.is_ok() {
            front.events.emit(ended(&end)).await;
        }
        stop.map(|_| end)
    }

    /// Returns how many tokens the model reads, as far as anybody has told; `None` where nothing
    /// limits them.
    pub fn window(&self, conversation: &Conversation) -> Option<Window> {
        match conversation.window(self.provider.model()) {
            Some(tokens) => Some(Window { tokens, source: WindowSource::Refusal }),
            None => self.provider.window(),
        }
    }

    /// Returns what a look at the workspace needs.
    fn place(&self, conversation: &Conversation) -> Place {
        Place { workspace: self.workspace.clone(), journal: conversation.journal.clone() }
    }

    async fn steps(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
        end: &mut TurnEnd,
    ) -> Result<Stop, TurnError> {
        let mut requests = 0;
        loop {
            match next_step(conversation.session.records()) {
                Step::Perform(calls) => {
                    let calls = calls.into_iter().cloned().collect();
                    let performed = self.perform(conversation, calls, front).await?;
                    self.load_nested_instructions(conversation, front).await?;
                    let stop = performed.stop;
                    performed.add_to(end);
                    if let Some(stop) = stop {
                        return Ok(stop);
                    }
                }
                _ if front.cancel.is_cancelled() => return Ok(Stop::Cancelled),
                Step::Done => return Ok(Stop::EndTurn),
                Step::Ask if conversation.repeats() => return Ok(Stop::Repetition),
                Step::Ask if requests == self.options.max_requests => {
                    return Ok(Stop::RequestLimit);
                }
                Step::Ask if conversation.spent() >= self.options.max_cost.unwrap_or(f64::MAX) => {
                    return Ok(Stop::CostLimit);
                }
                Step::Ask => {
                    requests += 1;
                    let Some(reply) = self.ask(conversation, front).await? else {
                        return Ok(Stop::Cancelled);
                    };
                    end.text.clone_from(&reply.text);
                    if reply.text.is_empty() && reply.calls.is_empty() {
                        conversation.spend(reply.usage)?;
                        return Ok(match reply.finish {
                            Finish::Refused => Stop::Refused,
                            Finish::Length => Stop::TokenLimit,
                            Finish::Complete | Finish::Cancelled => Stop::Empty,
                        });
                    }
                    let (finish, calls) = (reply.finish, reply.calls.len());
                    conversation.append(Record::Message { message: Message::Assistant(reply) })?;
                    match finish {
                        Finish::Refused if calls == 0 => return Ok(Stop::Refused),
                        Finish::Length if calls == 0 => return Ok(Stop::TokenLimit),
                        Finish::Refused | Finish::Length | Finish::Complete | Finish::Cancelled => {
                        }
                    }
                }
            }
        }
    }

    /// Tells the model of instruction files in folders that its calls touched first just now.
    async fn load_nested_instructions(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
    ) -> Result<(), TurnError> {
        let rules = Arc::clone(&self.policy().rules);
        let unreadable = Unreadable::unnamed(rules, self.workspace.root());
        let is_kept = |path: &Path| unreadable.holds(path);
        for path in conversation.take_touched() {
            let known = conversation.known_instructions();
            let found = instructions::nested(&self.workspace, &path, known, &is_kept);
            let Some(found) = found else { continue };
            for text in found.notes {
                front.events.emit(Event::Notice { text }).await;
            }
            if !found.loaded.is_empty() {
                let text = format!("Instructions for the folder you now work in:\n{}", found.text);
                let instructions = found.loaded;
                conversation.append(Record::Note { text, to_model: true, instructions })?;
            }
        }
        Ok(())
    }

    /// Keeps what the person's answer allows beyond this one question; why not, if it cannot.
    fn remember(&self, effect: &Effect, decision: Option<&Decision>) -> Option<String> {
        let Some(Decision::Accept(scope @ (Scope::Session | Scope::Workspace))) = decision else {
            return None;
        };
        let policy = || self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        match effect {
            Effect::Write(_) => policy().changes_allowed = true,
            Effect::Execute(execute) => {
                let (command, binding) = (execute.command.clone(), *execute.binding);
                if binding.to == Bound::Once {
                    return Some(format!("a yes to `{command}` holds once"));
                }
                let words = rules::offered(&command);
                let kept = match (&self.keep_rule, words) {
                    (Some(keep), Some(words)) if *scope == Scope::Workspace => {
                        Some(keep(&words, &binding))
                    }
                    _ => None,
                };
                let consent = Consent { command, binding };
                match kept {
                    Some(Ok(rules)) => policy().rules = Arc::new(rules),
                    Some(Err(why)) => {
                        policy().commands_allowed.push(consent);
                        return Some(format!("the rule holds for this session only: {why}"));
                    }
                    None => policy().commands_allowed.push(consent),
                }
            }
            Effect::Read(_) => {}
        }
        None
    }

    /// Returns the policy as it is now, its rules knowing where links lead.
    fn policy(&self) -> Policy {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone();
        policy.rules.look_for_links(&self.workspace);
        policy
    }
}

fn ended(end: &TurnEnd) -> Event {
    Event::TurnEnded {
        stop: end.stop,
        text: end.text.clone(),
        changed_files: end.changed_files.clone(),
        denied_calls: end.denied_calls.clone(),
    }
}
