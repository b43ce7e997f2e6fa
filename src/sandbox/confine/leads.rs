//! Where links of protected names and the settings of git lead in the workspace: what is there is guarded as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::found::Found;
use super::repository;
use super::rights::Rights;

/// How many links one may lead through, as the kernel has it.
const MOST_LINKS: usize = 40;

/// When a file was last changed.
type Changed = Option<(i64, i64)>;

/// What is led to.
#[derive(Default)]
pub(super) struct Leads {
    /// By what each path is led to: links and repositories.
    by: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    settings: GitLeads,
}

/// Where the settings of repositories take hooks and settings from.
#[derive(Debug, Default)]
pub struct GitLeads {
    /// By the folder of a repository, with when its settings were last changed.
    known: BTreeMap<PathBuf, (Changed, Vec<PathBuf>)>,
}

impl GitLeads {
    /// Returns the paths that the settings of the repository at `git` name, whose work tree is at
    /// `tree`. Where they name none, only when they were changed is looked up.
    pub fn of(&mut self, git: &Path, tree: &Path) -> Vec<PathBuf> {
        let changed = super::names::file_changed(&git.join("config"));
        match self.known.get(git) {
            Some((known, paths)) if *known == changed && changed.is_some() && paths.is_empty() => {
                Vec::new()
            }
            _ => {
                let paths = repository::led_to(git, tree);
                self.known.insert(git.to_owned(), (changed, paths.clone()));
                paths
            }
        }
    }
}

impl Leads {
    /// Adds what links and repositories that were `found` lead to in `roots`.
    pub(super) fn complete(
        &mut self,
        found: &mut BTreeSet<Found>,
        roots: &[&Path],
        rights: &mut Rights,
    ) {
        self.by.clear();
        let mut ends: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut links: Vec<(PathBuf, PathBuf)> = Vec::new();
        for one in found.iter() {
            match one {
                Found::Link(link) => {
                    let (through, end) = follow(link, rights);
                    links.extend(through.into_iter().map(|path| (path, link.clone())));
                    ends.extend(end.map(|end| (end, link.clone())));
                }
                Found::Git(git) => {
                    for named in self.settings.of(git, git.parent().unwrap_or(git)) {
                        let (through, end) = follow(&named, rights);
                        links.extend(through.into_iter().map(|path| (path, git.clone())));
                        ends.extend(end.map(|end| (end, git.clone())));
                    }
                }
                _ => {}
            }
        }
        let is_below =
            |path: &Path| roots.iter().any(|root| path.starts_with(root)) && !roots.contains(&path);
        for (path, by) in links.into_iter().filter(|(path, by)| path != by && is_below(path)) {
            if found.insert(Found::Link(path.clone())) || self.by.contains_key(&path) {
                self.by.entry(path).or_default().insert(by);
            }
        }
        // A folder around a link is more than what was meant.
        for (path, by) in
            ends.into_iter().filter(|(path, by)| is_below(path) && !by.starts_with(path))
        {
            if self.by.contains_key(&path) {
                self.by.entry(path).or_default().insert(by);
                continue;
            }
            let is_guarded = path.ancestors().any(|path| {
                let kinds = [Found::Protected, Found::Both, Found::Git];
                kinds.iter().any(|kind| found.contains(&kind(path.to_owned())))
            });
            if is_guarded || path.symlink_metadata().is_err() {
                continue;
            }
            let is_hidden = found.remove(&Found::Secret(path.clone()));
            let kind = if is_hidden { Found::Both } else { Found::Protected };
            found.insert(kind(path.clone()));
            self.by.entry(path).or_default().insert(by);
        }
    }

    /// Returns by what `path` is led to, if nothing else tells to guard it.
    pub(super) fn by(&self, path: &Path) -> Option<&BTreeSet<PathBuf>> {
        self.by.get(path)
    }
}

/// Returns the links on the way along `path`, whole, and where that ends, whether anything is there
/// or not; nothing where it has no end. Closed folders on the way are opened.
pub(super) fn follow(path: &Path, rights: &mut Rights) -> (Vec<PathBuf>, Option<PathBuf>) {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
    };
    let (mut at, mut links) = (PathBuf::from("/"), Vec::new());
    let mut pending = parts(path);
    while let Some(part) = pending.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                at.pop();
            }
            Some(Component::Normal(name)) => {
                at.push(name);
                if let Ok(target) = rights.read_link(&at) {
                    if links.len() >= MOST_LINKS {
                        return (links, None);
                    }
                    links.push(at.clone());
                    at.pop();
                    pending.extend(parts(&target));
                }
            }
            Some(Component::CurDir | Component::Prefix(_)) | None => {}
        }
    }
    (links, Some(at))
}
