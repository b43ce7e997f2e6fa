//! Entry point: parse, run, exit. Everything else is in the library.

fn main() {}
