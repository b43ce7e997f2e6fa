//! One turn with nobody to ask: `-p` and `exec`.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use super::program::Program;
use super::setup::{Setup, UsageError};
use super::{Exit, print};
use crate::agent::Frontend;
use crate::approval::{Mode, Nobody};
use crate::event::EventSink;
use crate::frontend::json::JsonLines;
use crate::frontend::print::{Progress, ProgressOptions};

/// Runs one turn of `prompt` and prints its answer, or its events.
pub(super) async fn run(mut setup: Setup, prompt: Option<String>) -> anyhow::Result<Exit> {
    setup.options.print = true;
    let resumes = setup.options.continue_latest || setup.options.resume.is_some();
    if prompt.is_none() && !resumes {
        let text = "there is no prompt: give one as an argument or on stdin";
        return Err(UsageError(text.to_owned()).into());
    }
    let (json, quiet, verbose) = (setup.options.json, setup.options.quiet, setup.options.verbose);
    let color = setup.color(std::io::stderr().is_terminal());
    if setup.config.mode == Mode::Auto && !setup.sandbox.rung().confines() {
        let why = setup.sandbox.why_not_more();
        let text = format!(
            "mode `auto` with nobody to ask needs a sandbox, and there is none ({why}); use \
             `--mode ask`, or `--yolo` where you trust it to do anything"
        );
        return Err(UsageError(text).into());
    }
    let program = Program::open(setup).await?;
    let cancel = CancellationToken::new();
    let lines = json.then(|| JsonLines::new(std::io::stdout(), cancel.clone()));
    let progress = Progress::new(std::io::stderr(), ProgressOptions { color, quiet, verbose });
    let events: &dyn EventSink = lines.as_ref().map_or(&progress, |lines| lines);
    let front = Frontend { events, approver: &Nobody, cancel: &cancel };
    program.announce(front).await;
    let turn = program.run_turn(prompt, front);
    let end = tokio::select! {
        end = turn => end?,
        () = cancelled_by_signals(&cancel) => return Ok(Exit::Interrupted),
    };
    if let Some(error) = lines.as_ref().and_then(JsonLines::failure) {
        return Err(error).context("the events could not be written to stdout");
    }
    if !json && !end.text.is_empty() {
        let newline = if end.text.ends_with('\n') { "" } else { "\n" };
        print(&format!("{}{newline}", end.text))?;
    }
    Ok(Exit::of(end.stop, !end.denied_calls.is_empty() || end.left_out))
}

/// Cancels the turn at a signal, so that it can settle its calls. Returns at the next one: then there is no
/// more patience.
pub(super) async fn cancelled_by_signals(cancel: &CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        cancel.cancel();
    }
}
