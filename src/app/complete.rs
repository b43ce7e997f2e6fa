//! What `@` completes to: workspace files, fuzzily, best first.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::index::Index;
use crate::index::fuzzy::Names;

/// How long a table is used for further keys.
const FRESH: Duration = Duration::from_secs(10);

/// The files that may be named.
pub(super) struct Files {
    index: Arc<Index>,
    /// The start directory from the index's root; `None` if it lies elsewhere.
    start: Option<PathBuf>,
    names: Arc<Mutex<Option<Arc<Names>>>>,
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
            let known = last.take().filter(|names| names.are_of(&table));
            let names = known.unwrap_or_else(|| Arc::new(Names::new(table, &start)));
            *last = Some(Arc::clone(&names));
            drop(last);
            Some(names.matching(&query))
        };
        let found = tokio::task::spawn_blocking(work).await;
        found.ok().flatten().unwrap_or_default()
    }
}
