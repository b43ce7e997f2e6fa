//! Where everything is: files, text and symbols of the workspace, persistent and never stale.

mod facade;
pub mod files;
mod folder;
pub mod fuzzy;
mod keepsake;
pub mod layers;
pub mod map;
pub mod snapshot;
pub mod store;
pub mod sweep;
pub mod symbols;
pub mod text;
mod watching;

pub use facade::{CAP, Index, Options, Status};
pub use folder::IndexFolder;
pub use keepsake::Keepsakes;
