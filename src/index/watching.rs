//! Whether the folders of an index are watched, and what must happen before that is believed.

use std::sync::Arc;
use std::time::Instant;

use super::files::{FileTable, Watch};

/// Begun or widened so often, a watch is given up: the place is too lively for it, or it can never
/// cover what is there.
const TRIES: usize = 32;

/// The watch of an index, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct Watching {
    watch: Option<Watch>,
    n_begun: usize,
    /// Whether there is to be none any more.
    is_over: bool,
}

impl Watching {
    /// Whether the folders of `table` are to be watched, and are not.
    pub(super) fn is_wanted(&self, table: &Arc<FileTable>) -> bool {
        let is_covered = self.watch.as_ref().is_some_and(|watch| watch.covers(table));
        let tally = table.tally();
        !self.is_over && !is_covered && tally.cut.is_none() && tally.too_deep == 0
    }

    /// Hands out what there is, to be begun or widened while others look for themselves.
    pub(super) fn take(&mut self) -> Option<Watch> {
        self.n_begun += 1;
        self.watch.take()
    }

    /// Takes it back; the next look is the first that it covers.
    pub(super) fn put(&mut self, watch: Option<Watch>) {
        self.is_over |= watch.is_none() || self.n_begun >= TRIES;
        self.watch = watch.filter(|_| !self.is_over);
    }

    /// Whether `table` is what a look at all files would give. What was heard is forgotten.
    pub(super) fn is_quiet(&mut self, table: &Arc<FileTable>) -> bool {
        self.watch.as_mut().is_some_and(|watch| watch.is_quiet(table))
    }

    /// Takes the result of a look that began at `since`.
    pub(super) fn cover(&mut self, table: &Arc<FileTable>, since: Instant) {
        if let Some(watch) = &mut self.watch {
            watch.cover(table, since);
        }
    }
}
