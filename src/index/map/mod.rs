//! What matters in the workspace: its files and definitions by rank, within a budget of text.

mod rank;
mod render;

pub use rank::Focus;
pub use render::{BUDGET, keep, kept, render};
