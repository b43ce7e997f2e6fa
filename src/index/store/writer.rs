//! Writing a file of sections: whole, synced, and put in place at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ALIGNMENT, FIXED, MAGIC, PAGE, ROW};

/// A file to be written.
#[derive(Debug)]
pub struct Writer {
    kind: [u8; 4],
    version: u32,
    identity: Vec<u8>,
    sections: Vec<([u8; 4], Vec<u8>)>,
}

impl Writer {
    /// Begins a file of `kind` in that `version`, about what `identity` names.
    pub fn new(kind: [u8; 4], version: u32, identity: &[u8]) -> Writer {
        Writer { kind, version, identity: identity.to_vec(), sections: Vec::new() }
    }

    /// Adds a section. Tags are unique.
    pub fn section(&mut self, tag: [u8; 4], bytes: Vec<u8>) {
        self.sections.push((tag, bytes));
    }

    /// Writes the file, and puts it in the place of what stood at `path`.
    ///
    /// Whoever reads sees the old file or the new one, also after a crash at any moment.
    pub fn write(self, path: &Path) -> io::Result<()> {
        self.put(path, File::sync_all)?;
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        File::open(folder)?.sync_all()
    }

    /// Writes the file, and leaves it to the caller to sync it before anything names it.
    pub fn write_unsynced(self, path: &Path) -> io::Result<File> {
        self.put(path, |_| Ok(()))
    }

    fn put(self, path: &Path, end: impl FnOnce(&File) -> io::Result<()>) -> io::Result<File> {
        let header = self.header();
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.display();
        let temporary = folder.join(scratch_name(&format!("{name}-new")));
        let written = self.write_temporary(&temporary, &header);
        let replaced = written.and_then(|file| {
            end(&file)?;
            std::fs::rename(&temporary, path)?;
            Ok(file)
        });
        if replaced.is_err() {
            // The error is what counts; a left-over is removed by the next writer.
            std::fs::remove_file(&temporary).ok();
        }
        replaced
    }

    fn write_temporary(&self, path: &PathBuf, header: &[u8]) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(header)?;
        for (_, bytes) in &self.sections {
            file.write_all(bytes)?;
            file.write_all(&[0; ALIGNMENT][..padding(bytes.len())])?;
        }
        Ok(file)
    }

    fn header(&self) -> Vec<u8> {
        let pages = self.pages();
        let length = FIXED + self.identity.len() + self.sections.len() * ROW + pages.len() * 4 + 4;
        let body: usize = self.sections.iter().map(|(_, bytes)| padded(bytes.len())).sum();
        let mut header = Vec::with_capacity(length);
        header.extend(MAGIC);
        header.extend(self.kind);
        header.extend(self.version.to_le_bytes());
        header.extend((length as u64).to_le_bytes());
        header.extend((body as u64).to_le_bytes());
        header.extend(low(self.identity.len()));
        header.extend(low(self.sections.len()));
        header.extend(&self.identity);
        let mut start = 0;
        for (tag, bytes) in &self.sections {
            header.extend(tag);
            header.extend([0; 4]);
            header.extend((start as u64).to_le_bytes());
            header.extend((bytes.len() as u64).to_le_bytes());
            start += padded(bytes.len());
        }
        for page in pages {
            header.extend(page.to_le_bytes());
        }
        header.extend(crc32fast::hash(&header).to_le_bytes());
        header
    }

    /// Returns the checksum of each page of the body.
    fn pages(&self) -> Vec<u32> {
        let mut pages = Vec::new();
        let mut hasher = crc32fast::Hasher::new();
        let mut filled = 0;
        let mut add = |mut bytes: &[u8]| {
            while !bytes.is_empty() {
                let (now, rest) = bytes.split_at(bytes.len().min(PAGE - filled));
                hasher.update(now);
                filled += now.len();
                if filled == PAGE {
                    pages.push(std::mem::take(&mut hasher).finalize());
                    filled = 0;
                }
                bytes = rest;
            }
        };
        for (_, bytes) in &self.sections {
            add(bytes);
            add(&[0; ALIGNMENT][..padding(bytes.len())]);
        }
        if filled > 0 {
            pages.push(hasher.finalize());
        }
        pages
    }
}

/// Removes a file of the index; that it is gone already is as good.
pub fn remove(path: &Path) {
    // What cannot be removed only takes room, and the next writer tries again.
    std::fs::remove_file(path).ok();
}

/// Returns a name that nobody else uses, ending in `ending`.
pub fn scratch_name(ending: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{now:x}-{:x}-{next:x}.{ending}", std::process::id())
}

/// A length in the header; sections and identities are far from filling 32 bits in number.
fn low(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

fn padding(length: usize) -> usize {
    padded(length) - length
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}
