//! The command line as typed.
