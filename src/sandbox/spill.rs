//! The whole output of a command in a file, when it is more than what the model gets.

use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use tokio::task::JoinHandle;

use super::SandboxError;
use crate::workspace::own;

/// How much is written at once, by another thread.
const BLOCK: usize = 256 * 1024;

/// How much may wait for the disk before the command waits, too.
const MOST_WAITING: usize = 4 << 20;

/// How much of the beginning is kept.
const MOST_HEAD: u64 = 12 << 20;

/// How much of the end is kept, at least; at most twice as much.
const TAIL: usize = 2 << 20;

/// An output on its way into a file. Until a block is full it costs memory only.
pub struct Spill {
    folder: PathBuf,
    name: &'static str,
    /// What is still to be written.
    waiting: Vec<u8>,
    /// How much of the beginning was taken.
    head_bytes: u64,
    tail: Tail,
    target: Target,
}

/// Where an output was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    pub path: PathBuf,
    /// Bytes in the middle that were not kept.
    pub left_out: u64,
}

/// The file, wherever it is now.
enum Target {
    /// Not made yet.
    None,
    /// Another thread writes a block.
    Busy(JoinHandle<Result<OpenFile, SandboxError>>),
    Failed(SandboxError),
}

struct OpenFile {
    path: PathBuf,
    file: File,
}

impl Spill {
    /// Returns a spill that will make a file such as `0007-bash.txt` in `folder`.
    pub fn new(folder: &Path, name: &'static str) -> Spill {
        Spill {
            folder: folder.to_owned(),
            name,
            waiting: Vec::new(),
            head_bytes: 0,
            tail: Tail::default(),
            target: Target::None,
        }
    }

    /// Takes more of the output. A failure is kept for [`Spill::finish`].
    pub async fn push(&mut self, text: &[u8]) {
        let room = usize::try_from(MOST_HEAD - self.head_bytes).unwrap_or(usize::MAX);
        let (head, tail) = text.split_at(room.min(text.len()));
        self.head_bytes += head.len() as u64;
        self.tail.push(tail);
        if matches!(self.target, Target::Failed(_)) {
            return;
        }
        self.waiting.extend_from_slice(head);
        let busy = matches!(&self.target, Target::Busy(writing) if !writing.is_finished());
        let due = if busy { MOST_WAITING } else { BLOCK };
        if self.waiting.len() >= due {
            self.write().await;
        }
    }

    /// Saves everything that was pushed and returns where.
    pub async fn finish(mut self) -> Result<Spilled, SandboxError> {
        let left_out = self.tail.left_out;
        if left_out > 0 {
            let note = format!("\n[{left_out} bytes left out here]\n");
            self.waiting.extend_from_slice(note.as_bytes());
        }
        self.waiting.append(&mut self.tail.older);
        self.waiting.append(&mut self.tail.newer);
        self.write().await;
        match self.settled().await? {
            Some(open) => Ok(Spilled { path: open.path, left_out }),
            None => Err(self.failure(ErrorKind::NotFound.into())),
        }
    }

    /// Hands what waits to another thread, once that has written what it had before.
    async fn write(&mut self) {
        let block = std::mem::take(&mut self.waiting);
        let open = match self.settled().await {
            Ok(Some(open)) => Ok(open),
            Ok(None) => create(&self.folder, self.name).map_err(|source| self.failure(source)),
            Err(error) => Err(error),
        };
        self.target = match open {
            Ok(mut open) => Target::Busy(tokio::task::spawn_blocking(move || {
                match open.file.write_all(&block) {
                    Ok(()) => Ok(open),
                    Err(source) => {
                        Err(SandboxError::Save { path: open.path.display().to_string(), source })
                    }
                }
            })),
            Err(error) => Target::Failed(error),
        };
    }

    /// Takes the file out of `target`, waiting for a write in progress.
    async fn settled(&mut self) -> Result<Option<OpenFile>, SandboxError> {
        match std::mem::replace(&mut self.target, Target::None) {
            Target::None => Ok(None),
            Target::Busy(writing) => match writing.await {
                Ok(written) => written.map(Some),
                Err(error) => Err(self.failure(std::io::Error::other(error))),
            },
            Target::Failed(error) => Err(error),
        }
    }

    fn failure(&self, source: std::io::Error) -> SandboxError {
        SandboxError::Save { path: self.folder.display().to_string(), source }
    }
}

/// Makes the next file of `folder`, and the folder if need be; both for this user only.
fn create(folder: &Path, name: &str) -> std::io::Result<OpenFile> {
    own::make_folder(folder)?;
    let number = |file: OsString| file.to_str()?.split('-').next()?.parse::<u32>().ok();
    let files = std::fs::read_dir(folder)?.flatten();
    let last = files.filter_map(|entry| number(entry.file_name())).max().unwrap_or(0);
    for next in last + 1..last + 100 {
        let path = folder.join(format!("{next:04}-{name}.txt"));
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return Ok(OpenFile { path, file: opened? }),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The end of a long output: two halves, of which the older is dropped when the newer is full.
#[derive(Default)]
struct Tail {
    older: Vec<u8>,
    newer: Vec<u8>,
    left_out: u64,
}

impl Tail {
    fn push(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            if self.newer.len() == TAIL {
                self.left_out += self.older.len() as u64;
                self.older = std::mem::take(&mut self.newer);
            }
            let (now, later) = text.split_at(text.len().min(TAIL - self.newer.len()));
            self.newer.extend_from_slice(now);
            text = later;
        }
    }
}
