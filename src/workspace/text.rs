//! Text files: decoding and encoding in one place for every tool.
