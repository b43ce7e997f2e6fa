//! The names that are guarded or hidden, by what must be done for each.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::moves::Moves;

/// A name that must be guarded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// A folder on the way to what a rule names, which must stay where it is.
    Way(PathBuf),
    /// The folder of a repository.
    Git(PathBuf),
    /// A folder of another name that git takes for a repository.
    Bare(PathBuf),
    Protected(PathBuf),
    /// A link of a protected name, which cannot be covered.
    Link(PathBuf),
    /// A file that commands must not see, or a folder that is shut away.
    Secret(PathBuf),
    /// A secret file of a protected name.
    Both(PathBuf),
}

/// The kinds, in the order of the variants.
const KINDS: [fn(PathBuf) -> Found; 7] = [
    Found::Way,
    Found::Git,
    Found::Bare,
    Found::Protected,
    Found::Link,
    Found::Secret,
    Found::Both,
];

impl Found {
    /// Returns it as it is written down for another process; [`Found::written`] reads it.
    pub(super) fn to_written(&self) -> (usize, OsString) {
        let path = self.path().to_owned();
        let kind = KINDS.iter().position(|kind| kind(path.clone()) == *self);
        (kind.unwrap_or_default(), path.into())
    }

    /// Reads what [`Found::to_written`] gave.
    pub(super) fn written((kind, path): &(usize, OsString)) -> Option<Found> {
        KINDS.get(*kind).map(|kind| kind(path.into()))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Found::Way(path)
            | Found::Git(path)
            | Found::Bare(path)
            | Found::Protected(path)
            | Found::Link(path)
            | Found::Secret(path)
            | Found::Both(path) => path,
        }
    }

    /// Returns the same where folders were moved.
    pub(super) fn after(&self, moves: &Moves) -> Found {
        let kind = match self {
            Found::Way(_) => Found::Way,
            Found::Git(_) => Found::Git,
            Found::Bare(_) => Found::Bare,
            Found::Protected(_) => Found::Protected,
            Found::Link(_) => Found::Link,
            Found::Secret(_) => Found::Secret,
            Found::Both(_) => Found::Both,
        };
        kind(moves.of(self.path()))
    }

    /// Returns the work tree, if it is a file `.git` that leads to its repository.
    pub(super) fn work_tree(&self) -> Option<&Path> {
        match self {
            Found::Protected(path) if path.ends_with(".git") => path.parent(),
            _ => None,
        }
    }

    /// Returns the path if nothing but a person may change what is there.
    pub(super) fn guarded(&self) -> Option<&Path> {
        match self {
            Found::Git(path) | Found::Protected(path) | Found::Link(path) | Found::Both(path) => {
                Some(path)
            }
            Found::Way(_) | Found::Bare(_) | Found::Secret(_) => None,
        }
    }

    /// Returns the path if commands must not see what is there.
    pub(super) fn hidden(&self) -> Option<&PathBuf> {
        match self {
            Found::Secret(path) | Found::Both(path) => Some(path),
            Found::Way(_)
            | Found::Git(_)
            | Found::Bare(_)
            | Found::Protected(_)
            | Found::Link(_) => None,
        }
    }

    /// Returns the path if something is laid over what is there.
    pub(super) fn covered(&self) -> Option<&PathBuf> {
        match self {
            Found::Secret(path) | Found::Both(path) | Found::Protected(path) => Some(path),
            Found::Way(_) | Found::Git(_) | Found::Bare(_) | Found::Link(_) => None,
        }
    }

    /// Returns the path if it is a link, which cannot be covered.
    pub(super) fn link(&self) -> Option<&PathBuf> {
        match self {
            Found::Link(path) => Some(path),
            Found::Way(_)
            | Found::Git(_)
            | Found::Bare(_)
            | Found::Protected(_)
            | Found::Secret(_)
            | Found::Both(_) => None,
        }
    }

    /// Returns the path if it is the folder `.git` of a repository.
    pub(super) fn git(&self) -> Option<&Path> {
        match self {
            Found::Git(path) => Some(path),
            Found::Way(_)
            | Found::Bare(_)
            | Found::Protected(_)
            | Found::Link(_)
            | Found::Secret(_)
            | Found::Both(_) => None,
        }
    }
}
