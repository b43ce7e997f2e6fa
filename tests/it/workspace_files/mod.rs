//! Paths, text files, walking, reading, listing, instructions.

mod arguments;
