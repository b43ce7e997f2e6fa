//! The command line of `snick index`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

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
    /// Search the text of files, as ripgrep does
    Search(SearchArgs),
    /// List definitions by name: exact ones, else those that begin with it or are like it
    Symbols {
        /// A name, such as `parse_config` or `Config::load`; none for all
        query: Option<String>,
        /// Only this kind, such as function, class or type
        #[arg(short, long)]
        kind: Option<String>,
        /// Only this file, or files in this folder
        #[arg(short, long)]
        path: Option<PathBuf>,
    },
    /// Show what matters most in the workspace: the definitions that the rest refers to
    Map {
        /// How long it may be
        #[arg(short, long, default_value_t = 1_000)]
        tokens: usize,
        /// Files that are worked on: the map is drawn towards what they refer to
        files: Vec<PathBuf>,
    },
}

/// What is searched, and how it is told.
#[derive(Clone, Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct SearchArgs {
    /// A regular expression; what it finds is printed as `path:line:text`
    pub pattern: String,
    /// Files and folders (default: the start directory)
    pub paths: Vec<PathBuf>,
    /// The pattern is plain text
    #[arg(short = 'F', long, visible_alias = "fixed-strings")]
    pub literal: bool,
    /// Letters match in either case
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Whole words only
    #[arg(short, long, visible_alias = "word-regexp")]
    pub word: bool,
    /// A match may go across lines; it may anyhow if the pattern names a line break
    #[arg(short = 'U', long)]
    pub multiline: bool,
    /// Only files that match; `!GLOB` leaves out
    #[arg(short, long, value_name = "GLOB")]
    pub glob: Vec<String>,
    /// Also files that ignore rules hide
    #[arg(long)]
    pub no_ignore: bool,
    /// Also hidden files, tracked ones that are ignored, and none of `.git`: what tools see
    #[arg(long)]
    pub hidden: bool,
    /// Lines before and after each match
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub context: usize,
    /// Stop after this many matching lines; 0 is all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub limit: u64,
    /// On a terminal too: the path on every line
    #[arg(long)]
    pub no_heading: bool,
    /// Print JSON lines, as `rg --json` does
    #[arg(long)]
    pub json: bool,
}
