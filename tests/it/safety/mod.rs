//! What must hold against a hostile repository and a gullible model.

mod display;
mod files;
mod gate;
mod place;
mod secrets;
mod sessions;
mod trust;
