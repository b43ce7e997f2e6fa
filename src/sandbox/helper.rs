//! The hidden sub-command: a process that confines itself, waits for a command and becomes it.

use std::ffi::OsString;
use std::process::ExitCode;

use super::confine::inside;

/// The word that makes this program the helper.
pub(super) const WORD: &str = "__sandbox";

/// Runs the helper if `arguments` ask for it. Nothing else may be done before.
pub fn dispatch(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)? != WORD {
        return None;
    }
    let control = arguments.next()?.into_string().ok()?.parse().ok()?;
    inside::run(control);
    // Only a helper that could not do its work comes here.
    Some(ExitCode::from(inside::FAILED))
}
