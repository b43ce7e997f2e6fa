//! Where the index of one root is kept.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::message::ContentHash;

/// Hexadecimal digits of a folder's name.
const DIGITS: usize = 32;

/// The folder of one root's index.
#[derive(Clone, Debug)]
pub struct IndexFolder {
    path: PathBuf,
    identity: Vec<u8>,
}

impl IndexFolder {
    /// Finds the folder of `root` beneath `cache`; it need not exist.
    ///
    /// # Errors
    /// A root that is not there.
    pub fn of(cache: &Path, root: &Path) -> io::Result<IndexFolder> {
        let facts = rustix::fs::stat(root)?;
        let mut identity = root.as_os_str().as_bytes().to_vec();
        identity.push(0);
        identity.extend(facts.st_dev.to_le_bytes());
        identity.extend(facts.st_ino.to_le_bytes());
        let mut name = ContentHash::of(&identity).to_string();
        name.truncate(DIGITS);
        Ok(IndexFolder { path: cache.join(name), identity })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what a kept file must say of the root it describes.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn create(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path)
    }
}
