//! Paths that a rule is about: a pattern as in `.gitignore`, relative to the workspace or absolute.

use std::path::{Path, PathBuf};

use super::pattern;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What a pattern may hold that is more than a name.
pub(super) const SIGNS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Names that no file has, to find out whether a pattern holds all that is in a folder.
pub(in crate::approval) const ANY: [&str; 2] = ["\u{1}any", ".\u{1}any"];

/// A pattern as in `.gitignore`: relative to the workspace, or absolute.
#[derive(Clone, Debug)]
pub struct Paths {
    glob: String,
    /// The same with the person's home written out.
    expanded: String,
    matcher: Gitignore,
    /// The same by the names that its folders have without links, where these are others.
    resolved: Option<Box<Paths>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Paths) -> bool {
        self.glob == other.glob
    }
}

impl Paths {
    /// Reads `glob`. One that begins with `/` or `~/` is absolute.
    ///
    /// # Errors
    /// A pattern that no path could match, or that does not parse; the text says what to write.
    pub fn new(glob: &str, home: Option<&Path>) -> Result<Paths, String> {
        let mut paths = Paths::of(glob, pattern::meant(glob, home)?)?;
        if let Some(resolved) = home.and_then(|_| pattern::resolved(&paths.expanded)) {
            paths.resolved = Some(Box::new(Paths::of(glob, resolved)?));
        }
        Ok(paths)
    }

    fn of(glob: &str, expanded: String) -> Result<Paths, String> {
        let mut builder = GitignoreBuilder::new("");
        builder.add_line(None, &expanded).map_err(|error| error.to_string())?;
        let matcher = builder.build().map_err(|error| error.to_string())?;
        Ok(Paths { glob: glob.to_owned(), expanded, matcher, resolved: None })
    }

    fn all(&self) -> impl Iterator<Item = &Paths> {
        std::iter::once(self).chain(self.resolved.as_deref())
    }

    /// Returns the pattern as it was written.
    pub fn glob(&self) -> &str {
        &self.glob
    }

    /// Returns the pattern with the person's home written out, and the same by the names that its
    /// folders have without links, where these are others.
    pub fn expanded(&self) -> impl Iterator<Item = &str> {
        self.all().map(|paths| paths.expanded.as_str())
    }

    /// Whether the pattern holds `path`, which is absolute, or a folder around it.
    pub(in crate::approval) fn hold(&self, path: &Path, root: &Path) -> bool {
        self.all().any(|paths| {
            let Ok(relative) = path.strip_prefix(paths.base(root)) else { return false };
            // What holds a file holds a folder of the same name.
            !relative.as_os_str().is_empty()
                && paths.matcher.matched_path_or_any_parents(relative, true).is_ignore()
        })
    }

    /// Whether the pattern holds `path`, where it holds no folder around it below `root`. This is
    /// quicker, for who goes through all folders.
    pub(in crate::approval) fn hold_itself(&self, path: &Path, root: &Path) -> bool {
        if self.is_absolute() {
            return self.hold(path, root);
        }
        let relative = path.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty());
        relative.is_some_and(|relative| self.matcher.matched(relative, true).is_ignore())
    }

    /// Whether the pattern holds `path`, or all that is in it.
    pub(in crate::approval) fn hold_all(&self, path: &Path, root: &Path) -> bool {
        self.hold(path, root) || ANY.iter().all(|name| self.hold(&path.join(name), root))
    }

    /// Whether the pattern may hold something beneath `folder`, as far as its beginning tells.
    pub(in crate::approval) fn may_lie_beneath(&self, folder: &Path, root: &Path) -> bool {
        self.all().any(|paths| {
            let within = paths.spelled_out(root).1;
            within.starts_with(folder) || folder.starts_with(&within)
        })
    }

    /// Returns what the pattern spells out: a path if it is one, and else nothing, and the folder in
    /// which all lies that it holds.
    pub(in crate::approval) fn spelled_out(&self, root: &Path) -> (Option<PathBuf>, PathBuf) {
        let base = self.base(root);
        // A name without a folder is meant wherever it is.
        let is_path = self.expanded.trim_end_matches('/').contains('/');
        let all = ["/**/*", "/**", "/*", "/"];
        let whole = all.iter().find_map(|end| self.expanded.strip_suffix(end));
        let whole = whole.unwrap_or(&self.expanded);
        let mut plain = base.to_owned();
        let parts = whole.split('/').filter(|part| !part.is_empty());
        for part in parts.clone().take_while(|part| is_path && !part.contains(SIGNS)) {
            plain.push(part);
        }
        let is_whole = is_path && !whole.contains(SIGNS) && parts.count() > 0;
        (is_whole.then(|| plain.clone()), plain)
    }

    fn base<'a>(&self, root: &'a Path) -> &'a Path {
        if self.is_absolute() { Path::new("/") } else { root }
    }

    fn is_absolute(&self) -> bool {
        self.expanded.starts_with('/')
    }
}
