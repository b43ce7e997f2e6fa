//! What matters in the workspace: its files and definitions by rank, within a budget of text.

mod graph;
mod keep;
mod lists;
mod rank;
mod render;
mod saved;
mod worth;

pub use keep::{kept, update};
pub use rank::Focus;
pub use render::{BUDGET, render, without};
