//! One reply: what is streamed is shown, what is whole is returned, what went wrong is mended once.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::compact::Reason;
use super::watch::Watch;
use super::{Agent, Conversation, Frontend, TurnError};
use crate::event::Event;
use crate::message::{Finish, Message, Reply, Usage};
use crate::provider::{Chunk, ProviderError, Request};
use crate::session::Record;

/// How long the model thinks before the sandbox is made ready for the next command.
const THINKING: Duration = Duration::from_millis(3);

/// The bytes of a request from which the server is asked how much its model reads.
///
/// What is shorter fits anywhere, and most sessions stay so.
const LOOK_UP: usize = 12_000;

/// How often a reply that is nothing, or whose call its server could not read, is asked for again.
const MOST_CORRECTIONS: u32 = 3;

/// What the model is told after it has answered nothing. It is in no log and no later request.
const NUDGE: &str = "Your reply was empty. Go on with the task: make the next call, or say in words \
                     what was done.";

/// What one request came to.
enum Asked {
    Reply(Reply),
    Cancelled,
    Failed(ProviderError),
}

impl Agent {
    /// Asks the model; `None` when the person cancelled, with the text that had come kept.
    ///
    /// An empty reply is asked for again with a word about it, and so is a call that the model's
    /// own server could not read; of neither is anything kept. A conversation that is too long is
    /// compacted once.
    pub(super) async fn ask(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
    ) -> Result<Option<Reply>, TurnError> {
        let mut corrections = 0;
        let mut compacted = self.make_room(conversation, front).await?;
        let mut word = None;
        loop {
            let asked = self.ask_once(conversation, word.as_deref(), front).await?;
            let why = match asked {
                Asked::Cancelled => return Ok(None),
                Asked::Reply(reply) if is_overflow(&reply) && !compacted => {
                    let reason = Reason::Overflow { window: None };
                    if Box::pin(self.compact(conversation, reason, front)).await?.is_none() {
                        return Ok(Some(reply));
                    }
                    conversation.spend(reply.usage)?;
                    compacted = true;
                    continue;
                }
                Asked::Reply(reply) if is_empty(&reply) && corrections < MOST_CORRECTIONS => {
                    conversation.spend(reply.usage)?;
                    word = Some(NUDGE.to_owned());
                    "the model answered nothing".to_owned()
                }
                Asked::Reply(reply) => return Ok(Some(reply)),
                Asked::Failed(error) if error.is_overflow() => {
                    if compacted {
                        return Err(TurnError::StillTooLong(error));
                    }
                    let reason = Reason::Overflow { window: error.window() };
                    if Box::pin(self.compact(conversation, reason, front)).await?.is_none() {
                        // Where the person has stopped it, that is what happened.
                        return if front.cancel.is_cancelled() {
                            Ok(None)
                        } else {
                            Err(error.into())
                        };
                    }
                    compacted = true;
                    continue;
                }
                Asked::Failed(error) => match error.correction() {
                    Some(correction) if corrections < MOST_CORRECTIONS => {
                        word = Some(correction);
                        error.to_string()
                    }
                    _ => return Err(error.into()),
                },
            };
            corrections += 1;
            front.events.emit(Event::Restarted { why, wait: Duration::ZERO }).await;
        }
    }

    /// Asks once, with a last word of Snick's own where there is one.
    async fn ask_once(
        &self,
        conversation: &mut Conversation,
        word: Option<&str>,
        front: Frontend<'_>,
    ) -> Result<Asked, TurnError> {
        let mut watch = std::mem::take(&mut conversation.watch);
        watch.keep(conversation.take_seen());
        let asked = self.ask_beside(conversation, word, front, &mut watch).await;
        conversation.watch = watch;
        asked
    }

    /// Asks, and looks at the workspace while the reply is awaited.
    async fn ask_beside(
        &self,
        conversation: &mut Conversation,
        word: Option<&str>,
        front: Frontend<'_>,
        watch: &mut Watch,
    ) -> Result<Asked, TurnError> {
        let place = self.place(conversation);
        let prefix = conversation.prefix().cloned();
        let (system, tools) = match &prefix {
            Some(prefix) => (prefix.system.as_str(), prefix.tools.as_slice()),
            None => ("", [].as_slice()),
        };
        let word = word.map(|word| self.provider.encode(&Message::user(word)));
        let outputs = conversation.session.folder().map(|folder| folder.join("outputs"));
        conversation.encode_with(self.provider.as_ref(), word);
        let (bytes, messages) = (conversation.encoded_bytes(), conversation.messages());
        let mut stream = self.provider.stream(Request { system, tools, messages });
        let mut text = String::new();
        let mut sandbox_due = true;
        let is_guess = self.provider.window().is_some_and(|window| !window.is_known());
        // A limit of the cost needs a price.
        let look_up_due = (is_guess && bytes >= LOOK_UP) || self.options.max_cost.is_some();
        let thinking = tokio::time::sleep(THINKING);
        tokio::pin!(thinking);
        loop {
            let chunk = tokio::select! {
                biased;
                () = front.cancel.cancelled() => None,
                chunk = stream.next() => Some(chunk.unwrap_or(Err(ProviderError::Interrupted))),
                () = &mut thinking, if sandbox_due => {
                    sandbox_due = false;
                    self.prepare_sandbox(outputs.clone());
                    continue;
                }
                found = watch.progress(&place) => {
                    for event in found {
                        front.events.emit(event).await;
                    }
                    continue;
                }
            };
            let event = match chunk {
                None => break,
                Some(Ok(Chunk::Done(reply))) => {
                    drop(stream);
                    if look_up_due {
                        // The connection is free now, so that no other is opened for it. It happens
                        // once, and ends by itself if the server does not answer.
                        tokio::select! {
                            () = self.provider.look_up() => {}
                            () = front.cancel.cancelled() => {}
                        }
                    }
                    self.count(conversation, bytes, reply.usage, front).await;
                    return Ok(Asked::Reply(reply));
                }
                Some(Ok(Chunk::Text(delta))) => {
                    text.push_str(&delta);
                    Event::Text { delta }
                }
                Some(Ok(Chunk::Reasoning(delta))) => Event::Reasoning { delta },
                Some(Ok(Chunk::Call(name))) => Event::CallArriving { name },
                Some(Ok(Chunk::Restarted { why, wait })) => {
                    text.clear();
                    Event::Restarted { why, wait }
                }
                Some(Err(error)) => return Ok(Asked::Failed(error)),
            };
            front.events.emit(event).await;
        }
        drop(stream);
        if !text.is_empty() {
            let reply = Reply { finish: Finish::Cancelled, ..Reply::new(text, Vec::new()) };
            conversation.append(Record::Message { message: Message::Assistant(reply) })?;
        }
        Ok(Asked::Cancelled)
    }

    /// Shows what a request has used, and what of it the person should know.
    async fn count(
        &self,
        conversation: &mut Conversation,
        bytes: usize,
        usage: Option<Usage>,
        front: Frontend<'_>,
    ) {
        let Some(usage) = usage else { return };
        front.events.emit(Event::Usage { usage }).await;
        let limited = self.options.max_cost.is_some();
        let model = self.provider.model();
        let window = self.window(conversation);
        for text in conversation.meter.take(model, bytes, &usage, limited, window) {
            front.events.emit(Event::Notice { text }).await;
        }
    }
}

/// Whether the model has answered nothing although nothing kept it from answering.
fn is_empty(reply: &Reply) -> bool {
    reply.text.trim().is_empty() && reply.calls.is_empty() && reply.finish == Finish::Complete
}

/// Whether the conversation left no room for a single token, which some servers call a cut reply.
fn is_overflow(reply: &Reply) -> bool {
    let nothing = reply.text.is_empty() && reply.calls.is_empty();
    let wrote_nothing = reply.usage.is_some_and(|usage| usage.input > 0 && usage.output == 0);
    nothing && reply.finish == Finish::Length && wrote_nothing
}
