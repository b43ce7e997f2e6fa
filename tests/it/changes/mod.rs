//! Matching, hunks, writing, journal, undo.

mod diffs;
mod matching;
mod properties;
mod tools;
mod undo;
mod world;
