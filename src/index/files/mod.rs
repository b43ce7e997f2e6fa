//! The files of the workspace and their stamps.

mod table;

pub use table::{FileEntry, FileId, FileTable, Flags};
