//! What is asked of the index on the command line.

use std::path::PathBuf;

use clap::Subcommand;

/// What is done with the index.
#[derive(Clone, Debug, Subcommand)]
pub enum IndexCommand {
    /// Show where names are defined: path:line: kind name
    Symbols {
        /// The name, or the start of it; without one: all definitions
        query: Option<String>,
        /// Only this kind, such as function or class
        #[arg(long)]
        kind: Option<String>,
        /// Only in this file or folder
        #[arg(long)]
        path: Option<PathBuf>,
    },
    /// Show the definitions that the rest refers to most
    Map {
        /// About how long it may be
        #[arg(long, default_value_t = 1000)]
        tokens: usize,
        /// Files that are worked on: what they refer to comes first
        files: Vec<PathBuf>,
    },
}
