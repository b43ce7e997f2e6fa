//! What is kept of text, opened once and bound once to the table in use; anew where either is another.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::MANIFEST_NAME;
use super::postings::{Binding, Postings};
use crate::index::files::FileTable;
use crate::index::store;

/// Opened postings, and which files of one table they describe.
#[derive(Debug)]
pub struct Text {
    postings: Arc<Postings>,
    binding: Binding,
    table: Arc<FileTable>,
}

impl Text {
    /// Returns what a search takes.
    pub fn known(&self) -> (&Postings, &Binding) {
        (&self.postings, &self.binding)
    }
}

/// The text that was used last.
#[derive(Debug, Default)]
pub struct Held {
    last: Mutex<Option<Arc<Text>>>,
}

impl Held {
    /// Returns what stands in `folder`, bound to `table`; `None` if nothing does that can be used.
    pub fn of(&self, table: &Arc<FileTable>, folder: &Path, identity: &[u8]) -> Option<Arc<Text>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.take().filter(|text| text.postings.is_current(folder));
        let text = match before {
            Some(text) if Arc::ptr_eq(&text.table, table) => text,
            Some(text) => {
                let differing = table.differing(&text.table);
                let binding = match differing {
                    Some(files) => text.binding.without(&files),
                    None => text.postings.bind(table),
                };
                let (postings, table) = (Arc::clone(&text.postings), Arc::clone(table));
                Arc::new(Text { postings, binding, table })
            }
            None => {
                let postings = Postings::open(folder, identity)?;
                let (binding, table) = (postings.bind(table), Arc::clone(table));
                Arc::new(Text { postings: Arc::new(postings), binding, table })
            }
        };
        *last = Some(Arc::clone(&text));
        Some(text)
    }

    /// Lets go of what was found damaged while it was searched, so that it is made anew.
    ///
    /// Says whether there was anything of that kind.
    pub fn drop_damaged(&self, folder: &Path) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(text) = last.take_if(|text| text.postings.is_damaged()) else { return false };
        // Another process may have made it anew by now.
        if text.postings.is_current(folder) {
            store::remove(&folder.join(MANIFEST_NAME));
        }
        true
    }

    /// Forgets it.
    pub fn clear(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
