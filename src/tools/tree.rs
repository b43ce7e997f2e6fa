//! A list of files folded to a number of lines: small folders whole, large ones as a count.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row<'a> {
    /// A file, and its place in the list that was folded.
    File(&'a Path, usize),
    /// A folder that is only counted: its path, and how many files are in it at any depth.
    Folder(PathBuf, usize),
    /// Files right in a folder that are not shown.
    MoreFiles(&'a Path, usize),
    /// Folders right in a folder that are not shown, and the files in them.
    MoreFolders { within: PathBuf, folders: usize, files: usize },
}

/// A folder of the list.
#[derive(Debug, Default)]
struct Node<'a> {
    /// Files right in it, as places of the list.
    files: Vec<usize>,
    folders: BTreeMap<&'a OsStr, Node<'a>>,
    /// Files at any depth.
    count: usize,
    /// How many of its own files are shown, once it is opened.
    shown: Option<usize>,
}

/// Folds `files`, relative paths in order, to at most about `limit` rows.
///
/// Folders are opened from the top down while there is room, so that the shape of the tree
/// is seen before its depths. Nothing is left out without a row that counts it.
pub(super) fn fold<'a>(files: &[&'a Path], limit: usize) -> Vec<Row<'a>> {
    if files.len() <= limit {
        return files.iter().enumerate().map(|(place, file)| Row::File(file, place)).collect();
    }
    let mut root = Node::default();
    for (place, file) in files.iter().enumerate() {
        root.add(file, place);
    }
    open(&mut root, limit);
    let mut rows = Vec::new();
    root.show(Path::new(""), files, limit, &mut rows);
    rows
}

impl<'a> Node<'a> {
    fn add(&mut self, file: &'a Path, place: usize) {
        let mut node = self;
        node.count += 1;
        for folder in file.parent().into_iter().flat_map(Path::iter) {
            node = node.folders.entry(folder).or_default();
            node.count += 1;
        }
        node.files.push(place);
    }

    fn show(&self, path: &Path, files: &[&'a Path], limit: usize, rows: &mut Vec<Row<'a>>) {
        let shown = self.shown.unwrap_or(0);
        rows.extend(self.files.iter().take(shown).map(|place| Row::File(files[*place], *place)));
        if let Some(first) = self.files.get(shown) {
            let folder = files[*first].parent().unwrap_or(Path::new(""));
            rows.push(Row::MoreFiles(folder, self.files.len() - shown));
        }
        let mut left = (0, 0);
        for (name, node) in &self.folders {
            let path = path.join(name);
            if node.shown.is_some() {
                node.show(&path, files, limit, rows);
            } else if rows.len() < limit {
                rows.push(Row::Folder(path, node.count));
            } else {
                left = (left.0 + 1, left.1 + node.count);
            }
        }
        if let (folders @ 1.., files) = left {
            rows.push(Row::MoreFolders { within: path.to_owned(), folders, files });
        }
    }
}

/// Marks the folders that are shown opened, breadth first.
fn open(root: &mut Node<'_>, limit: usize) {
    let mut left = limit.saturating_sub(root.folders.len() + 1);
    root.shown = Some(root.files.len().min(left));
    left -= root.files.len().min(left);
    let mut queue: VecDeque<&mut Node<'_>> = root.folders.values_mut().collect();
    while let Some(node) = queue.pop_front() {
        // Opened, it takes the row of its count away and brings those of its content.
        let cost = (node.files.len() + node.folders.len()).saturating_sub(1);
        if cost > left {
            continue;
        }
        left -= cost;
        node.shown = Some(node.files.len());
        queue.extend(node.folders.values_mut());
    }
}
