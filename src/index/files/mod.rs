//! Which files there are: git's index, the ignore rules and a walk brought together in one table, and kept true.

pub mod git_index;
mod hints;
mod join;
mod keep;
mod list;
mod rules;
mod sweep;
pub mod table;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(not(target_os = "linux"))]
#[path = "watch_none.rs"]
mod watch;

pub use list::{Limits, list};
pub use sweep::refreshed;
pub use table::{FileEntry, FileId, FileTable, Flags};
pub use watch::Watch;
