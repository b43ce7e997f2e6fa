//! What `@` completes to: workspace files, fuzzily, best first.

use std::time::{Duration, Instant};

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use crate::workspace::Workspace;
use crate::workspace::walk::Query;

/// How long a walk's result is used for further keys.
const FRESH: Duration = Duration::from_secs(10);

/// Most files that are matched.
const MAX_FILES: usize = 100_000;

/// Most completions that are returned.
const MAX_SHOWN: usize = 50;

/// The files of the last walk.
#[derive(Default)]
pub(super) struct Files {
    paths: Vec<String>,
    walked: Option<Instant>,
}

impl Files {
    /// Returns paths matching `query`, best first.
    pub(super) fn matching(&mut self, workspace: &Workspace, query: &str) -> Vec<String> {
        if self.walked.is_none_or(|walked| walked.elapsed() > FRESH) {
            self.paths = walked(workspace);
            self.walked = Some(Instant::now());
        }
        if query.is_empty() {
            return self.paths.iter().take(MAX_SHOWN).cloned().collect();
        }
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let found = pattern.match_list(&self.paths, &mut matcher);
        found.into_iter().take(MAX_SHOWN).map(|(path, _)| path.clone()).collect()
    }
}

/// Returns the files that the ignore rules admit, relative to the start directory.
fn walked(workspace: &Workspace) -> Vec<String> {
    let Ok(start) = workspace.locate_path(workspace.start()) else { return Vec::new() };
    let found = workspace.walk(&start, &Query { limit: MAX_FILES, ..Query::all() });
    let relative = found.files.iter().filter_map(|entry| {
        entry.path.strip_prefix(workspace.start()).ok()?.to_str().map(str::to_owned)
    });
    relative.collect()
}
