//! What rules for paths keep from commands below the roots, and the folders on the way to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::found::Found;
use super::rights::Rights;
use crate::approval::{Bar, Barred, Bars};

/// Rules for paths, ready to be held against what is there.
#[derive(Default)]
pub(super) struct PathRules {
    barred: Barred,
    bars: Bars,
    spelled_out: Vec<PathBuf>,
    /// Where links lead that rules name.
    led_to: BTreeSet<PathBuf>,
}

impl PathRules {
    pub(super) fn new(barred: &Barred) -> PathRules {
        let spelled_out = barred.spelled_out().into_iter().map(|(path, _)| path).collect();
        let (barred, bars, led_to) = (barred.clone(), Bars::new(barred), BTreeSet::new());
        PathRules { barred, bars, spelled_out, led_to }
    }

    pub(super) fn is_of(&self, barred: &Barred) -> bool {
        self.barred == *barred
    }

    /// Returns from what of `path` commands are kept.
    pub(super) fn of(&self, path: &Path, is_folder: bool) -> Bar {
        if self.bars.is_empty() { Bar::default() } else { self.bars.of(path, is_folder) }
    }

    /// Returns the same for an entry of a folder that is gone through.
    pub(super) fn of_entry(&self, path: &Path, is_folder: bool) -> Bar {
        if self.bars.is_empty() { Bar::default() } else { self.bars.of_entry(path, is_folder) }
    }

    /// Returns what is there of the paths that rules spell out, also where no walk comes.
    pub(super) fn spelled_out(&mut self, roots: &[&Path], rights: &mut Rights) -> Vec<Found> {
        let below = self.spelled_out.iter().filter(|path| is_below(path, roots));
        let mut all = Vec::new();
        for path in below.cloned().collect::<Vec<PathBuf>>() {
            let Ok(facts) = rights.reach(&path, Path::symlink_metadata) else { continue };
            let bar = self.of(&path, true);
            if facts.is_symlink() {
                all.extend(self.link(&path, bar, roots, rights));
            } else if path.canonicalize().is_ok_and(|real| real == path) {
                // What a link on the way leads to has a path of its own.
                all.extend(found(&path, bar));
            }
        }
        all
    }

    /// Returns the link at `path`, from which `bar` keeps commands, and what it leads to in `roots`.
    pub(super) fn link(
        &mut self,
        path: &Path,
        bar: Bar,
        roots: &[&Path],
        rights: &mut Rights,
    ) -> Vec<Found> {
        let target = rights.reach(path, Path::canonicalize).ok();
        // A folder around the link is more than what was meant.
        let target = target.filter(|to| is_below(to, roots) && !path.starts_with(to));
        self.led_to.extend(target.clone());
        let target = target.and_then(|target| found(&target, bar));
        let own = bar.guards.then(|| Found::Link(path.to_owned()));
        own.into_iter().chain(target).collect()
    }

    /// Puts together what is `found` at one path for several reasons, and adds the folders on the way
    /// to what rules name: in the place of one that was moved away another could be put.
    pub(super) fn complete(&self, found: &mut BTreeSet<Found>, roots: &[&Path]) {
        if self.bars.is_empty() {
            return;
        }
        let hidden: Vec<PathBuf> = found.iter().filter_map(Found::hidden).cloned().collect();
        for path in hidden {
            let is_guarded = found.remove(&Found::Protected(path.clone()));
            if is_guarded || found.contains(&Found::Both(path.clone())) {
                found.remove(&Found::Secret(path.clone()));
                found.insert(Found::Both(path));
            }
        }
        let mut ways = BTreeSet::new();
        let links = found.iter().filter_map(Found::link);
        for path in found.iter().filter_map(Found::covered).chain(links) {
            if !self.led_to.contains(path) && !self.of(path, true).is_any() {
                continue;
            }
            let folders = path.ancestors().skip(1).take_while(|folder| is_below(folder, roots));
            for folder in folders {
                // It is where it is by a mount of its own, with all that is in it.
                let [hidden, guarded, both] = [Found::Secret, Found::Protected, Found::Both]
                    .map(|kind| found.contains(&kind(folder.to_owned())));
                if hidden || guarded || both {
                    ways.retain(|way| match way {
                        Found::Way(way) => !path.starts_with(way) || !way.starts_with(folder),
                        _ => true,
                    });
                } else {
                    ways.insert(Found::Way(folder.to_owned()));
                }
            }
        }
        found.extend(ways);
    }
}

/// Whether `path` lies in one of `roots` and is none.
fn is_below(path: &Path, roots: &[&Path]) -> bool {
    roots.iter().any(|root| path.starts_with(root)) && !roots.contains(&path)
}

/// Returns what is at `path`, from which `bar` keeps commands.
pub(super) fn found(path: &Path, bar: Bar) -> Option<Found> {
    let path = path.to_owned();
    match (bar.hides, bar.guards) {
        (true, true) => Some(Found::Both(path)),
        (true, false) => Some(Found::Secret(path)),
        (false, true) => Some(Found::Protected(path)),
        (false, false) => None,
    }
}
