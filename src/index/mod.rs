//! Where everything is: a snapshot of the files with their stamps, and what changed since another.

mod keepsake;
pub mod snapshot;
pub mod sweep;

pub use keepsake::Keepsakes;
