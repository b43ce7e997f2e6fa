//! Walking the workspace under its ignore rules.

use std::fs::FileType;
use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::GitignoreBuilder;
use ignore::{DirEntry, WalkBuilder};

use super::{FileError, Located, Workspace};

/// Most files that one walk gathers.
pub const MAX_FILES: usize = 200_000;
/// How deep a walk goes.
const MAX_DEPTH: usize = 128;
/// Files with ignore rules, weakest first. The last one is Snick's own, and nothing lifts it.
const RULE_FILES: [&str; 3] = [".gitignore", ".ignore", SNICK_RULES];
pub(super) const SNICK_RULES: &str = ".snickignore";
/// Most bytes of a file with ignore rules.
const MAX_RULES: u64 = 4 << 20;
/// Bytes of patterns that can always be made ready, however they are.
const SOON_BUILT: u64 = 64 << 10;
/// How many patterns one file may hold: more may take longer to make ready than anybody waits.
const MOST_PATTERNS: usize = 10_000;
/// How many `*` these may have: each may stand for any part of a name, and all must be tried.
const MOST_STARS: usize = 2000;

/// Whether files that git's and other tools' ignore rules name are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    Hidden,
    Shown,
}

/// Which files a walk gives.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    pub ignored: Ignored,
    /// Gives only what it matches; it never brings ignored files back.
    pub glob: Option<&'a Glob>,
    /// Most files to gather, never more than [`MAX_FILES`].
    pub limit: usize,
    /// Asked now and then; once it says yes, the walk stops.
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Query<'_> {
    /// Returns the query of everything that the rules admit.
    pub fn all() -> Query<'static> {
        let ignored = Ignored::Hidden;
        Query { ignored, glob: None, limit: MAX_FILES, cancelled: &|| false }
    }
}

/// What a walk found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Sorted, each folder's content beside each other.
    pub files: Vec<Entry>,
    /// Folders that could not be read, or whose ignore rules could not.
    pub unreadable: usize,
    /// Folders beyond the greatest depth.
    pub too_deep: usize,
    /// Whether the limit ended the walk.
    pub cut: bool,
    /// Whether the folder itself is ignored: then its content is given all the same.
    pub is_ignored: bool,
}

/// A file that a walk found. Folders are not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Absolute.
    pub path: PathBuf,
    pub kind: EntryKind,
}

impl Entry {
    /// Looks up the number of bytes; `None` if the file is gone.
    pub fn size(&self) -> Option<u64> {
        Some(std::fs::symlink_metadata(&self.path).ok()?.len())
    }

    /// Looks up where a link points, as it is written.
    pub fn target(&self) -> Option<PathBuf> {
        std::fs::read_link(&self.path).ok()
    }
}

/// What kind of file an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// A symbolic link, not followed.
    Link,
    /// FIFO, socket or device.
    Special,
}

impl EntryKind {
    fn of(kind: FileType) -> EntryKind {
        if kind.is_file() {
            EntryKind::File
        } else if kind.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Special
        }
    }
}

/// A pattern of paths, such as `**/*.rs`. Without a slash it is one of names, at any depth.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: String,
    matcher: GlobMatcher,
    names_only: bool,
}

/// Why a pattern is none.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is not a glob: {why}")]
pub struct GlobError {
    pattern: String,
    why: String,
}

impl Glob {
    /// Reads a pattern with `*`, `?`, `**`, `[...]` and `{a,b}`.
    pub fn new(pattern: &str) -> Result<Glob, GlobError> {
        let error = |why: String| GlobError { pattern: pattern.to_owned(), why };
        if pattern.starts_with('!') {
            return Err(error("it can only say what to show, not what to leave out".to_owned()));
        }
        let mut own = pattern.trim_start_matches("./").trim_start_matches('/').to_owned();
        let names_only = !own.contains('/');
        if own.ends_with('/') {
            own.push_str("**");
        }
        let glob = GlobBuilder::new(&own).literal_separator(true).build();
        let matcher = glob.map_err(|failed| error(failed.kind().to_string()))?.compile_matcher();
        Ok(Glob { pattern: own, matcher, names_only })
    }

    /// Returns the pattern as it is matched.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether it matches a file, given the two paths that a person may mean: that from the
    /// folder which is walked, and that from the start directory.
    pub fn matches(&self, from_folder: &Path, from_start: Option<&Path>) -> bool {
        let path = match from_folder.file_name() {
            Some(name) if self.names_only => Path::new(name),
            _ => from_folder,
        };
        // A name with brackets in it, written out, means that name.
        self.matcher.is_match(path)
            || path.as_os_str() == self.pattern.as_str()
            || !self.names_only && from_start.is_some_and(|path| self.matcher.is_match(path))
    }
}

/// A walk under way.
struct Gathering<'a> {
    folder: &'a Path,
    query: &'a Query<'a>,
    n_files: usize,
    each: &'a mut dyn FnMut(Entry),
}

impl Workspace {
    /// Whether the folder `at` can be listed, and if not, why.
    pub fn check_listable(&self, at: &Located) -> Result<(), FileError> {
        match std::fs::read_dir(at.path()) {
            Ok(_) => Ok(()),
            Err(error) => Err(FileError::from_io(at.shown(), error)),
        }
    }

    /// Gathers the files beneath the folder `at`.
    ///
    /// The rules of all folders from the root down hold. A folder that is itself ignored is
    /// shown all the same, since it was asked for by name. Links are given and not followed;
    /// hidden files are seen, `.git` is not.
    pub fn walk(&self, at: &Located, query: &Query<'_>) -> Found {
        let mut files = Vec::new();
        let found = self.walk_each(at, query, &mut |entry| files.push(entry));
        Found { files, ..found }
    }

    /// Does what [`Workspace::walk`] does, and hands each file to `each` instead of keeping it.
    pub fn walk_each(&self, at: &Located, query: &Query<'_>, each: &mut dyn FnMut(Entry)) -> Found {
        let folder = at.path();
        let is_ignored = query.ignored == Ignored::Hidden && self.is_ignored(folder);
        let ignored = if is_ignored { Ignored::Shown } else { query.ignored };
        let top = self.top(folder);
        if self.is_shut(folder) || has_odd_above(top, folder) {
            return Found { is_ignored, unreadable: 1, ..Found::default() };
        }
        let unreadable = Arc::new(AtomicUsize::new(0));
        let mut builder = rules(top, ignored);
        builder.sort_by_file_name(std::ffi::OsStr::cmp);
        builder.filter_entry(admit(folder.to_owned(), Arc::clone(&unreadable)));
        let depth = folder.components().count() - top.components().count() + MAX_DEPTH;
        builder.max_depth(Some(depth));
        let mut found = Found { is_ignored, ..Found::default() };
        let mut gathering = Gathering { folder, query, n_files: 0, each };
        for (step, entry) in builder.build().enumerate() {
            if step % 1024 == 0 && (query.cancelled)() {
                found.cut = true;
                break;
            }
            let Ok(entry) = entry else {
                found.unreadable += 1;
                continue;
            };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                found.too_deep += usize::from(entry.depth() == depth);
            } else if !self.gather(entry, &mut gathering) {
                found.cut = true;
                break;
            }
        }
        found.unreadable += unreadable.load(Ordering::Relaxed);
        found
    }

    /// Takes `entry` in if it is asked for; false once there is no more room.
    fn gather(&self, entry: DirEntry, gathering: &mut Gathering<'_>) -> bool {
        let Gathering { folder, query, n_files, each } = gathering;
        let Ok(below) = entry.path().strip_prefix(folder) else { return true };
        let from_start = entry.path().strip_prefix(self.start()).ok();
        if query.glob.is_some_and(|glob| !glob.matches(below, from_start)) {
            return true;
        }
        let Some(kind) = entry.file_type() else { return true };
        if *n_files >= query.limit.min(MAX_FILES) {
            return false;
        }
        *n_files += 1;
        each(Entry { path: entry.into_path(), kind: EntryKind::of(kind) });
        true
    }

    /// Whether the ignore rules of the workspace keep `folder` out of listings.
    pub fn is_ignored(&self, folder: &Path) -> bool {
        let top = self.top(folder);
        matches(&rules(top, Ignored::Hidden), top, folder, true)
    }

    /// Whether a `.snickignore` shuts `path` away from every tool.
    pub fn is_shut(&self, path: &Path) -> bool {
        let top = self.top(path);
        let mut any = false;
        for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
            let file = folder.join(SNICK_RULES);
            if file.symlink_metadata().is_err() {
                continue;
            }
            if is_beyond_reading(&file) {
                return true;
            }
            any = true;
        }
        any && matches(&rules(top, Ignored::Shown), top, path, path.is_dir())
    }

    /// Whether a `.snickignore` shuts `at` away, by the name of a link or of what it leads to.
    pub fn shuts(&self, at: &Located) -> bool {
        self.is_shut(at.path()) || at.written() != at.path() && self.is_shut(at.written())
    }

    /// Returns the folder where the ignore rules for `path` begin.
    fn top<'a>(&'a self, path: &'a Path) -> &'a Path {
        self.roots().find(|root| path.starts_with(root)).unwrap_or(path)
    }
}

/// Builds a walk from `top` with its rules, and with none from above: a stray ignore file in
/// some parent of the workspace is nobody's wish for it.
pub(super) fn rules(top: &Path, ignored: Ignored) -> WalkBuilder {
    let mut builder = WalkBuilder::new(top);
    let of_git = ignored == Ignored::Hidden;
    builder
        .current_dir(top)
        .parents(false)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .ignore(of_git)
        .git_ignore(of_git)
        .git_exclude(of_git)
        .git_global(of_git)
        .add_custom_ignore_filename(SNICK_RULES);
    builder
}

/// Whether the rules of `builder` name `path` or a folder on the way to it.
fn matches(builder: &WalkBuilder, top: &Path, path: &Path, is_folder: bool) -> bool {
    let Ok(below) = path.strip_prefix(top) else { return false };
    if below.as_os_str().is_empty() || has_odd_above(top, path) {
        return false;
    }
    let matchers = builder.build_matchers().into_iter().next();
    matchers.is_some_and(|mut rules| rules.matched(below, is_folder).is_ignore())
}

/// Admits what lies on the way to `folder` and beneath it, `.git` excepted, and no folder
/// whose rules cannot be read.
fn admit(
    folder: PathBuf,
    unreadable: Arc<AtomicUsize>,
) -> impl Fn(&DirEntry) -> bool + Send + Sync + 'static {
    move |entry| {
        let path = entry.path();
        if !path.starts_with(&folder) {
            return folder.starts_with(path);
        }
        if entry.file_name() == ".git" && path != folder {
            return false;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder && has_odd_rules(path, &RULE_FILES) {
            unreadable.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }
}

/// Whether one of the files from which the rules of `folder` are read must not be opened; `names`
/// are those that stand in it.
pub(super) fn has_odd_rules(folder: &Path, names: &[&str]) -> bool {
    let is_odd = |name: &&str| match folder.join(name) {
        file if *name == SNICK_RULES => is_beyond_reading(&file),
        file => is_odd(file),
    };
    names.iter().any(is_odd) || has_odd_exclude(folder)
}

/// Looks the same way at what a repository in `folder` keeps for itself.
fn has_odd_exclude(folder: &Path) -> bool {
    let git = folder.join(".git");
    match std::fs::metadata(&git) {
        Err(_) => false,
        Ok(facts) if !facts.is_file() => is_odd(git.join("info/exclude")),
        // A file leads elsewhere, and another may lead on from there.
        Ok(_) => {
            is_odd(git.clone()) || {
                let own = first_line(&git).unwrap_or_default();
                let own = PathBuf::from(own.strip_prefix("gitdir: ").unwrap_or_default());
                let common = own.join("commondir");
                is_odd(common.clone())
                    || first_line(&common)
                        .is_some_and(|line| is_odd(own.join(line).join("info/exclude")))
            }
        }
    }
}

/// Returns the first line of a file that is not odd.
fn first_line(file: &Path) -> Option<String> {
    let mut line = String::new();
    let read = std::fs::File::open(file).ok()?.take(MAX_RULES);
    std::io::BufReader::new(read).read_line(&mut line).ok()?;
    Some(line.trim_end().to_owned())
}

/// Whether that is so for the rules of a folder from `top` down to `path`.
fn has_odd_above(top: &Path, path: &Path) -> bool {
    let mut folders = path.ancestors().take_while(|folder| folder.starts_with(top));
    folders.any(|folder| has_odd_rules(folder, &RULE_FILES))
}

/// Whether a file with rules must not be opened: a FIFO would hold the walk up for ever.
pub(super) fn is_odd(file: PathBuf) -> bool {
    let too_much = |facts: &std::fs::Metadata| facts.is_file() && facts.len() > MAX_RULES;
    std::fs::metadata(file)
        .is_ok_and(|facts| !facts.is_file() && !facts.is_dir() || too_much(&facts))
}

/// Whether the rules of a `.snickignore` cannot be known: then all in its folder is shut away, since
/// a person meant some of it to be.
pub(super) fn is_beyond_reading(file: &Path) -> bool {
    let Ok(facts) = std::fs::metadata(file) else { return file.symlink_metadata().is_ok() };
    if !facts.is_file() || facts.len() > MAX_RULES {
        return true;
    }
    std::fs::read(file).map_or(true, |text| !can_be_built(&text))
}

/// Whether these patterns can be made ready and tried at all: they are not too many, and all are text.
pub(crate) fn can_be_built(text: &[u8]) -> bool {
    // A pattern of other bytes would be passed over, and name nothing.
    let is_known = |line: &[u8]| line.starts_with(b"#") || str::from_utf8(line).is_ok();
    let mut left = MOST_STARS;
    for line in text.split(|byte| *byte == b'\n') {
        let Some(rest) = left.checked_sub(stars(line)).filter(|_| is_known(line)) else {
            return false;
        };
        left = rest;
    }
    if text.len() as u64 <= SOON_BUILT {
        return true;
    }
    let (text, mut builder) = (String::from_utf8_lossy(text), GitignoreBuilder::new(""));
    let is_pattern = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    for (number, line) in text.lines().filter(is_pattern).enumerate() {
        if number >= MOST_PATTERNS {
            return false;
        }
        // A line that is no pattern names nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().is_ok()
}

/// Counts the `*` in a line of rules that must be tried; neighbours are one.
fn stars(line: &[u8]) -> usize {
    let is_special = |byte: &u8| b"*?[{\\./".contains(byte);
    let pattern = line.strip_prefix(b"!").unwrap_or(line).trim_ascii_end();
    // The ending of a name is looked up.
    let is_ending = pattern.strip_prefix(b"*.").is_some_and(|end| !end.iter().any(is_special));
    if is_ending || line.starts_with(b"#") {
        return 0;
    }
    pattern.chunk_by(|one, next| one == next).filter(|run| run.starts_with(b"*")).count()
}
