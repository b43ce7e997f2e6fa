//! The symbols as they are kept on disk: files with stamps, their definitions, and which files hold a word.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io;
use std::path::Path;

use super::corpus::{Corpus, FileSymbols};
use super::lexed::{Definition, Kind};
use super::tokens::Mixed;
use crate::index::store::{Reader, Section, Writer};
use crate::workspace::Stamp;

/// The file's name in the folder of an index.
pub(super) const NAME: &str = "symbols";
const KIND: [u8; 4] = *b"symb";
/// Raised whenever the form or what the lexer finds is another.
const VERSION: u32 = 1;

const TEXT: [u8; 4] = *b"text";
const FILES: [u8; 4] = *b"file";
const DEFINITIONS: [u8; 4] = *b"defs";
const WORDS: [u8; 4] = *b"word";
const POSTINGS: [u8; 4] = *b"post";

/// Bytes of a row: of a file, of a definition, of a word.
const FILE: usize = 64;
const DEFINITION: usize = 32;
const WORD: usize = 16;

/// Takes the name of a definition, and what gives the whole of it.
type Each<'e, 'a> = dyn FnMut(&'a [u8], &mut dyn FnMut() -> Option<Definition>) + 'e;

/// Symbols that were kept, all of them checked.
#[derive(Debug)]
pub struct Stored {
    reader: Reader,
}

/// Text that is kept once.
#[derive(Default)]
struct Pool<'a> {
    bytes: Vec<u8>,
    known: HashMap<&'a [u8], u32, BuildHasherDefault<Mixed>>,
}

impl<'a> Pool<'a> {
    fn add(&mut self, text: &'a [u8]) -> io::Result<[u32; 2]> {
        let length = number(text.len())?;
        if let Some(start) = self.known.get(text) {
            return Ok([*start, length]);
        }
        let start = number(self.bytes.len())?;
        self.bytes.extend(text);
        self.known.insert(text, start);
        Ok([start, length])
    }
}

fn number(value: usize) -> io::Result<u32> {
    u32::try_from(value).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

fn put(row: &mut Vec<u8>, numbers: &[u32]) {
    for number in numbers {
        row.extend(number.to_le_bytes());
    }
}

/// Writes the symbols into `folder`.
pub(super) fn write(corpus: &Corpus, folder: &Path, identity: &[u8]) -> io::Result<()> {
    let mut text = Pool::default();
    let (mut files, mut definitions) = (Vec::new(), Vec::new());
    for file in &corpus.files {
        put(&mut files, &text.add(&file.path)?);
        let first = number(definitions.len() / DEFINITION)?;
        put(&mut files, &[first, number(file.definitions.len())?, file.lines]);
        let stamp = file.stamp.unwrap_or_default();
        put(&mut files, &[stamp.mode]);
        files.extend(stamp.size.to_le_bytes());
        files.extend(stamp.modified.to_le_bytes());
        files.extend(stamp.altered.to_le_bytes());
        files.extend(stamp.inode.to_le_bytes());
        files.extend(stamp.device.to_le_bytes());
        for one in &file.definitions {
            put(&mut definitions, &text.add(one.name.as_bytes())?);
            put(&mut definitions, &text.add(one.container.as_bytes())?);
            put(&mut definitions, &[one.line, one.start, one.end, one.kind as u32]);
        }
    }
    let (mut words, mut postings) = (Vec::new(), Vec::new());
    for (word, places) in corpus.words.iter().zip(&corpus.postings) {
        put(&mut words, &text.add(word)?);
        put(&mut words, &[number(postings.len())?, number(places.len())?]);
        let mut before = 0;
        for place in places {
            let mut step = place - before;
            before = *place;
            while step >= 0x80 {
                postings.push(low_bits(step) | 0x80);
                step >>= 7;
            }
            postings.push(low_bits(step));
        }
    }
    let mut writer = Writer::new(KIND, VERSION, identity);
    writer.section(TEXT, text.bytes);
    writer.section(FILES, files);
    writer.section(DEFINITIONS, definitions);
    writer.section(WORDS, words);
    writer.section(POSTINGS, postings);
    writer.write(&folder.join(NAME))
}

fn low_bits(step: u32) -> u8 {
    (step & 0x7F) as u8
}

/// Rows of one length, each checked as it is read.
#[derive(Clone, Copy)]
struct Rows<'a> {
    section: Option<Section<'a>>,
    width: usize,
}

impl<'a> Rows<'a> {
    fn len(self) -> usize {
        self.section.map_or(0, |section| section.len() / self.width)
    }

    fn get(self, place: usize) -> Option<&'a [u8]> {
        self.section?.get(place.checked_mul(self.width)?, self.width).ok()
    }
}

fn short(row: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(row.get(at..at + 4)?.try_into().ok()?))
}

fn long(row: &[u8], at: usize) -> Option<[u8; 8]> {
    row.get(at..at + 8)?.try_into().ok()
}

impl Stored {
    /// Opens what is kept in `folder` of the workspace that `identity` names; `None` where there
    /// is nothing, or nothing that may be used.
    pub fn open(folder: &Path, identity: &[u8]) -> Option<Stored> {
        let reader = Reader::open(&folder.join(NAME), KIND, VERSION, identity).ok()?;
        let all = [TEXT, FILES, DEFINITIONS, WORDS, POSTINGS];
        all.iter().all(|tag| reader.section(*tag).is_ok()).then_some(Stored { reader })
    }

    fn rows(&self, tag: [u8; 4], width: usize) -> Rows<'_> {
        Rows { section: self.reader.lazy(tag).ok(), width }
    }

    fn files(&self) -> Rows<'_> {
        self.rows(FILES, FILE)
    }

    fn text(&self, row: &[u8], at: usize) -> Option<&[u8]> {
        let start = usize::try_from(short(row, at)?).ok()?;
        let length = usize::try_from(short(row, at + 4)?).ok()?;
        self.reader.lazy(TEXT).ok()?.get(start, length).ok()
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the place of the file at `path`.
    pub(super) fn find(&self, path: &[u8]) -> Option<u32> {
        let rows = self.files();
        let (mut low, mut high) = (0, rows.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.text(rows.get(middle)?, 0)?.cmp(path) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok(),
            }
        }
        None
    }

    /// Returns the stamp of the file at `place`.
    pub(super) fn stamp(&self, place: u32) -> Option<Stamp> {
        let row = self.files().get(usize::try_from(place).ok()?)?;
        let stamp = Stamp {
            mode: short(row, 20)?,
            size: u64::from_le_bytes(long(row, 24)?),
            modified: i64::from_le_bytes(long(row, 32)?),
            altered: i64::from_le_bytes(long(row, 40)?),
            inode: u64::from_le_bytes(long(row, 48)?),
            device: u64::from_le_bytes(long(row, 56)?),
        };
        (stamp != Stamp::default()).then_some(stamp)
    }

    /// Calls `each` with the name and the row of each definition of the file at `place`.
    pub(super) fn each_definition<'a>(&'a self, place: u32, each: &mut Each<'_, 'a>) -> Option<()> {
        let row = self.files().get(usize::try_from(place).ok()?)?;
        let first = usize::try_from(short(row, 8)?).ok()?;
        let count = usize::try_from(short(row, 12)?).ok()?;
        let rows = self.rows(DEFINITIONS, DEFINITION);
        for at in first..first.checked_add(count)? {
            let row = rows.get(at)?;
            each(self.text(row, 0)?, &mut || self.definition(row));
        }
        Some(())
    }

    fn definition(&self, row: &[u8]) -> Option<Definition> {
        Some(Definition {
            name: str::from_utf8(self.text(row, 0)?).ok()?.to_owned(),
            container: str::from_utf8(self.text(row, 8)?).ok()?.to_owned(),
            line: short(row, 16)?,
            start: short(row, 20)?,
            end: short(row, 24)?,
            kind: Kind::from_number(u8::try_from(short(row, 28)?).ok()?)?,
        })
    }

    /// Returns all that is kept of the file at `place`.
    pub(super) fn file(&self, place: u32) -> Option<FileSymbols> {
        let row = self.files().get(usize::try_from(place).ok()?)?;
        let mut definitions = Vec::new();
        let mut is_whole = true;
        self.each_definition(place, &mut |_, whole| match whole() {
            Some(definition) => definitions.push(definition),
            None => is_whole = false,
        })?;
        let path = self.text(row, 0)?.to_vec();
        let (stamp, lines) = (self.stamp(place), short(row, 16)?);
        is_whole.then_some(FileSymbols { path, stamp, lines, definitions })
    }

    /// Calls `each` with every word and the places of the files that hold it. False if damaged.
    pub(super) fn each_word(&self, each: &mut dyn FnMut(&[u8], &[u32])) -> bool {
        let rows = self.rows(WORDS, WORD);
        let mut places = Vec::new();
        (0..rows.len()).all(|at| {
            let word = rows.get(at).and_then(|row| {
                self.places(row, &mut places)?;
                self.text(row, 0)
            });
            word.inspect(|word| each(word, &places)).is_some()
        })
    }

    /// Returns in how many files the word stands.
    pub fn n_files_with(&self, word: &[u8]) -> Option<u32> {
        let rows = self.rows(WORDS, WORD);
        let (mut low, mut high) = (0, rows.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let row = rows.get(middle)?;
            match self.text(row, 0)?.cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return short(row, 12),
            }
        }
        Some(0)
    }

    fn places(&self, row: &[u8], places: &mut Vec<u32>) -> Option<()> {
        places.clear();
        let start = usize::try_from(short(row, 8)?).ok()?;
        let section = self.reader.lazy(POSTINGS).ok()?;
        let count = usize::try_from(short(row, 12)?).ok()?;
        // A number takes at most five bytes.
        let most = count.checked_mul(5)?.min(section.len().checked_sub(start)?);
        let mut bytes = section.get(start, most).ok()?.iter();
        let mut before = 0_u32;
        for _ in 0..count {
            let (mut step, mut shift) = (0_u32, 0);
            loop {
                let byte = *bytes.next()?;
                step |= u32::from(byte & 0x7F).checked_shl(shift)?;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            before = before.checked_add(step)?;
            places.push(before);
        }
        Some(())
    }
}
