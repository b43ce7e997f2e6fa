//! What commands change: found by comparing looks at the workspace, told, and taken back when asked.

mod found;
mod taken_back;
mod turns;
