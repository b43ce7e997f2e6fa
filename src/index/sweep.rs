//! What changed in the workspace between two looks, apart from what Snick's own tools wrote.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Keepsakes;
use super::snapshot::{Difference, Limits, Snapshot};
use crate::message::ContentHash;
use crate::workspace::{FileImage, Stamp, Workspace};

/// Changes that one sweep tells one by one; the others are counted.
const MAX_CHANGES: usize = 200;

/// The workspace as it was seen at one moment.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub snapshot: Arc<Snapshot>,
    keepsakes: Keepsakes,
}

/// What Snick's own tools left of each file they wrote since a look: its bytes, or nothing.
pub type Own = HashMap<PathBuf, Option<Arc<[u8]>>>;

/// What a sweep found.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    pub changes: Vec<Found>,
    /// Changes beyond those.
    pub more: usize,
}

/// One file that somebody else changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Absolute.
    pub path: PathBuf,
    pub kind: Kind,
    /// As it was, where that was kept.
    pub before: Option<FileImage>,
    /// As it is, where it is not too large.
    pub after: Option<FileImage>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Created,
    Modified,
    Deleted,
    /// Its bytes are the same, its permissions are others.
    Mode {
        before: u32,
        after: u32,
    },
}

impl Look {
    /// Looks at the workspace; `seen` are files whose bytes are to be kept if they can be.
    ///
    /// `before` is an earlier look, whose kept bytes are taken over.
    pub fn take(
        workspace: &Workspace,
        limits: Limits,
        before: Option<&Look>,
        seen: Vec<PathBuf>,
        cancelled: &dyn Fn() -> bool,
    ) -> Look {
        let snapshot = Snapshot::take(workspace, limits, cancelled);
        let mut keepsakes = before.map(|look| look.keepsakes.clone()).unwrap_or_default();
        if !cancelled() {
            let changed = before.map(|before| snapshot.changes_since(&before.snapshot));
            let changed = changed.unwrap_or_default();
            for doubtful in changed.iter().filter(|difference| difference.is_doubtful()) {
                keepsakes.forget(&doubtful.path);
            }
            let changed = changed.into_iter().map(|difference| difference.path);
            let wanted = changed.chain(seen).chain(snapshot.racy());
            keepsakes.refresh(workspace, &snapshot, wanted);
        }
        Look { snapshot: Arc::new(snapshot), keepsakes }
    }

    /// Keeps the bytes of `seen` too, as far as they are still as they were at the look.
    #[must_use]
    pub fn keeping(&self, workspace: &Workspace, seen: Vec<PathBuf>) -> Look {
        let mut look = self.clone();
        for path in seen {
            if let Some(stamp) = look.snapshot.stamp(&path) {
                look.keepsakes.keep(workspace, path, stamp);
            }
        }
        look
    }

    /// Returns what others than Snick's tools changed since `old`.
    pub fn changes_since(&self, old: &Look, own: &Own) -> Swept {
        let mut swept = Swept::default();
        let differences = self.snapshot.changes_since(&old.snapshot);
        let also = own.keys().filter(|path| differences.iter().all(|found| found.path != **path));
        // A file that a tool made since the last look, and that is gone again, differs in nothing.
        let also = also.filter(|path| Stamp::at(path).is_none()).map(|path| Difference {
            path: path.clone(),
            before: None,
            after: None,
        });
        let also: Vec<Difference> = also.collect();
        for difference in differences.into_iter().chain(also) {
            let Some(found) = self.explain(difference, old, own) else { continue };
            if swept.changes.len() < MAX_CHANGES {
                swept.changes.push(found);
            } else {
                swept.more += 1;
            }
        }
        swept
    }

    /// Says what `difference` is, if it is none of Snick's own.
    fn explain(&self, difference: Difference, old: &Look, own: &Own) -> Option<Found> {
        let doubtful = difference.is_doubtful();
        let Difference { path, before: then, after: now } = difference;
        let after = now.and_then(|stamp| self.keepsakes.get(&path, stamp)).cloned();
        let written = own.get(&path);
        let before = match written {
            Some(bytes) => bytes.as_ref().map(|bytes| image(bytes, now.or(then))),
            None => then.and_then(|stamp| old.keepsakes.get(&path, stamp)).cloned(),
        };
        let existed = written.map_or(then.is_some(), Option::is_some);
        let same_bytes = match (&before, &after) {
            (Some(before), Some(after)) => Some(before.hash == after.hash),
            _ => None,
        };
        let kind = match (existed, now) {
            (false, None) => return None,
            (false, Some(_)) => Kind::Created,
            (true, None) => Kind::Deleted,
            (true, Some(now)) => match (same_bytes, then) {
                (Some(true), Some(then)) => mode_change(then, now)?,
                (Some(true), None) => return None,
                // What cannot be compared has most likely not changed.
                (None, _) if doubtful => return None,
                (None, Some(then)) if is_mode_only(then, now) => mode_change(then, now)?,
                (Some(false) | None, _) => Kind::Modified,
            },
        };
        Some(Found { path, kind, before, after })
    }
}

fn image(bytes: &Arc<[u8]>, stamp: Option<Stamp>) -> FileImage {
    let mode = stamp.map_or(0o644, |stamp| stamp.permissions());
    FileImage { bytes: bytes.clone(), hash: ContentHash::of(bytes), mode, links: 1 }
}

/// Whether the two stamps tell of other permissions and of nothing else.
fn is_mode_only(then: Stamp, now: Stamp) -> bool {
    then.mode != now.mode
        && (then.size, then.modified, then.inode) == (now.size, now.modified, now.inode)
}

fn mode_change(then: Stamp, now: Stamp) -> Option<Kind> {
    let (before, after) = (then.permissions(), now.permissions());
    (before != after).then_some(Kind::Mode { before, after })
}
