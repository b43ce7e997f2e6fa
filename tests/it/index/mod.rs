//! The index as those who ask it meet it.

mod text;
mod text_faults;
mod text_plan;
mod text_tree;
