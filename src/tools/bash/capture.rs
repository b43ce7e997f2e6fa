//! The output of a running command: cleaned, kept for the model, saved, shown.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::event::{Event, EventSink};
use crate::message::CallId;
use crate::sandbox::{OutputReceiver, SandboxError, Spill, Spilled};
use crate::tools::Context;
use crate::tools::clean::{Cleaner, Remarks};
use crate::tools::clip::{Budget, Ends};
use crate::tools::hidden::Hidden;

/// How often the screen gets more.
const FRAME: Duration = Duration::from_millis(50);

/// How much the screen gets at once; what came before it in a frame is skipped, and said to be.
const FRAME_BYTES: usize = 8 * 1024;

/// Takes the output of one command.
pub(super) struct Capture {
    cleaner: Cleaner,
    hidden: Hidden,
    ends: Ends,
    spill: Option<Spill>,
    screen: Arc<Screen>,
    clean: String,
}

/// What there was of an output.
pub(super) struct Captured {
    pub(super) ends: Ends,
    pub(super) remarks: Remarks,
    pub(super) whole: Whole,
}

/// Where all of an output is.
pub(super) enum Whole {
    /// In what is kept.
    Kept,
    Saved(Spilled),
    NotSaved(SandboxError),
    /// The session keeps no files.
    Nowhere,
}

impl Capture {
    pub(super) fn new(cx: &Context<'_>) -> Capture {
        Capture {
            cleaner: Cleaner::default(),
            hidden: Hidden::new(&cx.commands.own_keys),
            ends: Ends::new(Budget::COMMAND.within(cx.allowance)),
            spill: cx.outputs.map(|folder| Spill::new(folder, "bash")),
            screen: Arc::default(),
            clean: String::new(),
        }
    }

    /// Returns the way to the screen.
    pub(super) fn screen(&self) -> Arc<Screen> {
        Arc::clone(&self.screen)
    }

    /// Ends the output.
    pub(super) async fn finish(mut self) -> Captured {
        self.clean.clear();
        let remarks = self.cleaner.finish(&mut self.clean);
        self.hidden.finish(&mut self.clean);
        self.ends.push(&self.clean);
        self.screen.add(&self.clean);
        let whole = match self.spill {
            _ if self.ends.is_whole() => Whole::Kept,
            Some(mut spill) => {
                spill.push(self.clean.as_bytes()).await;
                spill.finish().await.map_or_else(Whole::NotSaved, Whole::Saved)
            }
            None => Whole::Nowhere,
        };
        Captured { ends: self.ends, remarks, whole }
    }
}

#[async_trait]
impl OutputReceiver for Capture {
    async fn receive(&mut self, bytes: &[u8]) {
        self.clean.clear();
        self.cleaner.push(bytes, &mut self.clean);
        self.hidden.pass(&mut self.clean);
        self.ends.push(&self.clean);
        self.screen.add(&self.clean);
        if let Some(spill) = &mut self.spill {
            spill.push(self.clean.as_bytes()).await;
        }
    }
}

/// What the screen has still to show. It never makes a command wait.
#[derive(Default)]
pub(super) struct Screen {
    pending: Mutex<Pending>,
    changed: Notify,
}

#[derive(Default)]
struct Pending {
    text: String,
    skipped: usize,
    closed: bool,
}

impl Screen {
    /// Adds text, dropping the oldest beyond what a frame can show.
    fn add(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let from = text.ceil_char_boundary(text.len().saturating_sub(FRAME_BYTES));
        pending.skipped += from;
        pending.text.push_str(&text[from..]);
        let surplus = pending.text.len().saturating_sub(FRAME_BYTES);
        if surplus > FRAME_BYTES {
            let at = pending.text.ceil_char_boundary(surplus);
            pending.text.drain(..at);
            pending.skipped += at;
        }
        drop(pending);
        self.changed.notify_one();
    }

    /// Tells [`Screen::show`] that nothing more comes.
    pub(super) fn close(&self) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_one();
    }

    /// Sends what is added on to `events`, a frame at a time, until it is closed.
    pub(super) async fn show(&self, events: &dyn EventSink, call: &CallId) {
        loop {
            self.changed.notified().await;
            if !self.is_closed() {
                // Whatever comes meanwhile goes with it, and the end need not wait.
                tokio::select! {
                    () = tokio::time::sleep(FRAME) => {}
                    () = self.closed() => {}
                }
            }
            let (delta, closed) = self.take();
            if !delta.is_empty() {
                events.emit(Event::CallOutput { call: call.clone(), delta }).await;
            }
            if closed {
                return;
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    async fn closed(&self) {
        while !self.is_closed() {
            self.changed.notified().await;
        }
    }

    /// Returns what is to be shown now, and whether that was the last.
    fn take(&self) -> (String, bool) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut pending.text);
        let surplus = text.len().saturating_sub(FRAME_BYTES);
        let mut skipped = std::mem::take(&mut pending.skipped);
        if surplus > 0 || skipped > 0 {
            // Begin with a whole line.
            let from = text.ceil_char_boundary(surplus);
            let line =
                memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(from, |n| from + n + 1);
            skipped += line;
            text.replace_range(..line, &format!("[... {skipped} bytes not shown ...]\n"));
        }
        (text, pending.closed)
    }
}
