//! Headless front end: one event per line on stdout, for programs.

use std::fmt::Write as _;
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
    /// Why nothing more could be written.
    failure: Mutex<Option<std::io::Error>>,
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `out`; cancels the turn when nobody reads any more.
    pub fn new(out: W, cancel: CancellationToken) -> JsonLines<W> {
        JsonLines { out: Mutex::new(out), cancel, failure: Mutex::new(None) }
    }

    /// Takes why events could not be written; a reader that went away is no failure.
    pub fn failure(&self) -> Option<std::io::Error> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe)
    }
}

#[async_trait]
impl<W: Write + Send> EventSink for JsonLines<W> {
    async fn emit(&self, event: Event) {
        if matches!(event, Event::CallArriving { .. }) {
            return;
        }
        let Ok(line) = serde_json::to_string(&event) else { return };
        let mut line = escaped(line);
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
            self.cancel.cancel();
        }
    }
}

/// Writes what acts or hides as JSON's escapes, for the case that a terminal shows the line. Only
/// strings hold such characters.
fn escaped(line: String) -> String {
    let acts = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if !line.contains(acts) {
        return line;
    }
    let mut out = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        if acts(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").ok();
            }
        } else {
            out.push(character);
        }
    }
    out
}
