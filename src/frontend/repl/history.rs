//! Earlier inputs: kept across sessions in a file, walked with Up and Down, searched with Ctrl-R.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::editor::Written;
use crate::workspace::own;

/// Inputs that are kept in memory and, when the file is shortened, on disk.
const ENTRIES: usize = 1_000;
/// Bytes of the file's end that are read; a file twice as large is shortened.
const READ: u64 = 1 << 20;
/// Longer inputs stay in memory only.
const LONGEST: usize = 32 << 10;

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Entry {
    text: String,
    /// Its start was pasted: a prefix in it never acts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pasted: bool,
}

/// Earlier inputs, oldest first, and where the person is among them.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<Written>,
    file: Option<PathBuf>,
    /// The entry being looked at, and what stood in the input before.
    at: Option<(usize, Written)>,
}

impl History {
    /// Reads the end of `file`; lines that are damaged are passed over.
    ///
    /// A file that is missing or unreadable is an empty history: it is never worth stopping for.
    pub(super) fn open(file: Option<PathBuf>) -> History {
        let text = file.as_deref().and_then(tail).unwrap_or_default();
        let mut history = History { file, ..History::default() };
        for line in text.lines() {
            if let Ok(Entry { text, pasted }) = serde_json::from_str(line) {
                history.remember(Written { text, typed: !pasted });
            }
        }
        history
    }

    /// Adds an input, in memory and with one write to the file. Repeating the last one adds nothing.
    pub(super) fn add(&mut self, written: &Written) {
        self.at = None;
        if written.text.trim().is_empty() || self.entries.last() == Some(written) {
            return;
        }
        self.remember(written.clone());
        if let Some(file) = &self.file
            && written.text.len() <= LONGEST
        {
            // Losing a line of history is no reason to disturb the person.
            append(file, written).ok();
        }
    }

    /// Returns the input before the one shown; `present` is kept to come back to.
    pub(super) fn older(&mut self, present: Written) -> Option<&Written> {
        let (index, kept) = match self.at.take() {
            Some((index, kept)) => (index.checked_sub(1), kept),
            None => (self.entries.len().checked_sub(1), present),
        };
        let Some(index) = index else {
            self.at = (!self.entries.is_empty()).then_some((0, kept));
            return None;
        };
        self.at = Some((index, kept));
        self.entries.get(index)
    }

    /// Returns the input after the one shown; at the end, what stood there before.
    pub(super) fn newer(&mut self) -> Option<Written> {
        let (index, kept) = self.at.take()?;
        match self.entries.get(index + 1) {
            Some(entry) => {
                self.at = Some((index + 1, kept));
                Some(entry.clone())
            }
            None => Some(kept),
        }
    }

    /// Forgets where the person was: the input was changed by hand.
    pub(super) fn leave(&mut self) {
        self.at = None;
    }

    /// Returns the newest entry older than `before` that holds `query`, ignoring case.
    pub(super) fn find(&self, query: &str, before: usize) -> Option<(usize, &Written)> {
        let query = query.to_lowercase();
        let entries = self.entries.iter().enumerate().take(before);
        entries.rev().find(|(_, entry)| entry.text.to_lowercase().contains(&query))
    }

    fn remember(&mut self, written: Written) {
        if self.entries.last() == Some(&written) {
            return;
        }
        if self.entries.len() == ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(written);
    }
}

/// Returns the whole lines in the last part of the file, and shortens the file when it has grown large.
fn tail(file: &Path) -> Option<String> {
    let mut open = own::open(OpenOptions::new().read(true), file).ok()?;
    let size = open.metadata().ok()?.len();
    let from = size.saturating_sub(READ);
    open.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    open.take(READ).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if from == 0 {
        return Some(text);
    }
    let whole = text.split_once('\n').map_or("", |(_, whole)| whole).to_owned();
    if size > 2 * READ {
        // A history that cannot be shortened is still a history.
        replace(file, &whole).ok();
    }
    Some(whole)
}

fn append(file: &Path, written: &Written) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let entry = Entry { text: written.text.clone(), pasted: !written.typed };
    let line = serde_json::to_string(&entry)? + "\n";
    let mut options = OpenOptions::new();
    let mut open = own::open(options.append(true).create(true).mode(0o600), file)?;
    open.write_all(line.as_bytes())
}

fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let beside = file.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut open = own::open(&mut options, &beside)?;
    open.write_all(text.as_bytes())?;
    std::fs::rename(&beside, file)
}
