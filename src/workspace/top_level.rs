//! What stands in the start directory, for a first look.

use super::Workspace;

/// Most entries that are looked at.
const MAX_ENTRIES: usize = 1000;

impl Workspace {
    /// Returns the names in the start directory, folders with a slash at their end, sorted.
    ///
    /// `.git` is left out. At most a thousand entries are looked at, so that no folder is too big.
    pub fn top_level(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.start()) else { return Vec::new() };
        let entries = folder.take(MAX_ENTRIES).filter_map(Result::ok).map(|entry| {
            let name = entry.file_name().to_string_lossy().replace(char::is_control, "\u{fffd}");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { name + "/" } else { name }
        });
        let mut names: Vec<String> = entries.filter(|name| name != ".git/").collect();
        names.sort();
        names
    }
}
