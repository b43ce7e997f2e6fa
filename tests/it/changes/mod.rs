//! Matching, hunks, writing, journal, undo.

mod diffs;
mod matching;
mod properties;
mod round_trips;
mod tools;
mod undo;
mod world;
