//! Matching, hunks, writing, journal, undo.
