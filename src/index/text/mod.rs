//! Where a text is: trigrams of line-aligned blocks, a plan per pattern, and the live files that have the last word.
//!
//! Postings only ever say where a pattern cannot be. What they do not rule out is read from the
//! file as it is now, and searched by ripgrep's own engine; so is every file whose stamp does not
//! prove that its postings describe it, and everything where there are no postings.

mod block;
mod build;
mod gather;
mod grams;
mod held;
mod hit;
mod jobs;
mod lines;
mod lists;
mod lookup;
mod needed;
mod plain;
pub mod plan;
mod postings;
mod query;
mod scan;
mod search;
mod segment;

pub use build::{BuildError, BuildOptions, Built, build, update};
pub use held::{Held, Text};
pub use hit::{FileHit, Line};
pub use postings::{Binding, Postings};
pub use query::{MultiLine, Pattern, PatternError, PatternOptions};
pub use search::{Filter, Options, SearchError, Summary, search, search_paths};

/// Most blocks of one segment: their numbers fit 16 bits, a set of them is 8 KiB.
const MAX_BLOCKS: usize = 65_536;
/// The version of segments and manifest.
const VERSION: u32 = 5;
/// The kinds of file.
const SEGMENT: [u8; 4] = *b"TXTS";
const MANIFEST: [u8; 4] = *b"TXTM";
/// The manifest's name, and how segments' names end.
const MANIFEST_NAME: &str = "text";
const SEGMENT_ENDING: &str = "text-segment";

/// What is known of an indexed file beside its blocks.
mod file_flags {
    /// It has a NUL so early that a search ends before the first line: it never matches.
    pub(super) const BINARY: u32 = 1;
    /// It has to be searched whatever the plan says: its blocks do not describe it.
    pub(super) const ALWAYS: u32 = 2;
    /// It begins with a byte order mark: where it is searched it is searched whole.
    pub(super) const WHOLE: u32 = 4;
    /// It changed while it was read: nothing is known of it.
    pub(super) const UNPROVEN: u32 = 8;
}
