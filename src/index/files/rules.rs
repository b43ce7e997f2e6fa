//! The ignore rules that hold in a folder: those of git, of `.ignore` and of `.snickignore`, from the root down.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::git_index::{GitFolder, ReadIndex, Tracked};
use super::hints::Hints;
use crate::workspace::Stamp;
use crate::workspace::scan::{Branch, joined, read_file};
use crate::workspace::walk::can_be_built;

/// Files with ignore rules, weakest first, and what marks a repository; a mark has a bit for each.
pub(super) const NAMES: [&[u8]; 4] = [b".gitignore", b".ignore", b".snickignore", b".git"];
const GIT: usize = 0;
const IGNORE: usize = 1;
const SNICK: usize = 2;
const REPOSITORY: usize = 3;
/// Most bytes of a file with ignore rules.
const MAX_RULES: u64 = 4 << 20;

/// What the rules say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// A rule brings it back, so that it is not hidden either.
    Wanted,
    Ignored,
    /// `.snickignore` names it: no tool sees it.
    Shut,
}

/// The rules of one folder that has any, over those above it. Paths lead on from the root.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    git: Lines,
    ignore: Lines,
    snick: Lines,
    exclude: Lines,
    /// Whether a repository begins here: git's rules from above end.
    is_repository: bool,
}

/// The rules of one file, made ready once one of them may speak of a name.
#[derive(Debug)]
struct Lines {
    folder: Box<[u8]>,
    text: Box<[u8]>,
    hints: Hints,
    matcher: OnceLock<Gitignore>,
}

/// What a table was made from beside the folders: if one of these changes, so may the set of files.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Files with rules, and what stood there.
    pub(super) rules: Vec<(PathBuf, Option<Stamp>)>,
    /// The files of git's index.
    pub(super) index: Vec<(PathBuf, Option<Stamp>)>,
    /// Tracked paths that are not in a folder that is walked, whether they exist or not.
    pub(super) strays: Vec<Box<[u8]>>,
    /// Files with rules that may say something of those, and what stood there.
    pub(super) stray_rules: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether a file with rules was written so lately that it must be read again.
    pub(super) racy: bool,
    /// Whether the index was.
    pub(super) index_racy: bool,
    /// Where the person's own rules for all repositories are.
    pub(super) global: Option<PathBuf>,
}

impl Rules {
    /// Reads what holds above the root itself: the person's own rules for all repositories.
    pub(super) fn global(sources: &mut Sources) -> Arc<Rules> {
        let path = gitconfig_excludes_path();
        let mut git = Lines::none();
        if let Some(path) = &path {
            sources.add(path.clone(), Stamp::followed(path));
            if let Ok(text) = read_file(path, MAX_RULES) {
                git = Lines::read(b"", &text);
            }
        }
        sources.global = path;
        let [ignore, snick, exclude] = [Lines::none(), Lines::none(), Lines::none()];
        Arc::new(Rules { above: None, git, ignore, snick, exclude, is_repository: false })
    }

    /// Reads the rules of the folder at `path`, of which `marks` says what there is.
    ///
    /// `None` if there are some that cannot be read: then the folder is not looked into.
    pub(super) fn of(
        above: &Arc<Rules>,
        root: &Path,
        path: &[u8],
        branch: &Branch,
        marks: u8,
        sources: &mut Sources,
    ) -> Option<Arc<Rules>> {
        if marks == 0 {
            return Some(Arc::clone(above));
        }
        let folder = joined(root, path);
        let mut read = |place: usize| {
            if marks & 1 << place == 0 {
                return Some(Lines::none());
            }
            let stamp = branch.followed(NAMES[place]);
            sources.add(joined(&folder, NAMES[place]), stamp);
            match stamp {
                // What a person meant to shut away is, also where it cannot be told what that is.
                None if place == SNICK => None,
                Some(stamp) if stamp.is_folder() && place != SNICK => Some(Lines::none()),
                // A FIFO would hold the walk up for ever.
                Some(stamp) if !stamp.is_regular() || stamp.size > MAX_RULES => None,
                _ => match branch.read(NAMES[place], MAX_RULES) {
                    Ok(text) if place == SNICK && !can_be_built(&text) => None,
                    Ok(text) => Some(Lines::read(path, &text)),
                    Err(_) => (place != SNICK).then(Lines::none),
                },
            }
        };
        let (git, ignore, snick) = (read(GIT)?, read(IGNORE)?, read(SNICK)?);
        let is_repository = marks & 1 << REPOSITORY != 0;
        let mut exclude = Lines::none();
        if is_repository && let Some(git) = GitFolder::of(&folder) {
            let file = git.common.join("info/exclude");
            sources.add(file.clone(), Stamp::followed(&file));
            exclude = Lines::read(path, &read_file(&file, MAX_RULES).unwrap_or_default());
        }
        let above = Some(Arc::clone(above));
        Some(Arc::new(Rules { above, git, ignore, snick, exclude, is_repository }))
    }

    /// Says what the rules say of `path`, which lies in the folder that these rules are of.
    pub(super) fn judge(&self, path: &[u8], is_folder: bool) -> Said {
        let name = memchr::memrchr(b'/', path).map_or(path, |at| &path[at + 1..]);
        let path = Path::new(OsStr::from_bytes(path));
        let mut found = [Said::Nothing; 5];
        let [snick, ignore, git, exclude, global] = &mut found;
        let look = |said: &mut Said, rules: &Lines, no: Said| {
            if *said == Said::Nothing && rules.hints.may_speak_of(name) {
                *said = match rules.matcher().matched(path, is_folder) {
                    Match::None => Said::Nothing,
                    Match::Ignore(_) => no,
                    Match::Whitelist(_) => Said::Wanted,
                };
            }
        };
        let (mut rules, mut in_repository) = (self, false);
        loop {
            let Some(above) = &rules.above else {
                look(global, &rules.git, Said::Ignored);
                break;
            };
            look(snick, &rules.snick, Said::Shut);
            look(ignore, &rules.ignore, Said::Ignored);
            if !in_repository {
                look(git, &rules.git, Said::Ignored);
                look(exclude, &rules.exclude, Said::Ignored);
            }
            in_repository |= rules.is_repository;
            rules = above;
        }
        found.into_iter().find(|said| *said != Said::Nothing).unwrap_or(Said::Nothing)
    }
}

impl Sources {
    pub(super) fn add(&mut self, path: PathBuf, stamp: Option<Stamp>) {
        self.racy |= stamp.is_some_and(|stamp| stamp.is_racy(SystemTime::now()));
        self.rules.push((path, stamp));
    }

    /// Takes in what another thread found.
    pub(super) fn append(&mut self, mut other: Sources) {
        self.rules.append(&mut other.rules);
        self.racy |= other.racy;
    }

    /// Whether every file with rules is as it was.
    pub(super) fn rules_hold(&self) -> bool {
        !self.racy
            && gitconfig_excludes_path() == self.global
            && self.rules.iter().chain(&self.stray_rules).all(is_held)
    }

    /// Whether git's index is as it was.
    pub(super) fn index_holds(&self) -> bool {
        !self.index_racy && self.index.iter().all(|(path, stamp)| Stamp::at(path) == *stamp)
    }

    /// Reads git's index of the repository at `root`.
    pub(super) fn read_index(&mut self, root: &Path) -> Tracked {
        let now = SystemTime::now();
        self.index_racy = false;
        let Some(git) = GitFolder::of(root) else {
            self.index.clear();
            return Tracked::default();
        };
        let ReadIndex { tracked, files } = git.read_index().unwrap_or_default();
        self.index = files;
        if self.index.is_empty() {
            let path = git.own.join("index");
            let stamp = Stamp::at(&path);
            self.index.push((path, stamp));
        }
        let mut stamps = self.index.iter().filter_map(|(_, stamp)| *stamp);
        self.index_racy = stamps.any(|stamp| stamp.is_racy(now));
        tracked
    }
}

fn is_held((path, stamp): &(PathBuf, Option<Stamp>)) -> bool {
    Stamp::followed(path) == *stamp
}

impl Lines {
    fn none() -> Lines {
        Lines::read(b"", b"")
    }

    fn read(folder: &[u8], text: &[u8]) -> Lines {
        let mut hints = Hints::default();
        lines(text).for_each(|line| hints.add(line));
        Lines { folder: folder.into(), text: text.into(), hints, matcher: OnceLock::new() }
    }

    fn matcher(&self) -> &Gitignore {
        self.matcher.get_or_init(|| {
            let mut builder = GitignoreBuilder::new(OsStr::from_bytes(&self.folder));
            for line in lines(&self.text) {
                builder.add_line(None, line).ok();
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        })
    }
}

/// Returns the lines of a file with rules; what is no text is passed over.
fn lines(text: &[u8]) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter_map(|line| std::str::from_utf8(line).ok())
}
