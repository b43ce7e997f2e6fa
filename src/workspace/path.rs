//! Where a path leads that somebody wrote: resolved through links, and placed.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::Workspace;
use super::name::{other_form, unquoted};

/// Most links that one path may go through, as on Linux.
const MAX_LINKS: usize = 40;

/// A path as written, resolved and judged. Only [`Workspace::locate`] and its kin make one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Located {
    path: PathBuf,
    /// Absolute, but with its links as they were written.
    written: PathBuf,
    shown: String,
    place: Place,
}

impl Located {
    /// Returns the absolute path, every link of its existing part resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the absolute path before any link was followed, for rules that name the link.
    pub fn written(&self) -> &Path {
        &self.written
    }

    /// Returns the path for people and the model: relative to the start directory where it can be.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns which rules hold for it.
    pub fn place(&self) -> Place {
        self.place
    }
}

/// Which rules hold for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Beneath a root: read and written under the mode's rules.
    Workspace,
    /// Toolchain sources and `/usr`: read unasked, never written.
    System,
    /// This session's saved outputs: read unasked, never written.
    Output,
    /// Snick's own folders: never written by a tool, asked to read.
    Private,
    /// Anywhere else: asked to read, never written.
    Outside,
}

/// Why a path as written leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path holds a NUL character")]
    Nul,
    #[error("`{path}` begins with `~`, which is expanded for reading only; write the path out")]
    Tilde { path: String },
    #[error("`{path}` begins with `~`, but only `~/` can be expanded; write the path out")]
    UnknownHome { path: String },
    #[error("`{path}` leads through a loop of symbolic links")]
    Loop { path: String },
    #[error("`{path}`: {source}")]
    Unreachable { path: String, source: io::Error },
}

impl Workspace {
    /// Resolves `path` as the model wrote it: relative to the start directory, or absolute.
    ///
    /// The file itself need not exist. A link is followed; the place is that of its target.
    /// A name that exists only in another Unicode form is taken for that one.
    ///
    /// # Errors
    /// A path that begins with `~` is an error unless a file of that very name exists, so that
    /// nobody makes a folder called `~`. Loops, names that are too long, and folders that may
    /// not be searched are errors too.
    pub fn locate(&self, path: &str) -> Result<Located, PathError> {
        self.check_tilde(path, |path| PathError::Tilde { path })?;
        self.locate_text(path)
    }

    /// Does what [`Workspace::locate`] does, and takes `~` and `~/...` for the person's home.
    pub fn locate_to_read(&self, path: &str) -> Result<Located, PathError> {
        let rest = match path {
            "~" => Some(""),
            _ => path.strip_prefix("~/"),
        };
        if let (Some(rest), Some(home)) = (rest, &self.options().home)
            && !self.exists(path)
        {
            return self.locate_path(&home.join(rest.trim_start_matches('/')));
        }
        self.check_tilde(path, |path| PathError::UnknownHome { path })?;
        self.locate_text(path)
    }

    /// Takes a path as it stands, or as [`quoted`](super::name::quoted) shows one that exists.
    fn locate_text(&self, path: &str) -> Result<Located, PathError> {
        let quoted = unquoted(path).filter(|_| !self.exists(path));
        match quoted.map(|path| self.locate_path(&path)) {
            Some(Ok(at)) if at.path().symlink_metadata().is_ok() => Ok(at),
            _ => self.locate_path(Path::new(path)),
        }
    }

    /// Does what [`Workspace::locate`] does for a path that need not be UTF-8. `~` is a name here.
    pub fn locate_path(&self, path: &Path) -> Result<Located, PathError> {
        if path.as_os_str().is_empty() {
            return Err(PathError::Empty);
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(PathError::Nul);
        }
        let written = lexical(&self.start().join(path));
        let path = resolve(self.start(), path)?;
        let (shown, place) = (self.shown(&path).display().to_string(), self.place(&path));
        Ok(Located { path, written, shown, place })
    }

    /// Resolves the way to `path`, but not what stands there: a link is located itself.
    pub fn locate_entry(&self, path: &Path) -> Result<Located, PathError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.locate_path(path);
        };
        let written = lexical(&self.start().join(path));
        let path = resolve(self.start(), parent)?.join(name);
        let (shown, place) = (self.shown(&path).display().to_string(), self.place(&path));
        Ok(Located { path, written, shown, place })
    }

    /// Whether moving or copying files of the names `sources` to `at` loses a file that is there.
    pub fn loses(&self, at: &Located, sources: &[String]) -> bool {
        let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|facts| !facts.is_dir());
        let within = |source: &String| {
            Path::new(source).file_name().is_some_and(|name| is_file(&at.path().join(name)))
        };
        is_file(at.path()) || at.path().is_dir() && sources.iter().any(within)
    }

    fn check_tilde(
        &self,
        path: &str,
        error: impl Fn(String) -> PathError,
    ) -> Result<(), PathError> {
        if path.starts_with('~') && !path.contains('\0') && !self.exists(path) {
            return Err(error(path.to_owned()));
        }
        Ok(())
    }

    fn exists(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.start().join(path)).is_ok()
    }

    /// Returns the path as it is shown: from the start directory where it can be.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        if path == self.start() {
            return PathBuf::from(".");
        }
        // Elsewhere in the repository `../` is shorter, and what the model would write.
        let folders = self.start().ancestors().take_while(|at| at.starts_with(self.root()));
        let from = |(up, folder)| {
            let up = std::iter::repeat_n(Component::ParentDir, up);
            let below = path.strip_prefix(folder).ok()?;
            Some(up.chain(below.components()).collect::<PathBuf>())
        };
        folders.enumerate().find_map(from).unwrap_or_else(|| path.to_owned())
    }

    fn place(&self, path: &Path) -> Place {
        let options = self.options();
        let beneath = |folder: &PathBuf| path.starts_with(folder);
        if options.outputs.iter().any(beneath) {
            Place::Output
        } else if options.private.iter().any(beneath) {
            Place::Private
        } else if self.roots().any(|root| path.starts_with(root)) {
            Place::Workspace
        } else if path.starts_with("/usr") || options.toolchains.iter().any(beneath) {
            Place::System
        } else {
            Place::Outside
        }
    }
}

/// Returns an absolute path without `.` and `..`, by its text alone.
pub fn lexical(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

/// Follows every link of the existing part of `path`; what is missing is taken as written.
fn resolve(start: &Path, path: &Path) -> Result<PathBuf, PathError> {
    let unreachable = |source| PathError::Unreachable { path: path.display().to_string(), source };
    let mut resolved = if path.is_absolute() { PathBuf::from("/") } else { start.to_owned() };
    let mut ahead = steps(path);
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        let name = match step {
            Step::Up => {
                resolved.pop();
                continue;
            }
            Step::Top => {
                resolved = PathBuf::from("/");
                continue;
            }
            Step::Name(name) => name,
        };
        resolved.push(&name);
        match std::fs::symlink_metadata(&resolved) {
            Ok(facts) if facts.is_symlink() => {}
            Ok(_) => continue,
            Err(error) if is_absence(&error) => {
                resolved.pop();
                // Another form is looked at anew, since it may be a link.
                match other_form(&resolved, &name) {
                    Some(other) if other != name => ahead.push(Step::Name(other)),
                    _ => resolved.push(name),
                }
                continue;
            }
            Err(error) => return Err(unreachable(error)),
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(PathError::Loop { path: path.display().to_string() });
        }
        let target = std::fs::read_link(&resolved).map_err(unreachable)?;
        resolved.pop();
        ahead.extend(steps(&target));
    }
    Ok(resolved)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// One step along a path.
enum Step {
    Top,
    Up,
    Name(OsString),
}

/// Returns the steps of `path`, last one first.
fn steps(path: &Path) -> Vec<Step> {
    let step = |component| match component {
        Component::RootDir => Some(Step::Top),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(step).collect()
}

/// Resolves a folder of the settings as far as it exists; one that cannot be is taken as written.
pub(super) fn settled(path: &Path) -> PathBuf {
    resolve(Path::new("/"), path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the nearest folder at or above `start` that holds `.git`, if it can be trusted.
///
/// Both must belong to the user or to root: somebody else's `.git` in a shared folder above
/// would widen what is read. Home and what is above it are never taken for a repository.
pub(super) fn repository_root(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let root = start.ancestors().find(|at| at.join(".git").symlink_metadata().is_ok())?;
    let user = rustix::process::geteuid().as_raw();
    let trusted = |path: &Path| {
        path.symlink_metadata().is_ok_and(|facts| facts.uid() == user || facts.uid() == 0)
    };
    let too_wide = root.parent().is_none() || home.is_some_and(|home| home.starts_with(root));
    (!too_wide && trusted(root) && trusted(&root.join(".git"))).then(|| root.to_owned())
}
