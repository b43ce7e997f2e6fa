//! The table of the workspace's files.

pub mod table;

pub use table::{FileEntry, FileId, FileTable, Flags};
