//! What commands change in the workspace: looked for beside the model's thinking, never before a request.
//!
//! A look is taken while the first reply of a turn is awaited, and another while the reply after
//! a command is; what differs is told. A look that is not complete when a command is to run is
//! given up. Only where no look was complete before, a command waits a little: without one nobody
//! would hear of what it changes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::change::{Change, Journal, diff};
use crate::event::{CommandChange, Event};
use crate::index::snapshot::{Cut, Limits};
use crate::index::sweep::{Found, Kind, Look, Own, Swept};
use crate::message::CallId;
use crate::workspace::Workspace;

const RUNNING: u8 = 0;
const DONE: u8 = 1;
const GIVEN_UP: u8 = 2;

/// How long the model thinks before a look begins: a look is for the time that is idle anyway.
const THINKING: Duration = Duration::from_millis(50);

/// Changes of one sweep that are recorded, with their earlier bytes, to be taken back.
const MAX_RECORDED: usize = 100;

/// How long a command waits for a look at the workspace that is under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    /// The first of a turn, which nothing may have looked before: a reply may be there at once.
    pub first: Duration,
    /// Any other. Zero outside of tests.
    pub later: Duration,
}

/// What a look needs of the program around it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) workspace: Workspace,
    pub(super) journal: Option<Arc<Mutex<Journal>>>,
}

/// The last look at the workspace, and the one under way.
#[derive(Default)]
pub(super) struct Watch {
    look: Option<Arc<Look>>,
    /// Whether the look is of an earlier turn: the person may have changed files since.
    stale: bool,
    /// The last command that no look has followed yet.
    due: Option<CallId>,
    own: Own,
    /// Files whose bytes are to be kept.
    to_keep: Vec<PathBuf>,
    task: Option<Task>,
    /// Whether it is given up, since looking takes too long here.
    off: bool,
    /// Whether a command of this turn waited in vain.
    waited: bool,
    said: Said,
}

/// What was said once and is not said again.
#[derive(Default)]
struct Said {
    /// Only a part is looked at.
    cut: bool,
    /// A command came before the first look.
    unseen: bool,
}

/// A look under way. When it is dropped, it ends soon and comes to nothing.
struct Task {
    state: Arc<AtomicU8>,
    handle: JoinHandle<Option<Done>>,
    /// Whether its end was waited for, and what it came to.
    is_over: bool,
    result: Option<Done>,
    /// The command whose changes it finds.
    due: Option<CallId>,
    /// What had been written when it began.
    own: Own,
    /// What it was to keep.
    seen: Vec<PathBuf>,
}

struct Done {
    look: Look,
    swept: Option<Event>,
}

impl Task {
    /// Waits for its end. May be dropped at any time and called again.
    async fn wait(&mut self) {
        if !self.is_over {
            self.result = (&mut self.handle).await.ok().flatten();
            self.is_over = true;
        }
    }

    /// Gives it up; false if it is complete already.
    fn give_up(&self) -> bool {
        let (from, to) = (RUNNING, GIVEN_UP);
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Watch {
    /// Begins a turn: what is known of the files is to be renewed.
    pub(super) fn begin_turn(&mut self) {
        self.give_up();
        (self.stale, self.waited) = (true, false);
    }

    /// Has the bytes of `paths` kept at the next look.
    pub(super) fn keep(&mut self, paths: Vec<PathBuf>) {
        if !self.off {
            self.to_keep.extend(paths);
        }
    }

    /// Takes note of what a tool of Snick's wrote.
    pub(super) fn wrote(&mut self, path: &Path, bytes: Option<Arc<[u8]>>) {
        if !self.off {
            self.own.insert(path.to_owned(), bytes);
        }
    }

    /// Makes ready for a command, which waits no longer than `patience` for a look under way.
    pub(super) async fn before_command(&mut self, place: &Place, patience: Patience) -> Vec<Event> {
        let is_first = (self.stale || self.look.is_none()) && !self.waited;
        let patience = if is_first { patience.first } else { patience.later };
        if !patience.is_zero() {
            self.start(place);
        }
        let mut events = Vec::new();
        if let Some(task) = &mut self.task {
            let in_time =
                !patience.is_zero() && tokio::time::timeout(patience, task.wait()).await.is_ok();
            if !in_time && task.give_up() {
                self.give_up();
            } else {
                events = self.settle().await;
            }
        }
        if self.stale {
            self.look = None;
        }
        let in_vain = !patience.is_zero() && self.look.is_none() && !self.off;
        self.waited |= in_vain;
        if in_vain && !self.said.unseen {
            self.said.unseen = true;
            events.push(notice(
                "what this command changes is not shown and cannot be taken back: it came before \
                 the workspace was looked through",
            ));
        }
        events
    }

    /// Takes note that a command ran.
    pub(super) fn after_command(&mut self, call: &CallId) {
        self.due = Some(call.clone());
    }

    /// Goes on looking and returns what is found; waits for ever when there is nothing to do.
    pub(super) async fn progress(&mut self, place: &Place) -> Vec<Event> {
        if self.task.is_none() {
            // The request goes out first, and a reply that is there at once is not burdened.
            tokio::time::sleep(THINKING).await;
            self.start(place);
        }
        match &mut self.task {
            Some(task) => task.wait().await,
            None => std::future::pending().await,
        }
        self.settle().await
    }

    /// Finds what the last commands of a turn changed.
    pub(super) async fn finish(&mut self, place: &Place) -> Vec<Event> {
        let mut events = Vec::new();
        while self.task.as_ref().map_or(&self.due, |task| &task.due).is_some() && !self.off {
            self.start(place);
            events.extend(self.settle().await);
        }
        events
    }

    /// Starts a look, if one is needed and none is under way.
    fn start(&mut self, place: &Place) {
        let whole = self.due.is_some() || self.stale || self.look.is_none();
        if self.off || self.task.is_some() || (!whole && self.to_keep.is_empty()) {
            return;
        }
        let state = Arc::new(AtomicU8::new(RUNNING));
        let work = Work {
            whole,
            old: self.look.clone(),
            due: self.due.take(),
            // Only a whole look sees what was written.
            own: if whole { std::mem::take(&mut self.own) } else { Own::new() },
            seen: std::mem::take(&mut self.to_keep),
            state: state.clone(),
            place: place.clone(),
        };
        let (due, own, seen) = (work.due.clone(), work.own.clone(), work.seen.clone());
        let handle = tokio::task::spawn_blocking(move || work.run());
        self.task = Some(Task { state, handle, is_over: false, result: None, due, own, seen });
    }

    /// Ends the look under way without a result. What it was to find is still to be found.
    fn give_up(&mut self) {
        if let Some(mut task) = self.task.take() {
            let later = std::mem::take(&mut self.own);
            self.own = std::mem::take(&mut task.own);
            self.own.extend(later);
            self.to_keep.append(&mut task.seen);
            self.due = self.due.take().or(task.due.take());
        }
    }

    /// Takes the result of the look under way, waiting for its end.
    async fn settle(&mut self) -> Vec<Event> {
        let Some(task) = &mut self.task else { return Vec::new() };
        task.wait().await;
        let (done, was_due) = (task.result.take(), task.due.is_some());
        self.task = None;
        let mut events = Vec::new();
        let Some(Done { look, swept }) = done else { return events };
        if look.snapshot.cut == Some(Cut::Time) {
            self.look = None;
            if was_due {
                self.off = true;
                events.push(notice(
                    "changes by commands are not shown: looking through this workspace takes too \
                     long",
                ));
            }
            return events;
        }
        if was_due && look.snapshot.cut == Some(Cut::Files) && !self.said.cut {
            self.said.cut = true;
            events.push(notice(&format!(
                "changes by commands are looked for in the first {} files only; this workspace \
                 has more",
                look.snapshot.len()
            )));
        }
        self.stale = false;
        self.look = Some(Arc::new(look));
        events.extend(swept);
        events
    }
}

fn notice(text: &str) -> Event {
    Event::Notice { text: text.to_owned() }
}

/// What a look does, on a thread of its own.
struct Work {
    whole: bool,
    old: Option<Arc<Look>>,
    due: Option<CallId>,
    own: Own,
    seen: Vec<PathBuf>,
    state: Arc<AtomicU8>,
    place: Place,
}

impl Work {
    fn run(self) -> Option<Done> {
        let workspace = &self.place.workspace;
        let cancelled = || self.state.load(Ordering::Acquire) == GIVEN_UP;
        let old = self.old.as_deref();
        let look = match old {
            Some(old) if !self.whole => old.keeping(workspace, self.seen.clone()),
            _ => {
                let seen = self.seen.clone();
                Look::take(workspace, Limits::default(), old, seen, &cancelled)
            }
        };
        let swept = match (old, &self.due) {
            (Some(old), Some(call)) if look.snapshot.cut != Some(Cut::Time) => {
                Some((call, look.changes_since(old, &self.own)))
            }
            _ => None,
        };
        let (from, to) = (RUNNING, DONE);
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).ok()?;
        let cut = look.snapshot.cut.is_some();
        let swept = swept.and_then(|(call, swept)| self.told(call, &swept, cut));
        Some(Done { look, swept })
    }

    /// Records what was found and makes the event of it; nothing if there is nothing.
    fn told(&self, call: &CallId, swept: &Swept, cut: bool) -> Option<Event> {
        if swept.changes.is_empty() {
            return None;
        }
        if let Some(journal) = &self.place.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            for found in swept.changes.iter().take(MAX_RECORDED) {
                // What cannot be recorded is shown all the same; it cannot be taken back then.
                if journal.record_by_command(call, found).is_err() {
                    break;
                }
            }
        }
        let workspace = &self.place.workspace;
        let changes = swept.changes.iter().map(|found| shown(workspace, found)).collect();
        Some(Event::CommandChanges { call: call.clone(), changes, more: swept.more, cut })
    }
}

/// Returns a found change as front ends show it.
fn shown(workspace: &Workspace, found: &Found) -> CommandChange {
    let Found { path, kind, before, after } = found;
    let at = workspace.locate_path(path).ok().filter(|at| at.path() == *path);
    let bare = path.strip_prefix(workspace.start()).unwrap_or(path);
    let name = at.as_ref().map_or_else(|| bare.display().to_string(), |at| at.shown().to_owned());
    let known = match kind {
        Kind::Created => after.is_some(),
        Kind::Modified => before.is_some() && after.is_some(),
        Kind::Deleted => before.is_some(),
        Kind::Mode { .. } => false,
    };
    let change = at.filter(|_| known).map(|at| {
        let after = after.as_ref().map(|image| image.bytes.clone());
        Box::new(Change { at, before: before.clone(), after, mode: None, notes: Vec::new() })
    });
    let model = change.as_deref().map(diff::diff);
    let octal = |mode: u32| format!("{mode:03o}");
    CommandChange {
        path: name,
        kind: match kind {
            Kind::Created => "created",
            Kind::Modified => "modified",
            Kind::Deleted => "deleted",
            Kind::Mode { .. } => "mode",
        },
        diff: change.as_deref().map(diff::unified),
        added: model.as_ref().map_or(0, |model| model.added),
        removed: model.as_ref().map_or(0, |model| model.removed),
        modes: match kind {
            Kind::Mode { before, after } => Some([octal(*before), octal(*after)]),
            Kind::Created | Kind::Modified | Kind::Deleted => None,
        },
        change,
    }
}
