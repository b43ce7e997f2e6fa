//! The prompt loop in a real terminal.
