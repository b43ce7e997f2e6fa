//! The hidden sub-commands: a process that confines itself and becomes a command, and the guard.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use super::confine::inside;
use super::guard;

/// The word that makes this program the helper.
pub(super) const WORD: &str = "__sandbox";

/// The word that makes this program the guard.
pub(super) const GUARD: &str = "__guard";

/// Runs the helper or the guard if `arguments` ask for it. Nothing else may be done before.
pub fn dispatch(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = arguments.nth(1)?;
    if word != WORD && word != GUARD {
        return None;
    }
    let control = number(&mut arguments)?.try_into().ok()?;
    if word == WORD {
        inside::run(control);
        // Only a helper that could not do its work comes here.
        return Some(ExitCode::from(inside::FAILED));
    }
    let process = number(&mut arguments)?;
    let limit = number(&mut arguments);
    guard::run(control, process, limit, Path::new(&arguments.next()?));
    Some(ExitCode::SUCCESS)
}

fn number(arguments: &mut impl Iterator<Item = OsString>) -> Option<u64> {
    arguments.next()?.into_string().ok()?.parse().ok()
}
