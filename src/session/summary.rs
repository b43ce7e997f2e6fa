//! Sessions as a list shows them, read from the beginning of their logs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::log::LOG;
use super::record::{Header, Record};
use super::store;
use crate::message::Message;
use crate::workspace::own;

/// What is read of a log for its messages to be counted.
const HEAD: u64 = 64 << 10;

/// What is read at most to find the person's first words, after a long prefix.
const LONG_HEAD: u64 = 512 << 10;

/// Characters of a title.
const TITLE: usize = 80;

/// One session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub id: String,
    pub workspace: PathBuf,
    /// RFC 3339.
    pub created: String,
    pub model: String,
    /// Made by `-p`.
    pub print: bool,
    /// The session it was forked from.
    pub parent: Option<String>,
    /// Since it was last written.
    pub age: Duration,
    /// The first words of the person; empty when there are none.
    pub title: String,
    /// Messages of person and model in what was read.
    pub messages: usize,
    /// Whether all of the log was read, so that `messages` is exact and not a lower bound.
    pub counted: bool,
    /// Size of the log.
    pub bytes: u64,
}

/// A session's folder and what the system knows of its log.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) folder: PathBuf,
    written: SystemTime,
    bytes: u64,
}

/// Returns the folders in `folder`; none if it cannot be read.
pub(super) fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}

/// Returns the folders of sessions in the folders of `workspaces`.
pub(super) fn unordered(workspaces: &[PathBuf]) -> Vec<PathBuf> {
    let sessions = workspaces.iter().flat_map(|workspace| folders(workspace));
    sessions.filter(|folder| !store::id_of(folder).is_empty()).collect()
}

/// Returns the sessions of `workspaces`, the one written last first.
pub(super) fn newest_first(workspaces: &[PathBuf]) -> Vec<Found> {
    let mut found: Vec<Found> = unordered(workspaces)
        .into_iter()
        .filter_map(|folder| {
            let metadata = folder.join(LOG).symlink_metadata().ok()?;
            let written = metadata.modified().ok()?;
            metadata.is_file().then_some(Found { folder, written, bytes: metadata.len() })
        })
        .collect();
    found.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| b.folder.cmp(&a.folder)));
    found
}

/// Reads what a list shows of a session; `None` if its log cannot be read or is empty.
pub(super) fn summarise(found: &Found) -> Option<Summary> {
    let file = own::open(OpenOptions::new().read(true), &found.folder.join(LOG)).ok()?;
    let mut head = Head::default();
    head.read_to(&file, HEAD).ok()?;
    if head.title.is_none() && found.bytes > HEAD {
        head.read_to(&file, LONG_HEAD).ok()?;
    }
    if head.bytes.is_empty() {
        return None;
    }
    let header = store::header_or_new(head.header, &found.folder);
    Some(Summary {
        id: header.id,
        workspace: header.workspace,
        created: header.created,
        model: header.model,
        print: header.print,
        parent: header.parent,
        age: SystemTime::now().duration_since(found.written).unwrap_or_default(),
        title: head.title.unwrap_or_default(),
        messages: head.messages,
        counted: head.bytes.len() as u64 >= found.bytes,
        bytes: found.bytes,
    })
}

/// The beginning of a log, as far as it was read.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    /// Offset after the last whole line that was looked at.
    done: usize,
    header: Option<Header>,
    title: Option<String>,
    messages: usize,
}

impl Head {
    fn read_to(&mut self, file: &File, limit: u64) -> io::Result<()> {
        let missing = limit.saturating_sub(self.bytes.len() as u64);
        file.take(missing).read_to_end(&mut self.bytes)?;
        let first = self.done == 0;
        let rest = &self.bytes[self.done..];
        let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') else { return Ok(()) };
        for (index, line) in rest[..end].split(|&byte| byte == b'\n').enumerate() {
            if first && index == 0 {
                self.header = serde_json::from_slice(line).ok();
            } else if line.starts_with(br#"{"type":"message""#) {
                self.messages += 1;
                if self.title.is_none() {
                    self.title = title(line);
                }
            }
        }
        self.done += end + 1;
        Ok(())
    }
}

/// Returns the first words of a line that is a message of the person.
fn title(line: &[u8]) -> Option<String> {
    let record = Record::parse(str::from_utf8(line).ok()?).ok()?;
    let Record::Message { message: Message::User(user) } = record else { return None };
    let text = user.text();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty()).take(TITLE).collect::<Vec<&str>>().join(" ");
    if words.chars().count() <= TITLE {
        return Some(words);
    }
    Some(words.chars().take(TITLE - 1).chain(['…']).collect())
}
