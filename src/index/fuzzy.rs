//! Paths by what a person types of them: fuzzily, best first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::files::FileTable;

/// Most paths that are returned.
const MAX_SHOWN: usize = 50;

/// Paths as a person names them, relative to the start directory.
#[derive(Debug)]
pub struct Names {
    table: Arc<FileTable>,
    paths: Vec<(u64, Box<str>)>,
}

impl Names {
    /// Makes them of the files of `table` beneath `start`, which leads on from its root.
    pub fn new(table: Arc<FileTable>, start: &Path) -> Names {
        let start = start.as_os_str().as_bytes();
        let skip = if start.is_empty() { 0 } else { start.len() + 1 };
        let below = table.beneath(start).filter_map(|file| {
            let path = std::str::from_utf8(file.path.get(skip..)?).ok()?;
            Some((letters(path), Box::from(path)))
        });
        let paths = below.collect();
        Names { table, paths }
    }

    /// Whether they are those of `table`.
    pub fn are_of(&self, table: &FileTable) -> bool {
        self.table.has_names_of(table)
    }

    /// Returns paths that match `query`, best first; without one the first in order.
    pub fn matching(&self, query: &str) -> Vec<String> {
        if query.is_empty() {
            let first = self.paths.iter().take(MAX_SHOWN);
            return first.map(|(_, path)| path.to_string()).collect();
        }
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        // What lacks a letter of the query cannot match; operators and what is folded say nothing.
        let is_plain =
            query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte));
        let wanted = if is_plain { letters(query) } else { 0 };
        let mut best = BinaryHeap::new();
        let mut buffer = Vec::new();
        for (place, (mask, path)) in self.paths.iter().enumerate() {
            if wanted & !mask != 0 {
                continue;
            }
            let Some(score) = pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher) else {
                continue;
            };
            // Of two that match as well, the one that stands first is better.
            best.push(Reverse((score, Reverse(place))));
            if best.len() > MAX_SHOWN {
                best.pop();
            }
        }
        let best = best.into_sorted_vec().into_iter();
        best.map(|Reverse((_, Reverse(place)))| self.paths[place].1.to_string()).collect()
    }
}

/// Returns a bit for each letter and digit in `text`, whatever its case, and one for what is not ASCII.
fn letters(text: &str) -> u64 {
    text.bytes().fold(0, |mask, byte| {
        let bit = match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'0'..=b'9' => digit - b'0' + 26,
            b'/' => 36,
            b'-' => 37,
            b'_' => 38,
            b'.' => 39,
            // A letter with an accent may stand for one without.
            128.. => return u64::MAX,
            _ => return mask,
        };
        mask | 1 << bit
    })
}
