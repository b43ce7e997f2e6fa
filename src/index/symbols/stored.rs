//! The symbols that are kept of one workspace, and which files of a table they describe as they are.

use std::io;
use std::path::{Path, PathBuf};

use super::lexed::Definition;
use super::read::has_symbols;
use super::segment::{Raw, Segment};
use super::{MANIFEST, VERSION, tags};
use crate::index::files::{FileId, FileTable};
use crate::index::store::{self, Reader, StoreError, Writer};

const KIND: [u8; 4] = *b"SYMM";

/// What is kept. What it says holds for files with the stamps they have.
#[derive(Debug)]
pub struct Stored {
    folder: PathBuf,
    identity: Vec<u8>,
    segments: Vec<Segment>,
    /// How many segments there should be.
    n_listed: usize,
    lexed: u64,
}

impl Stored {
    /// Opens what is kept in `folder` of the workspace that `identity` names; `None` where there
    /// is nothing, or nothing that may be used.
    pub fn open(folder: &Path, identity: &[u8]) -> Option<Stored> {
        let stored = Stored::open_once(folder, identity)?;
        if stored.segments.len() == stored.n_listed {
            return Some(stored);
        }
        // A writer may have put others in place between the list and the opening.
        Stored::open_once(folder, identity)
    }

    fn open_once(folder: &Path, identity: &[u8]) -> Option<Stored> {
        let reader = Reader::open(&folder.join(MANIFEST), KIND, VERSION, identity).ok()?;
        let lexed = reader.section(tags::COUNT).ok()?.try_into().ok()?;
        let names = str::from_utf8(reader.section(tags::SEGMENTS).ok()?).ok()?;
        let names: Vec<&str> = names.lines().collect();
        let segments = names.iter().filter_map(|name| Segment::open(folder, name, identity).ok());
        let segments = segments.collect();
        let (folder, identity) = (folder.to_owned(), identity.to_vec());
        let (n_listed, lexed) = (names.len(), u64::from_le_bytes(lexed));
        Some(Stored { folder, identity, segments, n_listed, lexed })
    }

    /// Returns where it lies.
    pub(in crate::index) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns what names its workspace.
    pub(in crate::index) fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// Returns how many files were ever lexed for it: by this it is known how old a map is.
    pub fn lexed(&self) -> u64 {
        self.lexed
    }

    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there is no segment.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether a segment is missing or was not to be used.
    pub(super) fn is_damaged(&self) -> bool {
        self.segments.len() < self.n_listed
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

/// Puts a list of segments in place.
pub(super) fn commit(
    folder: &Path,
    identity: &[u8],
    names: &[String],
    lexed: u64,
) -> io::Result<()> {
    let mut writer = Writer::new(KIND, VERSION, identity);
    writer.section(tags::SEGMENTS, names.join("\n").into_bytes());
    writer.section(tags::COUNT, lexed.to_le_bytes().to_vec());
    writer.write(&folder.join(MANIFEST))
}

/// Why something was not found out.
#[derive(Debug)]
pub(in crate::index) enum Fault {
    Io(io::Error),
    /// The segment at this place is damaged; without it, the answer can be had.
    Segment(usize),
}

/// The files of a table, each with its place in what is kept.
#[derive(Debug)]
pub(in crate::index) struct Bound<'a> {
    table: &'a FileTable,
    segments: Vec<Option<&'a Segment>>,
    /// Of each segment, which file stands at each of its places.
    files: Vec<Vec<Option<FileId>>>,
    /// Of each file, its segment and its place there.
    places: Vec<Option<(u32, u32)>>,
}

impl<'a> Bound<'a> {
    /// Finds out what is kept of which files.
    pub(in crate::index) fn new(table: &'a FileTable, stored: Option<&'a Stored>) -> Bound<'a> {
        let segments = stored.map(Stored::segments).unwrap_or_default();
        let mut bound = Bound {
            table,
            segments: segments.iter().map(Some).collect(),
            files: segments.iter().map(|one| vec![None; one.n_files as usize]).collect(),
            places: vec![None; table.len()],
        };
        for (number, segment) in (0_u32..).zip(segments) {
            let mut found = Vec::new();
            let is_whole = segment.bind(table, &mut |id, place| found.push((id, place))).is_ok();
            if !is_whole {
                bound.leave_out(number as usize);
                continue;
            }
            for (id, place) in found {
                let slot = &mut bound.places[id.0 as usize];
                // A file that stands in two segments is that of one.
                if slot.is_none() {
                    *slot = Some((number, place));
                    bound.files[number as usize][place as usize] = Some(id);
                }
            }
        }
        bound
    }

    /// Counts the files of a damaged segment among those of which nothing is kept, and removes it,
    /// so that the next update makes it anew.
    pub(in crate::index) fn leave_out(&mut self, number: usize) {
        if let Some(segment) = self.segments[number].take() {
            store::remove(&segment.path);
        }
        for id in std::mem::take(&mut self.files[number]).into_iter().flatten() {
            self.places[id.0 as usize] = None;
        }
    }

    /// Returns the name of a segment that can be used.
    pub(in crate::index) fn name(&self, number: usize) -> &str {
        self.segments[number].map_or("", |segment| &segment.name)
    }

    /// Returns the segment of a file that is as it was, and its place there.
    pub(in crate::index) fn place(&self, id: FileId) -> Option<(u32, u32)> {
        self.places[id.0 as usize]
    }

    pub(in crate::index) fn table(&self) -> &'a FileTable {
        self.table
    }

    /// Returns the files that have symbols of which nothing is kept.
    pub(in crate::index) fn fresh(&self) -> Vec<FileId> {
        let all = self.table.iter().zip(&self.places);
        let fresh = all.filter(|(entry, place)| place.is_none() && has_symbols(entry));
        fresh.map(|(entry, _)| entry.id).collect()
    }

    /// Returns the numbers of the segments that can be used.
    pub(in crate::index) fn segments(&self) -> impl Iterator<Item = usize> {
        (0..self.segments.len()).filter(|number| self.segments[*number].is_some())
    }

    /// Returns how many files of a segment are as they were.
    pub(super) fn n_alive(&self, number: usize) -> usize {
        self.files[number].iter().flatten().count()
    }

    /// Returns the file at a place of a segment, if it is as it was.
    pub(in crate::index) fn file(&self, number: usize, place: u32) -> Option<FileId> {
        self.files[number].get(place as usize).copied().flatten()
    }

    /// Returns the files of a segment that are as they were, with their places in it.
    pub(in crate::index) fn files(&self, number: usize) -> impl Iterator<Item = (u32, FileId)> {
        (0..).zip(&self.files[number]).filter_map(|(place, id)| Some((place, (*id)?)))
    }

    /// Does something with a segment; damage that is met is that segment's.
    pub(in crate::index) fn with<T>(
        &self,
        number: usize,
        work: impl FnOnce(&'a Segment) -> Result<T, StoreError>,
    ) -> Result<T, Fault> {
        let damaged = || Fault::Segment(number);
        let segment = self.segments[number].ok_or_else(damaged)?;
        work(segment).map_err(|_| damaged())
    }

    /// Returns the first definition that is kept of a file and `is_wanted`.
    pub(in crate::index) fn first_definition(
        &self,
        id: FileId,
        is_wanted: &dyn Fn(&Raw) -> bool,
    ) -> Result<Option<Definition>, Fault> {
        let Some((number, place)) = self.places[id.0 as usize] else { return Ok(None) };
        self.with(number as usize, |segment| {
            let mut found = None;
            segment.definitions(place, &mut |raw: &Raw| {
                if found.is_none() && is_wanted(raw) {
                    found = Some(segment.whole(raw)?);
                }
                Ok(())
            })?;
            Ok(found)
        })
    }

    /// Returns the definitions that are kept of a file; `None` if nothing is.
    pub(in crate::index) fn definitions(
        &self,
        id: FileId,
    ) -> Result<Option<Vec<Definition>>, Fault> {
        let Some((number, place)) = self.places[id.0 as usize] else { return Ok(None) };
        self.with(number as usize, |segment| {
            let mut all = Vec::new();
            segment.definitions(place, &mut |raw: &Raw| {
                all.push(segment.whole(raw)?);
                Ok(())
            })?;
            Ok(Some(all))
        })
    }
}
