//! What `@` completes to: workspace files, fuzzily, best first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::index::Index;
use crate::index::files::table::FileTable;

/// How long a table is used for further keys.
const FRESH: Duration = Duration::from_secs(10);

/// Most completions that are returned.
const MAX_SHOWN: usize = 50;

/// The files that may be named.
pub(super) struct Files {
    index: Arc<Index>,
    /// The start directory from the index's root; `None` if it lies elsewhere.
    start: Option<PathBuf>,
    names: Arc<Mutex<Option<Arc<Names>>>>,
}

/// Paths as a person names them, relative to the start directory.
struct Names {
    table: Arc<FileTable>,
    paths: Vec<(u64, Box<str>)>,
}

impl Files {
    /// Makes it for the start directory `start`; nothing is read yet.
    pub(super) fn new(index: Arc<Index>, start: &Path) -> Files {
        let start = start.strip_prefix(index.root()).ok().map(Path::to_owned);
        Files { index, start, names: Arc::default() }
    }

    /// Returns paths matching `query`, best first.
    pub(super) async fn matching(&self, query: &str) -> Vec<String> {
        let (index, start) = (Arc::clone(&self.index), self.start.clone());
        let (names, query) = (Arc::clone(&self.names), query.to_owned());
        let work = move || {
            let start = start?;
            let table = index.recent(FRESH, &|| false).ok()?;
            let mut last = names.lock().unwrap_or_else(PoisonError::into_inner);
            let known = last.take().filter(|names| names.table.is_same(&table));
            let names = known.unwrap_or_else(|| Arc::new(Names::new(table, &start)));
            *last = Some(Arc::clone(&names));
            drop(last);
            Some(names.matching(&query))
        };
        let found = tokio::task::spawn_blocking(work).await;
        found.ok().flatten().unwrap_or_default()
    }
}

impl Names {
    fn new(table: Arc<FileTable>, start: &Path) -> Names {
        use std::os::unix::ffi::OsStrExt as _;
        let start = start.as_os_str().as_bytes();
        let skip = if start.is_empty() { 0 } else { start.len() + 1 };
        let below = table.beneath(start).filter_map(|file| {
            let path = std::str::from_utf8(file.path.get(skip..)?).ok()?;
            Some((letters(path), Box::from(path)))
        });
        let paths = below.collect();
        Names { table, paths }
    }

    fn matching(&self, query: &str) -> Vec<String> {
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
