//! Headless front end: one event per line on stdout, for programs.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::event::{Event, EventSink};

/// Writes each event as one JSON line.
pub struct JsonLines<W> {
    out: Mutex<W>,
    /// Cancelled when the reader has gone.
    cancel: CancellationToken,
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `out`; cancels the turn when nobody reads any more.
    pub fn new(out: W, cancel: CancellationToken) -> JsonLines<W> {
        JsonLines { out: Mutex::new(out), cancel }
    }
}

#[async_trait]
impl<W: Write + Send> EventSink for JsonLines<W> {
    async fn emit(&self, event: Event) {
        if matches!(event, Event::CallArriving { .. }) {
            return;
        }
        let Ok(mut line) = serde_json::to_vec(&event) else { return };
        line.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            self.cancel.cancel();
        }
    }
}
