//! Which files there are: git's index, the ignore rules and a walk brought together in one table, and kept true.

pub mod git_index;
mod hints;
mod join;
mod keep;
mod list;
mod rules;
mod sweep;
pub mod table;

pub use list::{Limits, list};
pub use sweep::refreshed;
pub use table::{FileEntry, FileId, FileTable, Flags};
