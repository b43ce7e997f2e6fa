//! When a key may answer: never by accident.

use std::time::Duration;

/// How long nothing must have been typed before a key is an answer.
const PAUSE: Duration = Duration::from_millis(500);

/// Says whether a key may answer a question.
///
/// `since_last_key` is the time since the last key before it, whatever that was for; `None` when
/// there was none. Nothing answers while the input holds text, and pasted text never does.
pub fn may_answer(input_empty: bool, since_last_key: Option<Duration>, is_paste: bool) -> bool {
    input_empty && !is_paste && since_last_key.is_none_or(|since| since >= PAUSE)
}
