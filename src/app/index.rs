//! `snick index`: what is known of the workspace.

use super::setup::Setup;
use super::{Exit, index_symbols};
use crate::cli::IndexCommand;

/// Does what is asked of the index.
pub(super) fn run(setup: &Setup, command: IndexCommand) -> anyhow::Result<Exit> {
    match command {
        IndexCommand::Symbols { query, kind, path } => {
            index_symbols::symbols(setup, query, kind.as_deref(), path.as_deref())
        }
        IndexCommand::Map { tokens, files } => index_symbols::map(setup, tokens, &files),
    }
}
