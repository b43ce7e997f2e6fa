//! What was done about protected names while nobody could hear of it, kept to be said at the next start.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::aftermath::{Fate, Guarded};
use super::system;
use crate::workspace::name::quoted;
use crate::workspace::own;

/// Most names that are said.
const MOST_SAID: usize = 5;

/// Most notes that are looked at.
const MOST_NOTES: usize = 1000;

/// Most bytes of one.
const MOST_BYTES: u64 = 1 << 20;

/// What is to be said of one command.
#[derive(Serialize, Deserialize)]
struct Note {
    workspace: OsString,
    text: String,
}

/// Keeps in `folder` what became of what is `guarded` in `workspace`.
pub(super) fn keep(folder: &Path, workspace: &OsStr, guarded: &[Guarded]) -> io::Result<()> {
    if guarded.is_empty() {
        return Ok(());
    }
    let said: Vec<String> = guarded.iter().take(MOST_SAID).map(said).collect();
    let more = guarded.len().saturating_sub(MOST_SAID);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let text = format!(
        "the last command was broken off; of the protected names that it made or changed: {}{more}",
        said.join("; ")
    );
    let note = Note { workspace: workspace.to_owned(), text };
    own::make_folder(folder)?;
    let name = format!("{:016x}", u64::from_ne_bytes(system::random()?));
    // Under its last name it is whole.
    let made = folder.join(format!(".{name}"));
    fs::write(&made, serde_json::to_vec(&note)?)?;
    fs::rename(made, folder.join(name))
}

/// Says what became of one.
fn said(guarded: &Guarded) -> String {
    let path = quoted(&guarded.path);
    match &guarded.fate {
        Fate::Along(to) => format!("`{path}` is now `{}`, as it was", quoted(to)),
        Fate::Back(from) => format!("`{path}` was moved back from `{}`", quoted(from)),
        Fate::Undone(None) => format!("`{path}` is again as it was"),
        Fate::Undone(Some(aside)) => {
            format!("`{path}` is again as it was, and what stood there is `{}`", quoted(aside))
        }
        Fate::Moved(to) => format!("`{path}` is now `{}`", quoted(to)),
        Fate::Stays => format!("`{path}` is as the command left it"),
        Fate::Opened => format!("`{path}`, which it closed, is open again"),
        Fate::Unseen => format!("not all could be looked through in `{path}`"),
    }
}

/// Takes out of `folder` what is to be said of `workspace`.
pub fn take(folder: &Path, workspace: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_NOTES);
    let mut notes = Vec::new();
    for entry in entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".")) {
        let note = own::read(&entry.path(), MOST_BYTES).ok();
        let note = note.and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        let Some(note) = note.filter(|note| note.workspace == workspace) else { continue };
        // What cannot be removed is said again.
        fs::remove_file(entry.path()).ok();
        notes.push(note.text);
    }
    notes
}
