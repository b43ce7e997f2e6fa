//! What is known of the files, where it is kept, and making it anew.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::app::setup::{Background, Setup};
use crate::app::{Exit, print};
use crate::cli::IndexCommand;
use crate::frontend::sanitise;
use crate::index::Status;
use crate::index::files::table::Tally;
use crate::index::layers::Progress;
use crate::index::snapshot::Cut;

/// How often progress is told on a terminal, and where it goes into a file.
const OFTEN: Duration = Duration::from_millis(100);
const SELDOM: Duration = Duration::from_secs(2);
/// Characters of a bar.
const WIDTH: u64 = 30;

/// Does what is asked of the index.
pub(super) fn run(setup: &Setup, command: &IndexCommand) -> anyhow::Result<Exit> {
    // A command that ends at once leaves nothing running.
    let index = setup.index(Background::None);
    let root = || format!("`{}` cannot be listed", index.root().display());
    match command {
        IndexCommand::Search(asked) => return super::search::run(setup, asked),
        IndexCommand::Symbols { query, kind, path } => {
            return super::symbols::symbols(setup, query.clone(), kind.as_deref(), path.as_deref());
        }
        IndexCommand::Map { tokens, files } => return super::symbols::map(setup, *tokens, files),
        IndexCommand::Status => {
            let status = index.status(&|| false).with_context(root)?;
            print(&told(&status))?;
        }
        IndexCommand::Rebuild => {
            let began = Instant::now();
            let teller = Teller::new();
            let table = index.rebuild(&|progress| teller.tell(progress), &|| false);
            teller.end();
            let n_files = table.with_context(root)?.len();
            print(&format!("{n_files} files in {}\n", seconds(began.elapsed())))?;
        }
        IndexCommand::Rm => {
            let folder = index.folder().context("nothing is kept of this workspace")?;
            index.remove()?;
            print(&format!(
                "removed {}\n",
                sanitise::visible_line(&folder.path().to_string_lossy())
            ))?;
        }
        IndexCommand::Files { all, null } => {
            let table = index.refresh(&|| false).with_context(root)?;
            let start = setup.workspace.start().strip_prefix(index.root()).unwrap_or("".as_ref());
            let start = start.as_os_str().as_bytes();
            let skip = if start.is_empty() { 0 } else { start.len() + 1 };
            let mut text = Vec::new();
            for file in table.beneath(start).filter(|file| *all || file.flags.is_usual()) {
                text.extend_from_slice(&file.path[skip..]);
                text.push(if *null { 0 } else { b'\n' });
            }
            std::io::stdout().lock().write_all(&text)?;
            let notes = notes(table.tally());
            if !notes.is_empty() {
                let mut out = std::io::stderr().lock();
                notes.iter().try_for_each(|note| writeln!(out, "snick: {note}"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Says what a status holds.
fn told(status: &Status) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        writeln!(text, "{name:<10}{}", sanitise::visible_line(&value)).ok();
    };
    let Status { files, folders, bytes, took, .. } = status;
    line("workspace", status.root.display().to_string());
    line("files", format!("{files} in {folders} folders, {}", size(*bytes)));
    line("looked at", format!("all of them in {}", seconds(*took)));
    for note in notes(status.tally) {
        line("note", note);
    }
    if let Some(folder) = &status.folder {
        line("kept in", folder.display().to_string());
    }
    if status.kept.is_empty() {
        line("kept", "nothing yet".to_owned());
    }
    for (name, bytes) in &status.kept {
        line("kept", format!("{name}, {}", size(*bytes)));
    }
    if let Some(age) = status.age {
        line("age", seconds(age));
    }
    line("all", format!("{} of at most {}", size(status.all), size(status.cap)));
    text
}

/// Says what a listing could not cover.
fn notes(tally: Tally) -> Vec<String> {
    let mut notes = Vec::new();
    match tally.cut {
        Some(Cut::Files) => {
            notes.push("there are more files than are listed outside of a repository".to_owned());
        }
        Some(Cut::Time) => {
            notes.push("the time was up before all files were listed".to_owned());
        }
        None => {}
    }
    if tally.unreadable > 0 {
        notes.push(format!("{} folders could not be read", tally.unreadable));
    }
    if tally.too_deep > 0 {
        notes.push(format!("not opened, as too deep: {} folders", tally.too_deep));
    }
    notes
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{} ms", time.as_millis()),
        seconds @ 10..600 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// Tells on stderr how far a build is: a bar on a terminal, else a line now and then.
struct Teller {
    is_terminal: bool,
    state: Mutex<Told>,
}

struct Told {
    layer: &'static str,
    last: Option<Instant>,
}

impl Teller {
    fn new() -> Teller {
        let is_terminal = std::io::stderr().is_terminal();
        Teller { is_terminal, state: Mutex::new(Told { layer: "files", last: None }) }
    }

    fn tell(&self, progress: Progress) {
        let mut told = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match progress {
            Progress::Listed { files } => format!("{files} files listed"),
            Progress::Began { layer } => {
                told.layer = layer;
                return;
            }
            Progress::Read { done, total } => {
                let pause = if self.is_terminal { OFTEN } else { SELDOM };
                if told.last.is_some_and(|last| last.elapsed() < pause) {
                    return;
                }
                let share = (done.min(total) * WIDTH).checked_div(total).unwrap_or(WIDTH);
                let bar = (0..WIDTH).map(|place| if place < share { '#' } else { '.' });
                let bar: String = bar.collect();
                format!("{} {bar} {} of {}", told.layer, size(done), size(total))
            }
        };
        told.last = Some(Instant::now());
        let (before, after) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        // Nobody misses progress where stderr is gone.
        write!(std::io::stderr(), "{before}{text}{after}").ok();
    }

    /// Takes the bar away.
    fn end(&self) {
        if self.is_terminal {
            write!(std::io::stderr(), "\r\x1b[K").ok();
        }
    }
}
