//! Postings on disk, opened for reading, and which files of a table they describe.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_flags::{ALWAYS, UNPROVEN};
use super::grams::Numbers;
use super::segment::{
    BLOCK_ROW, FILE, FILE_ROW, FIRST_BLOCK, FLAGS, LINES, NOT_COUNTED, STAMP, stamp_bytes,
};
use super::{MANIFEST, MANIFEST_NAME, MAX_BLOCKS, SEGMENT, VERSION};
use crate::index::files::{FileId, FileTable};
use crate::index::store::{Reader, Section, StoreError};

/// Where in its row the size of a file stands, in its stamp.
const SIZE: std::ops::Range<usize> = STAMP.start + 4..STAMP.start + 12;

/// The postings of one workspace. What they say holds for files with the stamps they have.
#[derive(Debug)]
pub struct Postings {
    identity: Vec<u8>,
    /// What the manifest names, also what could not be opened.
    names: Vec<String>,
    segments: Vec<Segment>,
    /// Whether a segment could not be opened, or was found damaged later.
    damaged: AtomicBool,
}

/// One opened segment.
#[derive(Debug)]
pub(super) struct Segment {
    name: String,
    reader: Reader,
    pub n_files: usize,
    pub n_blocks: usize,
    source: u64,
}

/// What a segment knows of one of its files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub flags: u32,
    pub first_block: u32,
    pub size: u64,
}

impl Postings {
    /// Opens the postings in `folder`; `None` if there are none, or none that can be used.
    pub fn open(folder: &Path, identity: &[u8]) -> Option<Postings> {
        // A writer may have put others in place between the list and the opening.
        let mut postings = Postings::open_once(folder, identity)?;
        if postings.is_damaged() {
            postings = Postings::open_once(folder, identity)?;
        }
        Some(postings)
    }

    fn open_once(folder: &Path, identity: &[u8]) -> Option<Postings> {
        let names = listed(folder, identity).ok()?;
        let segments: Vec<Option<Segment>> = names
            .iter()
            .map(|name| Segment::open(&folder.join(name), name, identity).ok())
            .collect();
        let damaged = segments.iter().any(Option::is_none);
        let segments = segments.into_iter().flatten().collect();
        let (identity, damaged) = (identity.to_vec(), AtomicBool::new(damaged));
        Some(Postings { identity, names, segments, damaged })
    }

    /// Whether there are any in `folder`, sound or not.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(MANIFEST_NAME).exists()
    }

    /// Whether something was found damaged: the postings should be made anew.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Notes that something was found damaged.
    pub(super) fn note_damage(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }

    /// Whether these are what stands in `folder`.
    pub fn is_current(&self, folder: &Path) -> bool {
        listed(folder, &self.identity).is_ok_and(|names| names == self.names)
    }

    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the bytes on disk.
    pub fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.reader.size()).sum()
    }

    /// Returns the bytes of the files that were read.
    pub fn source(&self) -> u64 {
        self.segments.iter().map(|segment| segment.source).sum()
    }

    pub(super) fn identity(&self) -> &[u8] {
        &self.identity
    }

    pub(super) fn segment(&self, place: usize) -> &Segment {
        &self.segments[place]
    }

    pub(super) fn name(&self, place: usize) -> &str {
        &self.segments[place].name
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Finds out which files of `table` are described by what stands here.
    pub fn bind(&self, table: &FileTable) -> Binding {
        let mut places: Vec<Option<(u32, u32)>> = vec![None; table.len()];
        let mut damaged = self.is_damaged();
        for (place, segment) in (0_u32..).zip(&self.segments) {
            let mut bound = Vec::new();
            match segment.bind(table, &mut bound) {
                Ok(()) => {
                    for (id, file) in bound {
                        places[id.0 as usize] = Some((place, file));
                    }
                }
                Err(_) => damaged = true,
            }
        }
        let mut binding = Binding {
            segments: self.segments.iter().map(|segment| vec![None; segment.n_files]).collect(),
            firsts: Vec::new(),
            always: Vec::new(),
            unbound: Vec::new(),
            places: Vec::new(),
            damaged,
        };
        let mut is_first = vec![true; self.segments.len()];
        for (id, place) in (0_u32..).map(FileId).zip(&places) {
            let Some((segment, file)) = *place else {
                binding.unbound.push(id);
                continue;
            };
            if std::mem::replace(&mut is_first[segment as usize], false) {
                binding.firsts.push((id, segment as usize));
            }
            let row = self.segments[segment as usize].row(file as usize);
            let flags = row.map_or(ALWAYS, |row| row.flags);
            if flags & ALWAYS != 0 {
                binding.always.push(id);
            }
            binding.segments[segment as usize][file as usize] = Some(id);
        }
        binding.places = places;
        binding
    }
}

fn listed(folder: &Path, identity: &[u8]) -> Result<Vec<String>, StoreError> {
    let manifest = Reader::open(&folder.join(MANIFEST_NAME), MANIFEST, VERSION, identity)?;
    let names = std::str::from_utf8(manifest.section(*b"SEGS")?);
    let names = names.map_err(|_| StoreError::Damaged)?;
    Ok(names.lines().filter(|name| !name.contains('/')).map(str::to_owned).collect())
}

impl Segment {
    fn open(path: &Path, name: &str, identity: &[u8]) -> Result<Segment, StoreError> {
        let reader = Reader::open(path, SEGMENT, VERSION, identity)?;
        let info = reader.section(*b"INFO")?;
        let count = |place: usize| {
            let bytes = info.get(place * 8..place * 8 + 8).ok_or(StoreError::Damaged)?;
            bytes.try_into().map(u64::from_le_bytes).map_err(|_| StoreError::Damaged)
        };
        let narrow = |number: u64| usize::try_from(number).map_err(|_| StoreError::Damaged);
        let (n_files, n_blocks, source) = (narrow(count(0)?)?, narrow(count(1)?)?, count(2)?);
        let fits = n_blocks <= MAX_BLOCKS
            && n_files.checked_mul(FILE_ROW) == Some(reader.lazy(*b"FILE")?.len())
            && n_blocks * BLOCK_ROW == reader.lazy(*b"BLOK")?.len();
        if !fits {
            return Err(StoreError::Damaged);
        }
        Ok(Segment { name: name.to_owned(), reader, n_files, n_blocks, source })
    }

    pub(super) fn section(&self, tag: [u8; 4]) -> Result<Section<'_>, StoreError> {
        self.reader.lazy(tag)
    }

    /// Returns what is known of a file.
    pub(super) fn row(&self, file: usize) -> Result<Row, StoreError> {
        let row = self.section(*b"FILE")?.get(file * FILE_ROW, FILE_ROW)?;
        let size = row[SIZE].try_into().map(u64::from_le_bytes);
        let size = size.map_err(|_| StoreError::Damaged)?;
        Ok(Row { flags: number(row, FLAGS), first_block: number(row, FIRST_BLOCK), size })
    }

    /// Returns the stamp of a file as it is stored.
    pub(super) fn stamp(&self, file: usize) -> Result<&[u8], StoreError> {
        Ok(&self.section(*b"FILE")?.get(file * FILE_ROW, FILE_ROW)?[STAMP])
    }

    /// Returns the lines of a file, if they were counted.
    fn n_lines(&self, file: usize) -> Option<u32> {
        let row = self.section(*b"FILE").ok()?.get(file * FILE_ROW, FILE_ROW).ok()?;
        Some(number(row, LINES)).filter(|n_lines| *n_lines != NOT_COUNTED)
    }

    /// Returns file, start and first line of a block.
    pub(super) fn block(&self, block: usize) -> Result<(u32, u64, u32), StoreError> {
        let row = self.section(*b"BLOK")?.get(block * BLOCK_ROW, BLOCK_ROW)?;
        Ok((number(row, FILE), u64::from(number(row, 0)), number(row, 8)))
    }

    /// Returns the blocks of a file, first and end.
    pub(super) fn blocks_of(&self, file: usize) -> Result<(usize, usize), StoreError> {
        let first = self.row(file)?.first_block as usize;
        let end = if file + 1 < self.n_files {
            self.row(file + 1)?.first_block as usize
        } else {
            self.n_blocks
        };
        if first <= end && end <= self.n_blocks {
            Ok((first, end))
        } else {
            Err(StoreError::Damaged)
        }
    }

    /// Pairs files of the table with files here that have the same path and stamp.
    fn bind(&self, table: &FileTable, bound: &mut Vec<(FileId, u32)>) -> Result<(), StoreError> {
        let paths = self.reader.section(*b"PATH")?;
        let rows = self.reader.section(*b"FILE")?;
        // Files of a segment mostly stand beside each other in the table, too.
        let (mut next, mut rest, mut path) = (FileId(0), paths, Vec::new());
        for (file, row) in (0_u32..).zip(rows.chunks_exact(FILE_ROW)) {
            rest = next_path(rest, &mut path).ok_or(StoreError::Damaged)?;
            let is_next = (next.0 as usize) < table.len() && table.get(next).path == path;
            let found = if is_next { Some(next) } else { table.find(&path) };
            let Some(id) = found else { continue };
            next = FileId(id.0 + 1);
            let stamp = table.get(id).stamp;
            if number(row, FLAGS) & UNPROVEN == 0 && stamp_bytes(&stamp) == row[STAMP] {
                bound.push((id, file));
            }
        }
        Ok(())
    }
}

/// Makes of a path the one that `rest` begins with; returns what follows it.
fn next_path<'a>(rest: &'a [u8], path: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (n_shared, rest) = rest.split_first()?;
    let mut numbers = Numbers(rest);
    let length = numbers.next()? as usize;
    let (own, rest) = numbers.0.split_at_checked(length)?;
    path.truncate(usize::from(*n_shared));
    path.extend_from_slice(own);
    Some(rest)
}

/// Reads four bytes of a row whose length was checked.
fn number(row: &[u8], at: usize) -> u32 {
    row[at..at + 4].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Which files of one table are described by which postings.
#[derive(Clone, Debug)]
pub struct Binding {
    /// For each file of each segment, the file of the table that it describes.
    pub(super) segments: Vec<Vec<Option<FileId>>>,
    /// The segments that describe any file, with the first of these, in the order of those.
    pub(super) firsts: Vec<(FileId, usize)>,
    /// Files that are known and have to be searched all the same.
    pub(super) always: Vec<FileId>,
    /// Files of which nothing is known.
    pub(super) unbound: Vec<FileId>,
    /// Of each file of the table: its segment, and its number there.
    places: Vec<Option<(u32, u32)>>,
    damaged: bool,
}

impl Binding {
    /// Returns the number of files that are searched since nothing is known of them as they are.
    pub fn n_unbound(&self) -> usize {
        self.unbound.len()
    }

    /// Whether something was found damaged: the postings should be made anew.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Returns where a file of the table is described: the segment, and its number there.
    pub(super) fn place(&self, id: FileId) -> Option<(usize, usize)> {
        let (segment, file) = self.places.get(id.0 as usize).copied().flatten()?;
        Some((segment as usize, file as usize))
    }

    /// Returns the lines of a file of the table, if `postings` describe it and they were counted.
    pub(super) fn n_lines(&self, postings: &Postings, id: FileId) -> Option<u32> {
        let (segment, file) = self.place(id)?;
        postings.segments.get(segment)?.n_lines(file)
    }

    /// Returns this for a table of the same names of which `files` are no more what they were.
    pub(super) fn without(&self, files: &[FileId]) -> Binding {
        let mut binding = self.clone();
        for id in files {
            let place = binding.places.get_mut(id.0 as usize).and_then(Option::take);
            let Some((segment, file)) = place else { continue };
            binding.segments[segment as usize][file as usize] = None;
            binding.unbound.push(*id);
        }
        binding.unbound.sort_unstable();
        binding.always.retain(|id| files.binary_search(id).is_err());
        binding
    }

    /// Says which segments are kept by an update, and which files are to be read.
    pub(super) fn sorted_out(
        &self,
        postings: &Postings,
        small: usize,
        max_small: usize,
    ) -> (Vec<usize>, Vec<FileId>) {
        let n_live = |place: usize| self.segments[place].iter().flatten().count();
        let share = |place: usize| {
            let segment = postings.segment(place);
            segment.n_blocks * n_live(place) / segment.n_files.max(1)
        };
        let places = 0..postings.len();
        let n_blocks: usize = places.clone().map(|place| postings.segment(place).n_blocks).sum();
        let n_dead = n_blocks - places.clone().map(share).sum::<usize>();
        let n_small =
            places.clone().filter(|place| postings.segment(*place).n_blocks < small).count();
        let many_dead = n_dead * 10 > n_blocks;
        let (mut keep, mut files) = (Vec::new(), self.unbound.clone());
        for place in places {
            let segment = postings.segment(place);
            let mostly_dead = share(place) * 4 < segment.n_blocks * 3;
            let is_small = segment.n_blocks < small;
            let again = n_live(place) == 0
                || many_dead && mostly_dead
                || is_small && (n_small > max_small || many_dead);
            if again {
                files.extend(self.segments[place].iter().flatten());
            } else {
                keep.push(place);
            }
        }
        (keep, files)
    }
}
