//! Where the symbolic links of the workspace lead within it, as far as a look of some bounds tells.

use std::collections::VecDeque;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use super::Workspace;
use super::ignored::{Made, made_by_tools};

/// How many entries are read, and how deep below a root.
const MOST_ENTRIES: usize = 50_000;
const MOST_DEPTH: usize = 16;

/// How many entries of a root are looked at for each call.
const MOST_AT_ROOT: usize = 2_000;

/// A link, and what it leads to: both absolute, the latter without any link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub path: PathBuf,
    pub target: PathBuf,
}

/// What a look through the workspace comes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    pub links: Vec<Link>,
    /// Folders with a `.git`.
    pub trees: Vec<PathBuf>,
}

impl Workspace {
    /// Returns the links that lead to what is beneath a root, and not to a folder around themselves.
    ///
    /// Folders that tools fill are passed over, and so is what is too deep or too much.
    pub fn links(&self) -> Vec<Link> {
        self.linked().links
    }

    /// Returns these links, and the work trees of repositories.
    pub fn linked(&self) -> Linked {
        let mut linked = Linked::default();
        let mut pending: VecDeque<(PathBuf, usize)> =
            self.roots().map(|root| (root.to_owned(), 0)).collect();
        let mut left = MOST_ENTRIES;
        while let Some((folder, depth)) = pending.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                left -= 1;
                if left == 0 {
                    return linked;
                }
                let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
                if name == ".git" {
                    linked.trees.push(folder.clone());
                } else if kind.is_symlink() {
                    linked.links.extend(self.link(&entry.path()));
                } else if kind.is_dir()
                    && depth < MOST_DEPTH
                    && made_by_tools(&name) != Some(Made::PassedOver)
                {
                    pending.push_back((entry.path(), depth + 1));
                }
            }
        }
        linked
    }

    /// Returns the links directly in a root that lead to what is beneath one.
    ///
    /// This is quick enough for each call: of a root with very many entries only some are looked at.
    pub fn links_at_roots(&self) -> Vec<Link> {
        let entries = self.roots().flat_map(|root| {
            let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
            entries.take(MOST_AT_ROOT)
        });
        let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        entries.filter(is_link).filter_map(|entry| self.link(&entry.path())).collect()
    }

    /// Returns where `path` leads, if that is another path of the workspace.
    ///
    /// A path outside may lead anywhere: it is another name of what it leads to.
    pub fn link(&self, path: &Path) -> Option<Link> {
        let target = self.locate_path(path).ok()?.path().to_owned();
        let beneath = |path: &Path| self.roots().any(|root| path.starts_with(root));
        let counts = beneath(&target) || !beneath(path);
        let is_other = target != path && !path.starts_with(&target);
        (counts && is_other).then(|| Link { path: path.to_owned(), target })
    }
}
