//! The index: what it knows of a workspace, and that it is never stale.

mod kept;
mod map;
mod oracle;
mod symbols;
mod symbols_more;
mod tool;
