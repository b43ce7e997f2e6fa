//! Where a path leads that somebody wrote: resolved through links, and placed.

use std::path::{Path, PathBuf};

use super::Workspace;

/// A path as written, resolved and judged. Only [`Workspace::locate`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Located {
    path: PathBuf,
    shown: String,
    place: Place,
}

impl Located {
    /// Returns the absolute path, every link of its existing part resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path for people and the model: relative to the start directory where it can be.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns which rules hold for it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Which rules hold for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Beneath a root: read and written under the mode's rules.
    Workspace,
    /// Toolchain sources and `/usr`: read unasked, never written.
    System,
    /// This session's saved outputs: read unasked, never written.
    Output,
    /// Snick's own folders: never written by a tool, asked to read.
    Private,
    /// Anywhere else: asked to read, never written.
    Outside,
}

/// Why a path as written leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path holds a NUL character")]
    Nul,
    #[error("`{path}`: {source}")]
    Unreachable { path: String, source: std::io::Error },
}

impl Workspace {
    /// Resolves `path` as the model wrote it: relative to the start directory, or absolute.
    ///
    /// The file itself need not exist. A link is followed; the place is that of its target.
    pub fn locate(&self, path: &str) -> Result<Located, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.contains('\0') {
            return Err(PathError::Nul);
        }
        let path = self.start().join(path);
        let place = if self.roots().any(|root| path.starts_with(root)) {
            Place::Workspace
        } else {
            Place::Outside
        };
        let shown = path.strip_prefix(self.start()).unwrap_or(&path).display().to_string();
        Ok(Located { path, shown, place })
    }
}

/// Returns the nearest folder at or above `start` that holds `.git`.
pub(super) fn repository_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
