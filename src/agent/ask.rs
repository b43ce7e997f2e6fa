//! One request: what is streamed is shown, what is whole is returned.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::watch::Watch;
use super::{Agent, Conversation, Frontend, TurnError};
use crate::event::Event;
use crate::message::{Finish, Message, Reply};
use crate::provider::{Chunk, ProviderError, Request};
use crate::session::Record;

/// How long the model thinks before the sandbox is made ready for the next command.
const THINKING: Duration = Duration::from_millis(15);

impl Agent {
    /// Asks the model; `None` when the person cancelled, with the text that had come kept.
    pub(super) async fn ask(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
    ) -> Result<Option<Reply>, TurnError> {
        let mut watch = std::mem::take(&mut conversation.watch);
        watch.keep(conversation.take_seen());
        let asked = self.ask_beside(conversation, front, &mut watch).await;
        conversation.watch = watch;
        asked
    }

    /// Asks, and looks at the workspace while the reply is awaited.
    async fn ask_beside(
        &self,
        conversation: &mut Conversation,
        front: Frontend<'_>,
        watch: &mut Watch,
    ) -> Result<Option<Reply>, TurnError> {
        let place = self.place(conversation);
        let prefix = conversation.prefix().cloned();
        let (system, tools) = match &prefix {
            Some(prefix) => (prefix.system.as_str(), prefix.tools.as_slice()),
            None => ("", [].as_slice()),
        };
        let outputs = conversation.session.folder().map(|folder| folder.join("outputs"));
        let messages = conversation.encoded(self.provider.as_ref());
        let mut stream = self.provider.stream(Request { system, tools, messages });
        let mut text = String::new();
        let mut sandbox_due = true;
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
                    if let Some(usage) = reply.usage {
                        front.events.emit(Event::Usage { usage }).await;
                    }
                    return Ok(Some(reply));
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
                Some(Err(error)) => return Err(error.into()),
            };
            front.events.emit(event).await;
        }
        drop(stream);
        if !text.is_empty() {
            let reply = Reply { finish: Finish::Cancelled, ..Reply::new(text, Vec::new()) };
            conversation.append(Record::Message { message: Message::Assistant(reply) })?;
        }
        Ok(None)
    }
}
