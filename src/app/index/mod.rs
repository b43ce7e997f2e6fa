//! `snick index`.

mod kept;
mod search;
mod search_json;
mod search_print;
mod symbols;

use super::Exit;
use super::setup::Setup;
use crate::cli::IndexCommand;

/// Does what is asked of the index.
pub(super) fn run(setup: &Setup, command: Option<IndexCommand>) -> anyhow::Result<Exit> {
    kept::run(setup, &command.unwrap_or_default())
}
