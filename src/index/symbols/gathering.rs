//! What the files of one segment define and name, gathered up to a bound of memory and then written.

use super::dictionary::{DictionaryWriter, put};
use super::interner::{Interner, small};
use super::lexed::Definition;
use super::segment::{FILE_ROW, KIND};
use super::{VERSION, tags};
use crate::index::store::Writer;
use crate::workspace::Stamp;

/// Bytes of memory after which a segment is written.
const FULL: usize = 40 << 20;

/// One definition, its names by their numbers.
#[derive(Debug)]
struct Row {
    name: u32,
    container: u32,
    kind: u8,
    line: u32,
    start: u32,
    end: u32,
}

/// The files of a segment to be.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    paths: Vec<u8>,
    /// Of each file: where its path and its definitions end, its lines, and its stamp.
    files: Vec<(u32, u32, u32, Stamp)>,
    rows: Vec<Row>,
    names: Interner,
    /// Names, and the places of the files that define them.
    defined: Vec<(u32, u32)>,
    words: Interner,
    /// Words, and the places of the files that hold them.
    used: Vec<(u32, u32)>,
}

impl Gathering {
    /// Whether there are no files.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether it is to be written before more is added.
    pub(super) fn is_full(&self) -> bool {
        let rows = self.rows.len() * size_of::<Row>();
        let pairs = (self.defined.len() + self.used.len()) * 8;
        rows + pairs + self.names.memory() + self.words.memory() + self.files.len() * 100 > FULL
    }

    /// Notes the words of the file that is added next, each once.
    pub(super) fn add_words(&mut self, words: &[&[u8]]) {
        let place = small(self.files.len());
        for word in words {
            self.used.push((self.words.number(word), place));
        }
    }

    /// Adds a file, whose path comes after all before it.
    pub(super) fn add_file(
        &mut self,
        path: &[u8],
        stamp: Stamp,
        lines: u32,
        definitions: &[Definition],
    ) {
        let place = small(self.files.len());
        for one in definitions {
            let name = self.names.number(one.name.as_bytes());
            // Numbers of containers count from one: most definitions have none.
            let container = match one.container.as_str() {
                "" => 0,
                container => self.names.number(container.as_bytes()) + 1,
            };
            let (kind, line) = (one.kind as u8, one.line);
            self.rows.push(Row { name, container, kind, line, start: one.start, end: one.end });
            self.defined.push((name, place));
        }
        self.paths.extend_from_slice(path);
        let (paths, rows) = (small(self.paths.len()), small(self.rows.len()));
        self.files.push((paths, rows, lines, stamp));
    }

    /// Makes the file of the segment, and empties this.
    pub(super) fn finish(&mut self, identity: &[u8]) -> Writer {
        let all = std::mem::take(self);
        let mut writer = Writer::new(KIND, VERSION, identity);
        let (words, word_blocks, _) = dictionary(&all.words, &all.used);
        writer.section(tags::WORDS, words);
        writer.section(tags::WORD_BLOCKS, word_blocks);
        drop((all.words, all.used));
        let (names, name_blocks, numbers) = dictionary(&all.names, &all.defined);
        writer.section(tags::NAMES, names);
        writer.section(tags::NAME_BLOCKS, name_blocks);
        drop((all.names, all.defined));
        let (mut files, mut definitions) = (Vec::new(), Vec::new());
        files.reserve(all.files.len() * FILE_ROW);
        let mut rows = all.rows.iter();
        let mut first = 0;
        for (path, end, lines, stamp) in all.files {
            for number in [path, small(definitions.len()), end - first, lines, stamp.mode, 0] {
                files.extend(number.to_le_bytes());
            }
            for number in [stamp.size, stamp.inode, stamp.device] {
                files.extend(number.to_le_bytes());
            }
            files.extend(stamp.modified.to_le_bytes());
            files.extend(stamp.altered.to_le_bytes());
            let mut before = 0;
            for row in rows.by_ref().take((end - first) as usize) {
                let container = match row.container {
                    0 => 0,
                    container => numbers[container as usize - 1] + 1,
                };
                put(&mut definitions, numbers[row.name as usize]);
                put(&mut definitions, container);
                definitions.push(row.kind);
                put(&mut definitions, folded(row.line, before));
                put(&mut definitions, folded(row.start, row.line));
                put(&mut definitions, folded(row.end, row.line));
                before = row.line;
            }
            first = end;
        }
        writer.section(tags::FILES, files);
        writer.section(tags::PATHS, all.paths);
        writer.section(tags::DEFINITIONS, definitions);
        writer
    }
}

/// Returns the difference of two lines as a number that is small if they are near.
fn folded(line: u32, from: u32) -> u32 {
    // Lines are far below a thousand million: files have at most a few megabytes.
    if line >= from { (line - from) << 1 } else { ((from - line) << 1) - 1 }
}

/// Writes keys in order with the places that go with them; also each key's place in that order.
///
/// The pairs of a key come in the order of their places.
fn dictionary(keys: &Interner, pairs: &[(u32, u32)]) -> (Vec<u8>, Vec<u8>, Vec<u32>) {
    let order = keys.sorted();
    let mut numbers = vec![0; keys.len()];
    for (number, key) in (0..).zip(&order) {
        numbers[*key as usize] = number;
    }
    // Counting puts the places of each key together, in their order.
    let mut ends = vec![0_u32; keys.len() + 1];
    for (key, _) in pairs {
        ends[numbers[*key as usize] as usize + 1] += 1;
    }
    for number in 1..ends.len() {
        ends[number] += ends[number - 1];
    }
    let mut all = vec![0; pairs.len()];
    for (key, place) in pairs {
        let next = &mut ends[numbers[*key as usize] as usize];
        all[*next as usize] = *place;
        *next += 1;
    }
    let mut writer = DictionaryWriter::default();
    let (mut start, mut places) = (0, Vec::new());
    for (key, end) in order.iter().zip(&ends) {
        places.clear();
        places.extend_from_slice(&all[start..*end as usize]);
        places.dedup();
        start = *end as usize;
        writer.add(keys.get(*key), &places);
    }
    let (entries, blocks) = writer.finish();
    (entries, blocks, numbers)
}
