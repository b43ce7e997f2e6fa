//! What ties a running turn to the loop that owns the screen: its events and its questions, in order.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::sync::oneshot;

use crate::approval::Approver;
use crate::approval::Asked;
use crate::approval::Decision;
use crate::approval::Effect;
use crate::approval::Verdict;
use crate::event::Event;
use crate::event::EventSink;
use crate::message::CallId;

/// Messages that may wait to be shown; then the turn waits.
const WAITING: usize = 64;
/// Bytes up to which waiting deltas are merged.
const MERGED: usize = 64 << 10;

/// Something the turn has for the person.
#[derive(Debug)]
pub(super) enum Message {
    Event(Event),
    Question(Question),
}

/// Actions that need an answer, and where it goes.
#[derive(Debug)]
pub(super) struct Question {
    pub asked: Vec<OwnedAsked>,
    pub answer: oneshot::Sender<Vec<Decision>>,
}

/// An [`Asked`] that owns its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnedAsked {
    pub call: CallId,
    pub title: String,
    pub effect: Effect,
    pub verdict: Verdict,
}

impl OwnedAsked {
    /// Returns the question as others read it.
    pub(super) fn borrowed(&self) -> Asked<'_> {
        let OwnedAsked { call, title, effect, verdict } = self;
        Asked { call, title, effect, verdict }
    }
}

impl From<&Asked<'_>> for OwnedAsked {
    fn from(asked: &Asked<'_>) -> OwnedAsked {
        OwnedAsked {
            call: asked.call.clone(),
            title: asked.title.to_owned(),
            effect: asked.effect.clone(),
            verdict: asked.verdict.clone(),
        }
    }
}

/// A bounded queue from the turn to the screen. While it is full the turn waits; deltas merge.
#[derive(Debug, Default)]
pub(super) struct Link {
    queue: Mutex<VecDeque<Message>>,
    arrived: Notify,
    room: Notify,
}

impl Link {
    /// Waits for the next message. Nothing is lost when the wait is given up.
    pub(super) async fn next(&self) -> Message {
        loop {
            let arrived = self.arrived.notified();
            if let Some(message) = self.take() {
                return message;
            }
            arrived.await;
        }
    }

    /// Returns the next message, if one is there.
    pub(super) fn take(&self) -> Option<Message> {
        let message = self.locked().pop_front();
        if message.is_some() {
            self.room.notify_one();
        }
        message
    }

    async fn send(&self, message: Message) {
        let mut message = Some(message);
        loop {
            let room = self.room.notified();
            if let Some(unsent) = message.take() {
                message = self.offer(unsent);
            }
            if message.is_none() {
                self.arrived.notify_one();
                return;
            }
            room.await;
        }
    }

    /// Adds `message`, or gives it back when there is no room.
    fn offer(&self, message: Message) -> Option<Message> {
        let mut queue = self.locked();
        let message = match queue.back_mut() {
            Some(last) => merged(last, message)?,
            None => message,
        };
        if queue.len() >= WAITING {
            return Some(message);
        }
        queue.push_back(message);
        None
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a delta to the `last` one of its kind; gives back what cannot be merged.
fn merged(last: &mut Message, message: Message) -> Option<Message> {
    let (Message::Event(last), Message::Event(event)) = (last, &message) else {
        return Some(message);
    };
    let (into, more) = match (last, event) {
        (Event::Text { delta: into }, Event::Text { delta })
        | (Event::Reasoning { delta: into }, Event::Reasoning { delta }) => (into, delta),
        (Event::CallOutput { call: of, delta: into }, Event::CallOutput { call, delta })
            if of == call =>
        {
            (into, delta)
        }
        _ => return Some(message),
    };
    if into.len() + more.len() > MERGED {
        return Some(message);
    }
    into.push_str(more);
    None
}

#[async_trait]
impl EventSink for Link {
    async fn emit(&self, event: Event) {
        self.send(Message::Event(event)).await;
    }
}

#[async_trait]
impl Approver for Link {
    async fn decide(&self, asked: &[Asked<'_>]) -> Vec<Decision> {
        let (answer, answered) = oneshot::channel();
        let owned = asked.iter().map(OwnedAsked::from).collect();
        self.send(Message::Question(Question { asked: owned, answer })).await;
        // The loop drops a question only when the turn is cancelled.
        let cancelled = || vec![Decision::Cancelled; asked.len()];
        answered.await.unwrap_or_else(|_| cancelled())
    }
}
