//! The prompt loop: its input, its picture on a terminal, its turns and questions.

mod beside;
mod changes;
mod decode;
mod editor;
mod going_on;
mod history;
mod host;
mod plain;
mod questions;
mod real;
mod stage;
mod talk;
