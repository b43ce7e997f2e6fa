//! What a look says of protected names that a command made or changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::restore::Aside;

/// What became of a protected name that a command made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) enum Touched {
    /// A folder above it was moved, and it is there as it was.
    Along { from: OsString, to: OsString },
    /// A folder above it was moved, and is again where it was.
    Back { path: OsString, from: OsString },
    /// It was made, and is still there.
    Made(OsString),
    /// It was made or changed so that git would start a program, and is still there. It is nobody's,
    /// not even what git checked out.
    Planted(OsString),
    /// The settings of git were changed in a way that starts a program or leads elsewhere, or a
    /// file by another name that it has; they are to be these again.
    Settings { path: OsString, bytes: Vec<u8>, mode: u32 },
    /// It was changed or removed, and is again as it was. What stood there instead is beside it,
    /// since it may be somebody else's work.
    Undone { path: OsString, replaced: Option<OsString> },
    /// It was changed or removed, and was too large to be kept.
    Changed(OsString),
    /// This root was closed, so that nobody could go on in it, and has the mode again that it had.
    Opened(OsString),
    /// Not all could be looked through that the command left below this root.
    Unseen(OsString),
}

impl Touched {
    /// Returns what was made or changed.
    pub(super) fn path(&self) -> &Path {
        match self {
            Touched::Along { from: path, .. }
            | Touched::Back { path, .. }
            | Touched::Made(path)
            | Touched::Planted(path)
            | Touched::Settings { path, .. }
            | Touched::Undone { path, .. }
            | Touched::Changed(path)
            | Touched::Opened(path)
            | Touched::Unseen(path) => Path::new(path),
        }
    }

    /// Returns what stood where something is again as it was.
    pub(super) fn aside(&self) -> Option<PathBuf> {
        match self {
            Touched::Undone { replaced, .. } => replaced.as_ref().map(PathBuf::from),
            _ => None,
        }
    }
}

/// Returns what is said of `path` and of what stood in its way.
pub(super) fn undone(path: &Path, aside: Vec<Aside>) -> Vec<Touched> {
    let of = |path: &Path, replaced: Option<PathBuf>| Touched::Undone {
        path: path.into(),
        replaced: replaced.map(OsString::from),
    };
    let (own, others): (Vec<Aside>, Vec<Aside>) =
        aside.into_iter().partition(|aside| aside.path == path);
    let own = own.into_iter().next().map(|aside| aside.now);
    let others = others.into_iter().map(|aside| of(&aside.path, Some(aside.now)));
    others.chain([of(path, own)]).collect()
}
