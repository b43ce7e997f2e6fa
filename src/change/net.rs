//! What a session's writes come to: each file as it was before the first, and as it is now.

use super::write::LARGEST;
use super::{Change, Journal, JournalError};
use crate::workspace::{FileImage, Workspace};

/// Returns one change for each file that is not as it was before the session's first write of it.
///
/// Files whose earlier bytes were not kept, or that cannot be read now, are left out.
pub fn net_changes(workspace: &Workspace, journal: &Journal) -> Result<Vec<Change>, JournalError> {
    let mut paths = Vec::new();
    let mut changes = Vec::new();
    for entry in journal.entries() {
        let path = entry.path.to_path();
        if paths.contains(&path) {
            continue;
        }
        paths.push(path.clone());
        let before = match &entry.before {
            None => None,
            Some(version) => {
                let Some(bytes) = journal.bytes(version)? else { continue };
                let (hash, mode) = (version.hash, version.mode.unwrap_or(0o644));
                Some(FileImage { bytes: bytes.into(), hash, mode, links: 1 })
            }
        };
        let Ok(at) = workspace.locate_entry(&path) else { continue };
        let after = workspace.read_entry(&at, LARGEST).ok().map(|image| image.bytes);
        if before.as_ref().map(|image| &image.bytes) != after.as_ref() {
            changes.push(Change { at, before, after, mode: None, notes: Vec::new() });
        }
    }
    Ok(changes)
}
