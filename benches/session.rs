//! Measures whole sessions over loopback, beside a floor.

fn main() {}
