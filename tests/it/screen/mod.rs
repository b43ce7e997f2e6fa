//! The prompt loop: its input, its picture on a terminal, its turns and questions.

mod editor;
mod host;
mod questions;
mod stage;
mod talk;
