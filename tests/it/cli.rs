//! The binary: command lines, exit codes, streams.
