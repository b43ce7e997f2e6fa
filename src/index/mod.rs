//! Where everything is: a snapshot of the files with their stamps, and what changed since another.

pub mod files;
mod folder;
mod keepsake;
pub mod map;
pub mod snapshot;
pub mod store;
pub mod sweep;
pub mod symbols;

pub use folder::IndexFolder;
pub use keepsake::Keepsakes;
