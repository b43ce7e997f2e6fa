//! The only door to paths and files: beneath-root opens, ignore rules, text files with their encoding and line ends.

mod attributes;
mod beneath;
pub mod binary;
pub mod clean;
mod copy;
pub mod credentials;
mod file;
mod folder;
pub mod ignored;
mod links;
pub mod name;
pub mod nearest;
pub mod own;
mod path;
pub mod scan;
pub mod shut;
mod stamp;
mod temporary;
pub mod text;
mod top_level;
mod tree;
pub mod walk;

pub use file::{FOLDER_MODE, FileError, FileImage, FileKind, LINK_MODE, entry_hash, is_link_mode};
pub use folder::{CreateFolders, Folder};
pub use links::{Link, Linked};
pub use path::{Located, PathError, Place, lexical};
pub use stamp::Stamp;
pub use temporary::{Permissions, Temporary};
pub use tree::{Opener, Tree};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use beneath::Root;

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
    /// Every root held open, in the order of [`Workspace::roots`].
    handles: Vec<Arc<Root>>,
}

/// Why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("`{path}` cannot be used as a directory")]
    Directory { path: String, source: std::io::Error },
}

impl Workspace {
    /// Finds the repository around the start directory, resolves all roots and holds them open.
    pub fn open(mut options: Options) -> Result<Workspace, WorkspaceError> {
        options.start = canonical(&options.start)?;
        options.added =
            options.added.iter().map(|path| canonical(path)).collect::<Result<_, _>>()?;
        options.home = options.home.as_deref().map(path::settled);
        options.outputs = options.outputs.as_deref().map(path::settled);
        for path in options.private.iter_mut().chain(&mut options.toolchains) {
            *path = path::settled(path);
        }
        let root = path::repository_root(&options.start, options.home.as_deref())
            .unwrap_or_else(|| options.start.clone());
        let mut workspace = Workspace { options, root, handles: Vec::new() };
        workspace.handles = workspace.roots().map(held).collect::<Result<_, _>>()?;
        Ok(workspace)
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
        self.options.outputs = outputs.map(|path| path::settled(&path));
    }

    /// Makes one more folder part of the workspace, as `--add-dir` does.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), WorkspaceError> {
        let folder = canonical(folder)?;
        if !self.roots().any(|root| root == folder) {
            self.handles.push(held(&folder)?);
            self.options.added.push(folder);
        }
        Ok(())
    }

    /// Whether `at` is one of the roots.
    fn is_root(&self, at: &Located) -> bool {
        self.roots().any(|root| root == at.path())
    }

    /// Returns the root that `path` lies beneath, and the way from there.
    fn beneath<'a>(&self, path: &'a Path) -> Option<(&Root, &'a Path)> {
        self.handles.iter().find_map(|root| Some((&**root, root.relative(path)?)))
    }
}

fn canonical(path: &Path) -> Result<PathBuf, WorkspaceError> {
    path.canonicalize().map_err(|source| refused(path, source))
}

fn held(path: &Path) -> Result<Arc<Root>, WorkspaceError> {
    Root::open(path).map(Arc::new).map_err(|source| refused(path, source))
}

fn refused(path: &Path, source: std::io::Error) -> WorkspaceError {
    WorkspaceError::Directory { path: path.display().to_string(), source }
}
