//! Where protected and secret names are below the roots: found once, then only what changed is read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::bars::{self, PathRules};
use super::found::Found;
use super::leads::Leads;
use super::moves::Moves;
use super::rights::Rights;
use crate::approval::{Bar, Barred, OF_HOME, is_protected_name};
use crate::workspace::credentials::{self, Hides};
use crate::workspace::ignored::{Made, made_by_tools};
use crate::workspace::shut::{self, Shut};

/// How many entries of the workspace are read at one look before a command.
pub(super) const MOST_ENTRIES: usize = 50_000;

/// How many are read after one, if all was seen before: what a command makes is looked through,
/// however much it is, as far as memory allows.
pub(super) const MOST_MADE: usize = 1_000_000;

/// A folder that changed so shortly before it was read may have changed after, without a trace.
const UNSURE_SECONDS: i64 = 2;

/// What is known of the roots.
pub(super) struct Names {
    roots: BTreeMap<PathBuf, Shut>,
    folders: BTreeMap<PathBuf, Folder>,
    /// Protected by where they are, and not by their names.
    places: Vec<PathBuf>,
    /// The files that shut away, and when each was last changed.
    rules: BTreeMap<PathBuf, Option<(i64, i64)>>,
    /// What these spell out, wherever it is.
    spelled_out: Vec<PathBuf>,
    /// Files that were seen to hold a secret. Once they are covered nobody can look again.
    held: BTreeSet<PathBuf>,
    /// The rules for paths.
    paths: PathRules,
    /// Whether the last look read all that there was to be read.
    is_whole: bool,
    /// Where what is found leads.
    leads: Leads,
    /// Folders that cannot be read.
    unread: BTreeSet<PathBuf>,
    /// Folders that were opened to be read.
    rights: Rights,
}

#[derive(Default)]
struct Folder {
    /// When it was last changed, where nothing can have changed since.
    changed: Option<(i64, i64)>,
    /// How many folders are between it and its root, itself counted.
    depth: usize,
    /// Whether something in it may be shut away.
    has_rules: bool,
    /// Whether it was read before.
    is_read: bool,
    /// Whether a rule keeps all in it from being changed, by what was found of it.
    is_guarded: bool,
    found: BTreeSet<Found>,
}

impl Names {
    /// Takes the roots. Nothing is read yet.
    pub(super) fn below(roots: impl Iterator<Item = PathBuf>) -> Names {
        let roots: BTreeMap<PathBuf, Shut> =
            roots.map(|root| (root.clone(), Shut::new(&root))).collect();
        let rights = Rights::within(roots.keys().cloned().collect());
        let (folders, rules) = (BTreeMap::new(), BTreeMap::new());
        let (spelled_out, held) = (Vec::new(), BTreeSet::new());
        let (places, paths) = (Vec::new(), PathRules::default());
        let (leads, unread) = (Leads::default(), BTreeSet::new());
        let mut names = Names {
            roots,
            folders,
            places,
            rules,
            spelled_out,
            held,
            paths,
            is_whole: false,
            leads,
            unread,
            rights,
        };
        names.forget();
        names
    }

    /// Takes the person's home: what starts processes there is looked for if it is below a root.
    pub(super) fn in_home(&mut self, home: &Path) {
        let places = OF_HOME.iter().map(|name| home.join(name));
        let below = |place: &PathBuf| self.roots.keys().any(|root| place.starts_with(root));
        self.places = places.filter(below).collect();
    }

    /// Takes the rules for paths.
    pub(super) fn bar(&mut self, barred: &Barred) {
        if !self.paths.is_of(barred) {
            self.paths = PathRules::new(barred);
            self.forget();
        }
    }

    /// Whether a rule keeps `path` from being changed.
    pub(super) fn is_barred(&self, path: &Path) -> bool {
        self.paths.of(path, true).guards
    }

    /// Whether a rule keeps commands from `path` in any way.
    pub(super) fn is_ruled(&self, path: &Path) -> bool {
        self.paths.of(path, true).is_any()
    }

    /// Returns what leads to `path`, if nothing else tells to guard it.
    pub(super) fn leading_to(&self, path: &Path) -> Option<&BTreeSet<PathBuf>> {
        self.leads.by(path)
    }

    /// Whether what was hidden at `path` is so at `new`, when it has been moved there.
    pub(super) fn still_hides(&mut self, path: &Path, new: &Path) -> bool {
        let is_folder = new.symlink_metadata().is_ok_and(|found| found.is_dir());
        let mut roots = self.roots.iter_mut().filter(|(root, _)| new.starts_with(root));
        if roots.any(|(_, shut)| shut.names(new, is_folder)) {
            return true;
        }
        let root = self.roots.keys().filter(|root| new.starts_with(root)).min();
        let below = root.and_then(|root| new.strip_prefix(root).ok());
        let names = below.into_iter().flat_map(Path::iter);
        let mut parents: Vec<String> =
            names.map(|name| name.to_string_lossy().into_owned()).collect();
        let Some(name) = parents.pop().filter(|_| !is_folder) else { return false };
        match credentials::hides(&name, &parents) {
            Hides::Always => true,
            Hides::If(_) => self.held.contains(path),
            Hides::Never => false,
        }
    }

    /// Takes note of where folders were moved.
    pub(super) fn moved(&mut self, moves: &Moves) {
        self.held = self.held.iter().map(|path| moves.of(path)).collect();
    }

    /// Gives the person their rights to folders, until [`Names::close`].
    pub(super) fn rights(&mut self) -> &mut Rights {
        &mut self.rights
    }

    /// Makes folders that were opened to be read as they were.
    pub(super) fn close(&mut self) {
        self.rights.close();
    }

    /// Returns the folders that could not be read.
    pub(super) fn unread(&self) -> &BTreeSet<PathBuf> {
        &self.unread
    }

    /// Begins anew, with rules as they are now.
    fn forget(&mut self) {
        let roots: Vec<PathBuf> = self.roots.keys().cloned().collect();
        self.folders = roots.iter().map(|root| (root.clone(), Folder::default())).collect();
        self.roots = roots.into_iter().map(|root| (root.clone(), Shut::new(&root))).collect();
        self.rules.clear();
        self.spelled_out.clear();
    }

    /// Whether the last look saw all.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns all names that are there now, out of `most` entries that are not known yet, near ones
    /// first to be found where there are more.
    pub(super) fn look(&mut self, most: usize) -> BTreeSet<Found> {
        let have_rules_changed =
            self.rules.iter().any(|(file, known)| file_changed(file) != *known);
        if have_rules_changed || !self.look_anew(most) {
            self.forget();
            // Rules that come meanwhile hold the next time.
            self.look_anew(most);
        }
        let folders = self.folders.values();
        let mut found: BTreeSet<Found> =
            folders.flat_map(|folder| folder.found.iter().cloned()).collect();
        found.extend(self.places.iter().filter_map(|path| {
            let found = self.rights.reach(path, Path::symlink_metadata).ok()?;
            Some(if found.is_symlink() { Found::Link } else { Found::Protected }(path.clone()))
        }));
        for path in &self.spelled_out {
            let Ok(facts) = self.rights.reach(path, Path::symlink_metadata) else { continue };
            let mut roots = self.roots.iter_mut().filter(|(root, _)| path.starts_with(root));
            if !facts.is_symlink() && roots.any(|(_, shut)| shut.names(path, facts.is_dir())) {
                found.insert(Found::Secret(path.clone()));
            }
        }
        let roots: Vec<&Path> = self.roots.keys().map(PathBuf::as_path).collect();
        found.extend(self.paths.spelled_out(&roots, &mut self.rights));
        self.leads.complete(&mut found, &roots, &mut self.rights);
        self.paths.complete(&mut found, &roots);
        found
    }

    /// Reads what changed; false if that brought rules for what was read before.
    fn look_anew(&mut self, most: usize) -> bool {
        let mut pending: VecDeque<PathBuf> = VecDeque::new();
        // The outer ones come first. Below one that is a folder no more nothing is looked at: where
        // a link stands in its place, that would be another's.
        let mut gone: Option<PathBuf> = None;
        self.unread.retain(|path| path.symlink_metadata().is_ok());
        self.folders.retain(|path, folder| {
            if gone.as_ref().is_some_and(|gone| path.starts_with(gone)) {
                return false;
            }
            let facts = facts(path);
            if let Some(facts) = &facts {
                // What is in it is looked at right after it.
                self.rights.open_found(path, facts);
            }
            let changed = facts.as_ref().map(changed);
            if changed.is_none() && folder.depth > 0 {
                gone = Some(path.clone());
                return false;
            }
            if changed.is_none() || changed != folder.changed {
                pending.push_back(path.clone());
            }
            true
        });
        let mut left = most;
        while let Some(path) = pending.pop_front() {
            if left == 0 {
                // Not known to be unchanged, so it is read the next time.
                break;
            }
            match self.read(&path, &mut left) {
                Some(below) => pending.extend(below),
                None => return false,
            }
        }
        self.is_whole = left > 0;
        true
    }

    /// Reads one folder; returns those in it that are not known yet. `None` if rules have come that
    /// hold for folders which are known.
    fn read(&mut self, path: &Path, left: &mut usize) -> Option<Vec<PathBuf>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let sure = now.cast_signed() - UNSURE_SECONDS;
        let known = self.folders.remove(path).unwrap_or_default();
        let was_read = known.is_read;
        let mut folder = Folder { is_read: true, found: BTreeSet::new(), ..known };
        let (changed, listed) = self.open(path);
        folder.changed = changed.filter(|&(seconds, _)| seconds < sure);
        let mut entries = Vec::new();
        for entry in listed.into_iter().flatten().flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                folder.changed = None;
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            entries.push((entry.file_name(), kind));
        }
        let has = |wanted: &str| entries.iter().any(|(name, _)| name == wanted);
        if has(Shut::FILE) {
            let file = path.join(Shut::FILE);
            let is_new = !self.rules.contains_key(&file);
            if is_new {
                self.rules.insert(file.clone(), file_changed(&file));
                self.spelled_out.extend(shut::spelled_out(&file));
            }
            folder.has_rules = true;
            if is_new && was_read {
                return None;
            }
        }
        let parents = parents(path, folder.depth);
        let bare = is_bare(&has);
        if bare {
            folder.found.insert(Found::Bare(path.to_owned()));
        }
        let mut below = Vec::new();
        for (whole, kind) in entries {
            // A name may be any bytes; only words are looked for in what is shown of it.
            let (at, name) = (path.join(&whole), whole.to_string_lossy());
            let can_be_folder = kind.is_dir() || kind.is_symlink();
            let mut bar = if name == ".git" {
                Bar::default()
            } else {
                self.paths.of_entry(&at, can_be_folder)
            };
            bar.guards &= !folder.is_guarded;
            if folder.has_rules && name != Shut::FILE && name != ".git" && self.shuts(&at, kind) {
                let is_protected = bar.guards || is_protected_in(&name, &parents);
                folder.found.insert(if is_protected { Found::Both(at) } else { Found::Secret(at) });
                continue;
            }
            if kind.is_symlink() && bar.is_any() {
                let roots: Vec<&Path> = self.roots.keys().map(PathBuf::as_path).collect();
                folder.found.extend(self.paths.link(&at, bar, &roots, &mut self.rights));
                continue;
            }
            if bar.hides {
                bar.guards |= is_protected_in(&name, &parents);
                folder.found.extend(bars::found(&at, bar));
                continue;
            }
            let (found, doubtful) = judge(&at, &name, kind, &parents, &mut self.held);
            if doubtful {
                // What it holds may change, and the folder does not tell.
                folder.changed = None;
            }
            let found = match found {
                Some(Found::Secret(path)) if bar.guards => Some(Found::Both(path)),
                None if bar.guards && !kind.is_dir() => Some(Found::Protected(at.clone())),
                other => other,
            };
            if bar.guards && found.is_none() {
                folder.found.insert(Found::Protected(at.clone()));
            }
            if let Some(found) = found {
                folder.found.insert(found);
            } else if kind.is_dir()
                && made_by_tools(&whole) != Some(Made::PassedOver)
                && !(bare && OF_BARE.contains(&&*name))
                && !self.folders.contains_key(&at)
            {
                let depth = folder.depth + 1;
                let (has_rules, is_guarded) = (folder.has_rules, folder.is_guarded || bar.guards);
                let new = Folder { depth, has_rules, is_guarded, ..Folder::default() };
                self.folders.insert(at.clone(), new);
                below.push(at);
            }
        }
        self.folders.insert(path.to_owned(), folder);
        Some(below)
    }

    /// Opens one folder to read it, and tells when it was last changed, where it can be read.
    fn open(&mut self, path: &Path) -> (Option<(i64, i64)>, Option<fs::ReadDir>) {
        let facts = facts(path);
        if let Some(facts) = &facts {
            self.rights.open_found(path, facts);
        }
        let listed = fs::read_dir(path);
        if listed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
            self.unread.insert(path.to_owned());
            return (None, None);
        }
        self.unread.remove(path);
        (facts.as_ref().map(changed), listed.ok())
    }

    /// Whether a rule names `path`. What a link leads to has a name of its own.
    fn shuts(&mut self, path: &Path, kind: fs::FileType) -> bool {
        let mut roots = self.roots.iter_mut().filter(|(root, _)| path.starts_with(root));
        !kind.is_symlink() && roots.any(|(_, shut)| shut.names(path, kind.is_dir()))
    }
}

/// Returns the names of the last `depth` folders of `path`, as they are compared with known names:
/// what is no UTF-8 in them is in none of these.
fn parents(path: &Path, depth: usize) -> Vec<String> {
    let names = path.iter().rev().take(depth);
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.reverse();
    names
}

/// Whether `name` is protected in the last of the folders called `parents`.
fn is_protected_in(name: &str, parents: &[String]) -> bool {
    let mut parents = parents.iter().rev().map(String::as_str);
    is_protected_name(name, parents.next(), parents.next())
}

/// Folders of a repository that are git's alone.
const OF_BARE: &[&str] = &["objects", "refs", "logs", "info", "hooks"];

/// Whether git takes a folder for a repository that has names as `has` says.
fn is_bare(has: &dyn Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

/// Judges the entry at `path`, called `name`, of a folder with these `parents`; also says whether
/// that depends on what is in it.
fn judge(
    path: &Path,
    name: &str,
    kind: fs::FileType,
    parents: &[String],
    held: &mut BTreeSet<PathBuf>,
) -> (Option<Found>, bool) {
    if kind.is_dir() && name.eq_ignore_ascii_case(".git") {
        return (Some(Found::Git(path.to_owned())), false);
    }
    let hides = if kind.is_dir() { Hides::Never } else { credentials::hides(name, parents) };
    let is_secret = match hides {
        Hides::Always => true,
        Hides::If(_) if held.contains(path) => true,
        Hides::If(holds) => holds.is_in(path) && held.insert(path.to_owned()),
        Hides::Never => false,
    };
    let is_protected = is_protected_in(name, parents);
    let found = match (is_protected, is_secret) {
        (true, _) if kind.is_symlink() => Some(Found::Link(path.to_owned())),
        (true, true) => Some(Found::Both(path.to_owned())),
        (true, false) => Some(Found::Protected(path.to_owned())),
        (false, true) => Some(Found::Secret(path.to_owned())),
        (false, false) => None,
    };
    (found, matches!(hides, Hides::If(_)))
}

/// Returns what is known of the folder at `path`, if there is one.
fn facts(path: &Path) -> Option<fs::Metadata> {
    path.symlink_metadata().ok().filter(fs::Metadata::is_dir)
}

/// Returns when a folder was last changed, which nothing inside it can forge.
fn changed(facts: &fs::Metadata) -> (i64, i64) {
    (facts.ctime(), facts.ctime_nsec())
}

/// Returns when the file at `path` was last changed.
pub(super) fn file_changed(path: &Path) -> Option<(i64, i64)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.ctime(), found.ctime_nsec()))
}
