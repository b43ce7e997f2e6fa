//! Paths by what a person types of them: fuzzily, best first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::files::{FileId, FileTable};

/// Most paths that are returned.
const MAX_SHOWN: usize = 50;
/// A thread more is worth it for so many paths.
const SHARE: usize = 8_000;
const MAX_THREADS: usize = 4;

/// Paths as a person names them, relative to the start directory.
#[derive(Debug)]
pub struct Names {
    table: Arc<FileTable>,
    /// Bytes of a path that lead to the start directory.
    skip: usize,
    paths: Vec<Named>,
    /// What the last query left, for one that goes on from it.
    last: Mutex<Option<Left>>,
}

/// One path: the letters in it, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Named {
    letters: u64,
    id: FileId,
}

/// What one query left of the paths: whatever is not among them does not match it.
#[derive(Debug)]
struct Left {
    query: String,
    places: Vec<u32>,
}

/// A match and where it stands: of two that match as well, the one that stands first is better.
type Best = Reverse<(u32, Reverse<u32>)>;

impl Names {
    /// Makes them of the files of `table` beneath `start`, which leads on from its root.
    pub fn new(table: Arc<FileTable>, start: &Path) -> Names {
        let start = start.as_os_str().as_bytes();
        let skip = if start.is_empty() { 0 } else { start.len() + 1 };
        let named = |id: FileId| {
            let path = std::str::from_utf8(table.path(id).get(skip..)?).ok()?;
            Some(Named { letters: letters(path), id })
        };
        let paths = table.ids_beneath(start).filter_map(named).collect();
        Names { table, skip, paths, last: Mutex::default() }
    }

    /// Whether they are those of `table`.
    pub fn are_of(&self, table: &FileTable) -> bool {
        self.table.has_names_of(table)
    }

    /// Returns paths that match `query`, best first; without one the first in order.
    pub fn matching(&self, query: &str) -> Vec<String> {
        if query.is_empty() {
            return (0..).take(self.paths.len().min(MAX_SHOWN)).map(|at| self.shown(at)).collect();
        }
        // Operators and what is folded say nothing of the letters, nor of what a longer query matches.
        let is_plain =
            query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let left = last.take().filter(|left| is_plain && query.starts_with(&left.query));
        let search = Search::new(self, query, is_plain);
        let places =
            left.map_or_else(|| (0..).take(self.paths.len()).collect(), |left| left.places);
        let (best, places) = search.among(&places);
        *last = is_plain.then(|| Left { query: query.to_owned(), places });
        drop(last);
        let best = best.into_sorted_vec().into_iter();
        best.map(|Reverse((_, Reverse(place)))| self.shown(place)).collect()
    }

    fn path(&self, place: u32) -> &[u8] {
        let id = self.paths[place as usize].id;
        self.table.path(id).get(self.skip..).unwrap_or_default()
    }

    fn shown(&self, place: u32) -> String {
        String::from_utf8_lossy(self.path(place)).into_owned()
    }
}

/// What one query looks for.
struct Search<'a> {
    names: &'a Names,
    pattern: Pattern,
    /// Letters that a match must have.
    wanted: u64,
    /// What no match can be better than, if that is known.
    perfect: Option<u32>,
}

impl Search<'_> {
    fn new<'a>(names: &'a Names, query: &str, is_plain: bool) -> Search<'a> {
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut buffer = Vec::new();
        // All letters side by side from the start of a name on: that is the query itself.
        let perfect = pattern.score(Utf32Str::new(query, &mut buffer), &mut matcher());
        Search {
            names,
            pattern,
            wanted: if is_plain { letters(query) } else { 0 },
            perfect: perfect.filter(|_| is_plain),
        }
    }

    /// Returns the best of the paths at `places`, and which of them may match at all, in order.
    fn among(&self, places: &[u32]) -> (BinaryHeap<Best>, Vec<u32>) {
        let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_threads = n_threads.min(MAX_THREADS).min(places.len() / SHARE + 1);
        if n_threads == 1 {
            return self.share(places);
        }
        let shares = places.chunks(places.len().div_ceil(n_threads));
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                shares.map(|share| scope.spawn(move || self.share(share))).collect();
            let (mut best, mut left) = (BinaryHeap::new(), Vec::new());
            for thread in threads {
                // A thread that broke off has said why; what it found is missing.
                let Ok((found, mut places)) = thread.join() else { continue };
                for one in found {
                    keep(&mut best, one);
                }
                left.append(&mut places);
            }
            (best, left)
        })
    }

    fn share(&self, places: &[u32]) -> (BinaryHeap<Best>, Vec<u32>) {
        let (mut matcher, mut buffer) = (matcher(), Vec::new());
        let (mut best, mut left) = (BinaryHeap::new(), Vec::new());
        for (at, place) in places.iter().enumerate() {
            if self.wanted & !self.names.paths[*place as usize].letters != 0 {
                continue;
            }
            let Some(score) = self.score(*place, &mut matcher, &mut buffer) else { continue };
            left.push(*place);
            keep(&mut best, Reverse((score, Reverse(*place))));
            // None that comes after can be better, so the rest is not looked at.
            let worst = best.peek().map(|Reverse((score, _))| *score);
            if best.len() == MAX_SHOWN && worst >= self.perfect && self.perfect.is_some() {
                left.extend_from_slice(&places[at + 1..]);
                break;
            }
        }
        (best, left)
    }

    fn score(&self, place: u32, matcher: &mut Matcher, buffer: &mut Vec<char>) -> Option<u32> {
        let path = self.names.path(place);
        let text = if self.names.paths[place as usize].letters == u64::MAX {
            Utf32Str::new(std::str::from_utf8(path).ok()?, buffer)
        } else {
            Utf32Str::Ascii(path)
        };
        self.pattern.score(text, matcher)
    }
}

fn matcher() -> Matcher {
    Matcher::new(Config::DEFAULT.match_paths())
}

/// Takes one in, if it is among the best.
fn keep(best: &mut BinaryHeap<Best>, one: Best) {
    best.push(one);
    if best.len() > MAX_SHOWN {
        best.pop();
    }
}

/// The bit of each byte.
static LETTERS: [u64; 256] = {
    let mut bits = [0; 256];
    let mut byte = 0;
    while byte < bits.len() {
        bits[byte] = bit(byte);
        byte += 1;
    }
    bits
};

#[expect(clippy::cast_possible_truncation, reason = "a byte, as a number that counts")]
const fn bit(byte: usize) -> u64 {
    match (byte as u8).to_ascii_lowercase() {
        letter @ b'a'..=b'z' => 1 << (letter - b'a'),
        digit @ b'0'..=b'9' => 1 << (digit - b'0' + 26),
        b'/' => 1 << 36,
        b'-' => 1 << 37,
        b'_' => 1 << 38,
        b'.' => 1 << 39,
        // A letter with an accent may stand for one without.
        128.. => u64::MAX,
        _ => 0,
    }
}

/// Returns a bit for each letter and digit in `text`, whatever its case; all for what is not ASCII.
fn letters(text: &str) -> u64 {
    text.bytes().fold(0, |mask, byte| mask | LETTERS[usize::from(byte)])
}
