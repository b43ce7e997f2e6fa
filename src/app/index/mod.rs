//! `snick index`.

pub(super) mod search;
mod search_json;
mod search_print;
