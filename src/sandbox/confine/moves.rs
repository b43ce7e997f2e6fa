//! What becomes of folders above protected and hidden names that a command moved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::found::Found;
use super::kept::Kept;
use super::restore::{self, Folder};
use super::touched::Touched;
use super::tripwire::Tripwire;
use crate::approval::is_protected_name;

/// Folders that are elsewhere now, with where they are: outer ones first.
#[derive(Default)]
pub(super) struct Moves(Vec<(PathBuf, PathBuf)>);

impl Moves {
    fn add(&mut self, from: &Path, to: PathBuf) {
        self.0.push((from.to_owned(), to));
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns where `path` is now, by the innermost folder that was moved.
    pub(super) fn of(&self, path: &Path) -> PathBuf {
        let moved = self.0.iter().rev().find_map(|(from, to)| carried(path, from, to));
        moved.unwrap_or_else(|| path.to_owned())
    }
}

/// Returns where `path` is when `from`, in which it lies, is at `to`.
fn carried(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) })
}

impl Tripwire {
    /// Finds out which folders above names were moved: one stays where it is now if everything in it
    /// is kept from commands there as well, the others are moved back.
    pub(super) fn follow_moves(&mut self) -> Vec<Touched> {
        let (mut moves, mut touched) = (Moves::default(), Vec::new());
        for path in self.ways.paths().map(Path::to_owned).collect::<Vec<PathBuf>>() {
            let Some(place) = self.ways.place(&path) else { continue };
            let due = moves.of(&path);
            let mut roots = self.roots.iter().filter(|root| due.starts_with(root) && due != **root);
            let Some(root) = roots.next().filter(|_| place != due).cloned() else { continue };
            if self.may_go_along(&path, &place) {
                touched
                    .push(Touched::Along { from: path.clone().into(), to: place.clone().into() });
                moves.add(&path, place);
                continue;
            }
            match restore::back(&root, &place, &due) {
                Ok(aside) => {
                    let replaced = aside.into_iter().map(|aside| Touched::Undone {
                        path: aside.path.into(),
                        replaced: Some(aside.now.into()),
                    });
                    touched.extend(replaced);
                    touched.push(Touched::Back { path: due.into(), from: place.into() });
                }
                Err(_) => touched.push(Touched::Changed(due.into())),
            }
        }
        if !moves.is_empty() {
            self.move_along(&moves);
        }
        touched
    }

    /// Whether everything that is guarded or hidden in the folder at `from` is so at `to`, too.
    fn may_go_along(&mut self, from: &Path, to: &Path) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        if !self.roots.iter().any(|root| to.starts_with(root)) {
            return false;
        }
        for found in &self.before {
            let path = found.path();
            let Some(new) = carried(path, from, to).filter(|_| path != from) else { continue };
            let (own, folder) = (name(path).unwrap_or_default(), new.parent().and_then(name));
            let is_guarded = match found {
                Found::Git(_) | Found::Bare(_) | Found::Secret(_) => true,
                Found::Way(_) => false,
                // One that is so for the folder that it is in starts something elsewhere.
                Found::Protected(_) | Found::Link(_) | Found::Both(_)
                    if path.parent() == Some(from) =>
                {
                    is_protected_name(&own, None, None)
                }
                Found::Protected(_) | Found::Link(_) | Found::Both(_) => {
                    let above = new.parent().and_then(Path::parent).and_then(name);
                    is_protected_name(&own, folder.as_deref(), above.as_deref())
                }
            };
            let is_hidden = found.hidden().is_none()
                || self.names.still_hides(path, &new) && path.symlink_metadata().is_err();
            let end = self
                .ends
                .get(path)
                .map(|end| carried(end, from, to).unwrap_or_else(|| end.clone()));
            let leads_there = found.link().is_none() || new.canonicalize().ok() == end;
            if self.names.is_ruled(path)
                || self.is_built(&new)
                || !is_guarded
                || !is_hidden
                || !leads_there
            {
                return false;
            }
        }
        true
    }

    /// Has everything that is known lie where it was moved.
    fn move_along(&mut self, moves: &Moves) {
        let files = |kept: &mut BTreeMap<PathBuf, Kept>| {
            let all = std::mem::take(kept).into_iter();
            *kept = all.map(|(path, kept)| (moves.of(&path), kept)).collect();
        };
        let folders = |known: &mut BTreeMap<PathBuf, Folder>| {
            *known = known.iter().map(|(path, folder)| (moves.of(path), *folder)).collect();
        };
        self.before = self.before.iter().map(|found| found.after(moves)).collect();
        folders(&mut self.parents);
        self.homes.iter_mut().for_each(|home| *home = moves.of(home));
        self.harmless = self.harmless.iter().map(|path| moves.of(path)).collect();
        let plans = std::mem::take(&mut self.plans).into_iter();
        self.plans = plans.map(|plan| plan.at(moves.of(plan.file()))).collect();
        files(&mut self.settings);
        files(&mut self.links.files);
        files(&mut self.several.files);
        if let Some(kept) = &mut self.kept {
            files(&mut kept.files);
            folders(&mut kept.folders);
        }
        self.names.moved(moves);
    }
}
