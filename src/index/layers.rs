//! What is built upon the file table, in its order; each layer keeps its own files in the index's folder.

use std::io;
use std::sync::atomic::AtomicU64;

use super::files::table::FileTable;
use super::folder::IndexFolder;
use super::store::WriterLock;
use super::text::{self, BuildError, BuildOptions, Postings};
use super::{map, symbols};

/// One layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// As progress and status name it.
    pub name: &'static str,
    /// Brings what is kept up to the table, from nothing where nothing is kept or it is damaged.
    pub update: fn(&FileTable, &IndexFolder, &Building<'_>) -> io::Result<()>,
}

/// How a layer is built.
#[derive(Clone, Copy)]
pub struct Building<'a> {
    /// The right to write in the folder.
    pub lock: &'a WriterLock,
    pub threads: usize,
    /// Asked now and then; once it says yes, the layer returns `Interrupted`.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All files are known.
    Listed { files: usize },
    /// A layer is begun.
    Began { layer: &'static str },
    /// Bytes of files that the layer has read, of those it has to.
    Read { done: u64, total: u64 },
}

/// Every layer, in the order they are built.
pub const LAYERS: &[Layer] = &[
    Layer { name: "text", update: update_text },
    Layer { name: "symbols", update: symbols::update },
    Layer { name: "map", update: map::update },
];

/// Makes postings of what is new.
fn update_text(table: &FileTable, folder: &IndexFolder, building: &Building<'_>) -> io::Result<()> {
    let read = AtomicU64::new(0);
    let options = BuildOptions {
        threads: building.threads,
        in_background: true,
        cancelled: building.cancelled,
        progress: &read,
    };
    let (path, identity) = (folder.path(), folder.identity());
    let kept = Postings::open(path, identity).map(|postings| {
        let binding = postings.bind(table);
        (postings, binding)
    });
    let made = match &kept {
        Some((postings, binding)) if !postings.is_damaged() && !binding.is_damaged() => {
            text::update(table, postings, binding, path, building.lock, &options).map(drop)
        }
        _ => text::build(table, path, identity, building.lock, &options).map(drop),
    };
    made.map_err(|error| match error {
        BuildError::Busy => io::ErrorKind::WouldBlock.into(),
        BuildError::Cancelled => io::ErrorKind::Interrupted.into(),
        BuildError::Io(error) => error,
    })
}
