//! Snick, a coding agent for the terminal. `ARCHITECTURE.md` tells how a turn runs.
//!
//! The modules are layered; `tests/it/tidy.rs` has the order and enforces it.

pub mod agent;
pub mod app;
pub mod approval;
pub mod change;
pub mod cli;
pub mod config;
pub mod event;
pub mod frontend;
pub mod index;
pub mod message;
pub mod prompt;
pub mod provider;
pub mod sandbox;
pub mod session;
pub mod tools;
pub mod workspace;
