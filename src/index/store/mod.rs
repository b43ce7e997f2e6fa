//! The one form of the index's files: sections with checksums, mapped for reading, replaced and never modified.

mod lock;
mod reader;
mod writer;

pub use lock::{WriterLock, lock};
pub use reader::{Reader, Section};
pub use writer::{Writer, remove, scratch_name};

/// How every file begins; the last byte is the version of the form.
const MAGIC: [u8; 8] = *b"SNICKIX\x01";
/// Bytes before the identity: magic, kind, version, lengths.
const FIXED: usize = 40;
/// Bytes of one row of the table of sections.
const ROW: usize = 24;
/// Bytes that have one checksum.
const PAGE: usize = 64 << 10;
/// Where sections begin: a multiple of this, counted from the body.
const ALIGNMENT: usize = 8;

/// Why a file is not to be used. It is then ignored and made anew.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the index file cannot be read")]
    Io(#[from] std::io::Error),
    #[error("the index file is of another kind, version or workspace")]
    Foreign,
    #[error("the index file is damaged")]
    Damaged,
}
