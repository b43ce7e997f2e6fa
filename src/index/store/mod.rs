//! The one container of everything that the index keeps on disk: a header, sections, a checksum of each.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The first bytes of every file.
const MAGIC: &[u8; 8] = b"snickidx";
/// Most bytes of a file that is read.
const MAX_BYTES: u64 = 8 << 30;

/// A tag and the bytes under it.
type Section = ([u8; 4], Vec<u8>);

/// Why a kept file is not used. It is then made anew.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    #[error("the file is damaged, or not of this kind, version or folder")]
    Unfit,
}

/// A kept file whose checksums hold. Files are never modified in place.
#[derive(Debug)]
pub struct Reader {
    sections: Vec<Section>,
}

/// A file to be kept.
#[derive(Debug)]
pub struct Writer {
    head: Vec<u8>,
    sections: Vec<Section>,
}

impl Reader {
    /// Reads the file at `path` if it is of this kind, version and identity and not damaged.
    pub fn open(
        path: &Path,
        kind: [u8; 4],
        version: u32,
        identity: &[u8],
    ) -> Result<Reader, StoreError> {
        if fs::metadata(path)?.len() > MAX_BYTES {
            return Err(StoreError::Unfit);
        }
        let bytes = fs::read(path)?;
        let head = head(kind, version, identity);
        let mut rest = bytes.strip_prefix(&head[..]).ok_or(StoreError::Unfit)?;
        let mut sections = Vec::new();
        while !rest.is_empty() {
            let (section, after) = section(rest).ok_or(StoreError::Unfit)?;
            sections.push(section);
            rest = after;
        }
        // The last one is there to tell a file that was cut between two others.
        match sections.pop() {
            Some((tag, _)) if tag == *b"end." => Ok(Reader { sections }),
            _ => Err(StoreError::Unfit),
        }
    }

    /// Returns the bytes of a section.
    pub fn section(&self, tag: [u8; 4]) -> Result<&[u8], StoreError> {
        let found = self.sections.iter().find(|(name, _)| *name == tag);
        found.map(|(_, bytes)| &bytes[..]).ok_or(StoreError::Unfit)
    }
}

impl Writer {
    /// Begins a file.
    pub fn new(kind: [u8; 4], version: u32, identity: &[u8]) -> Writer {
        Writer { head: head(kind, version, identity), sections: Vec::new() }
    }

    /// Adds a section.
    pub fn section(&mut self, tag: [u8; 4], bytes: Vec<u8>) {
        self.sections.push((tag, bytes));
    }

    /// Writes the file beside `path`, synced, and puts it in its place.
    pub fn write(mut self, path: &Path) -> io::Result<()> {
        self.section(*b"end.", Vec::new());
        let beside = path.with_extension(format!("{}.tmp", std::process::id()));
        let written = self.write_to(&beside).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            fs::remove_file(&beside).ok();
        }
        written?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(&self.head)?;
        for (tag, bytes) in &self.sections {
            file.write_all(tag)?;
            file.write_all(&(bytes.len() as u64).to_le_bytes())?;
            file.write_all(&sum(*tag, bytes).to_le_bytes())?;
            file.write_all(bytes)?;
        }
        file.sync_all()
    }
}

fn head(kind: [u8; 4], version: u32, identity: &[u8]) -> Vec<u8> {
    let length = (identity.len() as u64).to_le_bytes();
    let parts = [&MAGIC[..], &kind, &version.to_le_bytes(), &length, identity];
    parts.concat()
}

fn section(bytes: &[u8]) -> Option<(Section, &[u8])> {
    let (tag, bytes) = bytes.split_first_chunk::<4>()?;
    let (length, bytes) = bytes.split_first_chunk::<8>()?;
    let (stored, bytes) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (content, rest) = bytes.split_at_checked(length)?;
    let is_whole = sum(*tag, content) == u32::from_le_bytes(*stored);
    is_whole.then(|| ((*tag, content.to_vec()), rest))
}

fn sum(tag: [u8; 4], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}
