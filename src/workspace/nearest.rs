//! Names that somebody may have meant who named a file that is not there.

use unicode_normalization::UnicodeNormalization as _;

use super::name::{names_in, quoted};
use super::walk::Query;
use super::{Located, Workspace};

/// Most names that are offered.
const MAX_OFFERED: usize = 4;
/// Most files of the workspace that are looked at.
const MAX_WALKED: usize = 50_000;

impl Workspace {
    /// Says that `at` does not exist, and which names come nearest.
    pub fn missing(&self, at: &Located) -> String {
        let shown = at.shown();
        let mut text = format!("`{shown}` does not exist");
        let parent = at.path().parent().unwrap_or(at.path());
        if !parent.is_dir()
            && let Ok(parent) = self.locate_path(parent)
        {
            text = format!("{text}; there is no folder `{}`", parent.shown());
        }
        let near = self.nearest(at);
        if !near.is_empty() {
            let near = near.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>();
            text = format!("{text}; did you mean {}?", near.join(" or "));
        }
        text
    }

    /// Returns paths that come near the missing `at`, best first: other spellings in its
    /// folder, then files of the same name elsewhere in the workspace.
    pub fn nearest(&self, at: &Located) -> Vec<String> {
        let (Some(parent), Some(name)) = (at.path().parent(), at.path().file_name()) else {
            return Vec::new();
        };
        let name = name.to_string_lossy();
        let mut ranked: Vec<(usize, String)> = names_in(parent)
            .filter_map(|other| {
                let rank = rank(&name, &other.to_string_lossy())?;
                Some((rank, quoted(&self.shown(&parent.join(other)))))
            })
            .collect();
        if ranked.is_empty() {
            ranked = self.elsewhere(at);
        }
        ranked.sort();
        ranked.truncate(MAX_OFFERED);
        ranked.into_iter().map(|(_, path)| path).collect()
    }

    /// Finds files of the same name, those on the most similar path first.
    fn elsewhere(&self, at: &Located) -> Vec<(usize, String)> {
        let Some(name) = at.path().file_name() else { return Vec::new() };
        let Some(root) = self.roots().find(|root| at.path().starts_with(root)) else {
            return Vec::new();
        };
        let Ok(root) = self.locate_path(root) else { return Vec::new() };
        let found = self.walk(&root, &Query { limit: MAX_WALKED, ..Query::all() });
        let same = found.files.iter().filter(|entry| entry.path.file_name() == Some(name));
        let ranked = same.take(100).map(|entry| {
            let path = quoted(&self.shown(&entry.path));
            (distance(at.shown(), &path), path)
        });
        ranked.collect()
    }
}

/// Says how far `other` is from `name`; `None` where nobody would have meant it.
fn rank(name: &str, other: &str) -> Option<usize> {
    let folded = |text: &str| -> String { text.nfkc().flat_map(char::to_lowercase).collect() };
    let (one, two) = (folded(name), folded(other));
    if one == two || one.trim() == two.trim() {
        return Some(0);
    }
    let stem = |text: &str| text.split_once('.').map_or(text, |(stem, _)| stem).to_owned();
    let allowed = (one.chars().count() / 3).clamp(1, 3);
    if one.len().abs_diff(two.len()) <= allowed * 4 {
        let far = distance(&one, &two);
        if far <= allowed {
            return Some(far);
        }
    }
    // Another ending: `config.yml` for `config.yaml`, `app.tsx` for `app.ts`.
    (!stem(&one).is_empty() && stem(&one) == stem(&two)).then_some(allowed + 1)
}

/// Returns how many letters must be put in, taken out or replaced to make `one` of `other`.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *against);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
