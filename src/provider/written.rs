//! What is written once and sent with every request: the beginning of the body.

use std::sync::{Mutex, PoisonError};

use crate::message::ToolSpec;

use super::{Encoded, Request};

/// Room for the short fields at the end of a body.
const FIELDS: usize = 512;

/// The unchanging part of the requests of a session, for as long as system text and tools are the same.
pub(super) struct Written<T> {
    kept: Mutex<Option<Kept<T>>>,
}

struct Kept<T> {
    system: String,
    tools: Vec<ToolSpec>,
    part: T,
}

impl<T> Default for Written<T> {
    fn default() -> Written<T> {
        Written { kept: Mutex::new(None) }
    }
}

impl<T> Written<T> {
    /// Calls `use_part` with the part for `request`; `write` writes it where it is not at hand.
    pub(super) fn with<R>(
        &self,
        request: &Request<'_>,
        write: impl FnOnce() -> T,
        use_part: impl FnOnce(&T) -> R,
    ) -> R {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &Kept<T>| kept.system == request.system && kept.tools == request.tools;
        let known = kept.take().filter(is_same).unwrap_or_else(|| Kept {
            system: request.system.to_owned(),
            tools: request.tools.to_vec(),
            part: write(),
        });
        use_part(&kept.insert(known).part)
    }

    /// Forgets the part, since it is to be written otherwise from now on.
    pub(super) fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns a body that begins with `head` and has room for `messages` and `more` bytes.
pub(super) fn begun(head: &str, messages: &[Encoded], more: usize) -> Vec<u8> {
    let length = messages.iter().map(|Encoded(text)| text.len() + 1).sum::<usize>();
    let mut body = Vec::with_capacity(head.len() + length + more + FIELDS);
    body.extend_from_slice(head.as_bytes());
    body
}
