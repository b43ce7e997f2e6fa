//! The only door to paths and files: beneath-root opens, ignore rules, text files with their encoding and line ends.

mod file;
mod path;
pub mod text;
pub mod walk;

pub use file::{FileError, FileImage, FileKind};
pub use path::{Located, PathError, Place};

use std::path::{Path, PathBuf};

/// What a workspace is made from. All paths are absolute.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where Snick was started, or `-C`.
    pub start: PathBuf,
    /// `--add-dir` folders.
    pub added: Vec<PathBuf>,
    /// The person's home, for `~` and for bounding the workspace.
    pub home: Option<PathBuf>,
    /// Snick's own configuration, state and cache folders: never written by a tool.
    pub private: Vec<PathBuf>,
    /// The session's saved outputs, readable though they lie in the state folder.
    pub outputs: Option<PathBuf>,
    /// Folders outside that may be read unasked, such as toolchain sources.
    pub toolchains: Vec<PathBuf>,
}

/// The files that tools may read and write, and the rules of reaching them.
#[derive(Clone, Debug)]
pub struct Workspace {
    options: Options,
    /// The repository around the start directory, else the start directory.
    root: PathBuf,
}

/// Why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("`{path}` cannot be used as a directory")]
    Directory { path: String, source: std::io::Error },
}

impl Workspace {
    /// Finds the repository around the start directory and resolves all roots.
    pub fn open(mut options: Options) -> Result<Workspace, WorkspaceError> {
        let canonical = |path: &Path| {
            path.canonicalize().map_err(|source| WorkspaceError::Directory {
                path: path.display().to_string(),
                source,
            })
        };
        options.start = canonical(&options.start)?;
        options.added =
            options.added.iter().map(|path| canonical(path)).collect::<Result<_, _>>()?;
        let root = path::repository_root(&options.start).unwrap_or_else(|| options.start.clone());
        Ok(Workspace { options, root })
    }

    /// Returns the start directory: absolute, links resolved.
    pub fn start(&self) -> &Path {
        &self.options.start
    }

    /// Returns the root of the repository around the start directory, else that directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns every folder that tools may write in: the root first, then the added ones.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.root.as_path()).chain(self.options.added.iter().map(PathBuf::as_path))
    }

    /// Returns what the workspace was made from.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Makes the session's saved outputs readable.
    pub fn set_outputs(&mut self, outputs: Option<PathBuf>) {
        self.options.outputs = outputs;
    }
}
