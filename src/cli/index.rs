//! The command line of `snick index`.

use clap::Subcommand;

/// What is done with the index.
#[derive(Clone, Debug, Default, Subcommand)]
pub enum IndexCommand {
    /// Tell how many files there are, and what is kept where
    #[default]
    Status,
    /// Make anew what is kept
    Rebuild,
    /// Remove what is kept of this workspace
    Rm,
    /// List the files that ripgrep would search, one a line
    Files {
        /// List also hidden files, links, and tracked files that are ignored: what tools see
        #[arg(long)]
        all: bool,
        /// End each name with a NUL instead of a new line
        #[arg(short = '0', long)]
        null: bool,
    },
}
