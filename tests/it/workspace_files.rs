//! Paths, text files, walking, reading, listing, instructions.
