//! The session log: written, damaged, locked, resumed.
