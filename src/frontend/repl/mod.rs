//! The prompt loop: plain scrollback above a live input area; one task owns keys and screen, also while a turn runs.

mod command;
mod complete;
mod decode;
mod desk;
mod dialog;
mod editor;
mod figures;
mod help;
mod history;
mod keys;
mod link;
mod pick;
mod plain;
mod screen;
mod status;
mod terminal;
mod transcript;

pub use decode::Decoder;
pub use editor::{Edited, Editor, Layout, Origin, Row, Written};
pub use plain::{Lines, run_plain};
pub use screen::{Frame, Screen};
pub use terminal::{End, Input, Size, Terminal, Tty};
pub use transcript::Detail;

use std::path::PathBuf;

use super::Host;
use super::style::Theme;
use desk::Desk;
use link::Link;

/// How the loop is to be.
#[derive(Clone, Debug, Default)]
pub struct ReplOptions {
    /// The first message, sent at once. Prefixes in it never act.
    pub prompt: Option<String>,
    /// Where earlier inputs are kept; nowhere if there is none.
    pub history: Option<PathBuf>,
    pub version: &'static str,
    pub theme: Theme,
    pub detail: Detail,
    /// Whether both ends are a terminal that can move its cursor; else lines are read and printed.
    pub capable: bool,
}

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// The person left.
    Quit,
    /// SIGTERM asked for it; the terminal is restored.
    Terminated,
    /// The terminal is gone.
    Hangup,
}

/// Runs the loop until the person leaves.
///
/// # Errors
/// The terminal cannot be taken or written to.
pub async fn run(host: &dyn Host, options: ReplOptions) -> anyhow::Result<ExitKind> {
    if !options.capable {
        return plain::run(host, options).await;
    }
    let mut terminal = Tty::new()?;
    run_on(&mut terminal, host, options).await
}

/// Runs the loop on `terminal`.
///
/// # Errors
/// The terminal cannot be taken or written to.
pub async fn run_on(
    terminal: &mut dyn Terminal,
    host: &dyn Host,
    options: ReplOptions,
) -> anyhow::Result<ExitKind> {
    let link = Link::default();
    terminal.take()?;
    let exit = Desk::new(terminal, host, &link, options).run().await;
    terminal.give_back();
    Ok(exit)
}
