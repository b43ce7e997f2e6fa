//! The files of the workspace and their stamps.

pub mod table;
