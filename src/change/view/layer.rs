//! The upper layer of one root, compared with the root.

use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::outputs::{Judged, Outputs};
use super::{Decides, Layer, Left, Output, Seen};
use crate::change::{Change, LARGEST};
use crate::workspace::name::quoted;
use crate::workspace::{FOLDER_MODE, FileImage, LINK_MODE, Located, Tree, Workspace, is_link_mode};

/// What is said of a file that somebody else wrote meanwhile.
pub(super) const CHANGED: &str =
    "somebody else changed it while the command ran; this is against the file as it is now";

/// What is said of one that somebody wrote before the question was answered.
pub(super) const STOOD: &str =
    "somebody else changed it while the question stood; this is against the file as it is now";

pub(super) const IGNORED: &str = "git ignores it";

/// How deep folders are looked into.
const MOST_DEPTH: usize = 256;

/// Reads one layer into `seen`.
pub(super) fn read(
    workspace: &Workspace,
    layer: Layer<'_>,
    since: SystemTime,
    decides: Decides<'_>,
    seen: &mut Seen,
) {
    let Ok(tree) = Tree::open(layer.upper) else {
        let (path, why) = (layer.root.display().to_string(), "its view cannot be read".to_owned());
        return seen.left.push(Left { path, why });
    };
    let (outputs, in_output) = (Outputs::new(layer.root, decides), false);
    let mut reader = Reader { workspace, layer, since, tree, outputs, in_output, seen };
    reader.folder(Path::new(""), 0);
}

struct Reader<'a> {
    workspace: &'a Workspace,
    layer: Layer<'a>,
    since: SystemTime,
    tree: Tree,
    outputs: Outputs<'a>,
    /// Whether this is in a new folder of outputs, where nothing but rules speaks against a name.
    in_output: bool,
    seen: &'a mut Seen,
}

impl Reader<'_> {
    /// Looks at everything that the upper layer has in the folder `below`.
    fn folder(&mut self, below: &Path, depth: usize) {
        if depth > MOST_DEPTH {
            return self.left(below, "it lies too deep");
        }
        let upper = self.layer.upper.join(below);
        let Some(names) = upper_names(&upper) else {
            return self.left(below, "the folder cannot be read");
        };
        for name in &names {
            if self.seen.too_much.is_some() {
                return;
            }
            self.entry(&below.join(name), depth);
        }
        if is_opaque(&upper) && depth > 0 {
            // Nothing of the folder below shows: what is not here was removed.
            for name in lower_names(&self.layer.root.join(below)).unwrap_or_default() {
                if !names.contains(&name) {
                    self.removed(&below.join(name), depth);
                }
            }
        }
    }

    fn entry(&mut self, below: &Path, depth: usize) {
        if below.file_name().is_some_and(|name| name == ".git") {
            return self.left(below, "what git keeps is not carried over");
        }
        let Ok(facts) = fs::symlink_metadata(self.layer.upper.join(below)) else { return };
        let lower = fs::symlink_metadata(self.layer.root.join(below)).ok();
        let kind = facts.file_type();
        if kind.is_char_device() && facts.rdev() == 0 {
            self.removed(below, depth);
        } else if kind.is_dir() {
            self.made_folder(below, &facts, lower.as_ref(), depth);
        } else if kind.is_file() {
            self.made_file(below, &facts, lower.as_ref());
        } else if kind.is_symlink() {
            self.made_link(below, lower.as_ref());
        } else {
            self.left(below, "it is a FIFO, a socket or a device");
        }
    }

    fn made_folder(
        &mut self,
        below: &Path,
        facts: &Metadata,
        lower: Option<&Metadata>,
        depth: usize,
    ) {
        match lower.map(Metadata::file_type) {
            None if self.is_kept_folder(below, depth) => {}
            None => {
                let before = self.count();
                self.folder(below, depth + 1);
                // What is in it makes the folders that it needs itself.
                if self.count() == before
                    && let Some(at) = self.locate(below)
                {
                    let (after, mode) = (Some(Vec::new().into()), Some(FOLDER_MODE));
                    let notes = vec!["an empty folder".to_owned()];
                    self.seen.add(Change { at, before: None, after, mode, notes });
                }
            }
            Some(kind) if kind.is_dir() => {
                let modes = [Some(facts), lower].map(|facts| facts.map(MetadataExt::mode));
                if modes[0] != modes[1] {
                    self.left(below, "the permissions of folders are not carried over");
                }
                self.folder(below, depth + 1);
            }
            Some(kind) if kind.is_file() || kind.is_symlink() => {
                self.removed(below, depth);
                self.folder(below, depth + 1);
            }
            Some(_) => self.left(below, "it would take the place of what is no file"),
        }
    }

    fn made_file(&mut self, below: &Path, facts: &Metadata, lower: Option<&Metadata>) {
        let is_link = lower.is_some_and(|facts| facts.file_type().is_symlink());
        let is_output = !is_link && self.is_output(below);
        if is_output && (lower.is_none() || self.outputs.is_rewritten(below, &self.tree)) {
            return self.output(below);
        }
        let Some((at, before)) = self.standing(below, lower) else { return };
        let mode = facts.mode() & 0o7777;
        let after = match self.upper_image(below, mode) {
            Ok(image) => image,
            Err(why) => return self.left(below, &why),
        };
        let mode = match &before {
            None if mode == NEW => None,
            Some(image) if !image.is_link() && image.mode == mode => None,
            None | Some(_) => Some(mode),
        };
        if before.as_ref().is_some_and(|image| image.hash == after.hash) && mode.is_none() {
            // Builds go by the times of such files.
            if is_output {
                self.output(below);
            }
            return;
        }
        let mut notes = notes(before.as_ref(), Some(&after.bytes), mode);
        self.doubt(lower, &mut notes);
        let change = Change { at, before, after: Some(after.bytes), mode, notes };
        self.add(below, change, is_output);
    }

    fn made_link(&mut self, below: &Path, lower: Option<&Metadata>) {
        if self.in_output && self.is_output(below) {
            return self.output(below);
        }
        let Ok(target) = fs::read_link(self.layer.upper.join(below)) else { return };
        let image = FileImage::link(target.as_os_str().as_bytes());
        let Some((at, before)) = self.standing(below, lower) else { return };
        if before.as_ref().is_some_and(|before| before.hash == image.hash) {
            return;
        }
        let mode = Some(LINK_MODE);
        let mut notes = notes(before.as_ref(), Some(&image.bytes), mode);
        self.doubt(lower, &mut notes);
        self.seen.add(Change { at, before, after: Some(image.bytes), mode, notes });
    }

    /// Reads what stands in the root in place of `below`; nothing where no file or link can be
    /// put in its place, which is said.
    fn standing(
        &mut self,
        below: &Path,
        lower: Option<&Metadata>,
    ) -> Option<(Located, Option<FileImage>)> {
        let takes = |kind: FileType| kind.is_file() || kind.is_symlink();
        if !lower.map(Metadata::file_type).is_none_or(takes) {
            self.left(below, "it would take the place of what is no file");
            return None;
        }
        let at = self.locate(below)?;
        if lower.is_none() {
            return Some((at, None));
        }
        match self.workspace.read_entry(&at, LARGEST) {
            Ok(image) => Some((at, Some(image))),
            Err(error) => {
                self.left(below, &error.to_string());
                None
            }
        }
    }

    /// Takes note that what stands at `below` in the root is gone in the view.
    fn removed(&mut self, below: &Path, depth: usize) {
        let path = self.layer.root.join(below);
        let Ok(facts) = fs::symlink_metadata(&path) else { return };
        let kind = facts.file_type();
        if self.seen.too_much.is_some() {
            return;
        }
        if below.file_name().is_some_and(|name| name == ".git") {
            return self.left(below, "what git keeps is not carried over");
        }
        if kind.is_dir() {
            if depth > MOST_DEPTH {
                return self.left(below, "it lies too deep");
            }
            return self.removed_folder(below, path, depth);
        }
        let is_output = kind.is_file() && self.is_output(below);
        if is_output && self.outputs.is_spare(below) {
            self.seen.outputs.push(Output::Removed(path));
        } else if kind.is_file() || kind.is_symlink() {
            let Some((at, before)) = self.standing(below, Some(&facts)) else { return };
            let mut notes = notes(before.as_ref(), None, None);
            self.doubt(Some(&facts), &mut notes);
            self.add(below, Change { at, before, after: None, mode: None, notes }, is_output);
        } else {
            self.left(below, "it was removed, but what is no file is left");
        }
    }

    /// Takes note that the folder `below`, at `path` in the root, is gone in the view.
    fn removed_folder(&mut self, below: &Path, path: PathBuf, depth: usize) {
        let before = self.decided();
        let names = lower_names(&path).unwrap_or_default();
        for name in &names {
            self.removed(&below.join(name), depth + 1);
        }
        // One that held files goes with them, as far as these are decided.
        if self.decided() != before || self.seen.too_much.is_some() || self.is_spare_folder(below) {
            return self.seen.emptied.push(path);
        }
        if let Some(at) = self.locate(below) {
            let note = if names.is_empty() {
                "an empty folder"
            } else {
                "a folder that held nothing but outputs"
            };
            let (before, mode) = (Some(FileImage::folder()), Some(FOLDER_MODE));
            self.seen.add(Change { at, before, after: None, mode, notes: vec![note.to_owned()] });
        }
    }

    /// Whether nobody is asked about the folder `below` when nothing else is in it.
    fn is_spare_folder(&mut self, below: &Path) -> bool {
        !self.outputs.is_decided(below, true) && self.outputs.is_spare_folder(below)
    }

    /// Takes a change in. What git ignores may be large, and keeps nothing else from being decided.
    fn add(&mut self, below: &Path, mut change: Change, is_ignored: bool) {
        if is_ignored && !self.seen.has_room_for(&change) {
            return self.left(below, "git ignores it, and it is too large to be looked at");
        }
        if is_ignored {
            change.notes.push(IGNORED.to_owned());
        }
        self.seen.add(change);
    }

    /// Whether `below` is an output, and nobody is to decide it.
    fn is_output(&mut self, below: &Path) -> bool {
        if self.in_output {
            return !self.outputs.is_guarded(below, false);
        }
        !self.outputs.is_decided(below, false) && self.outputs.file(below) == Judged::Output
    }

    /// Takes in the new folder `below` if it is ignored, at once or name by name.
    fn is_kept_folder(&mut self, below: &Path, depth: usize) -> bool {
        let judged = if self.in_output {
            self.outputs.inner_folder(below, self.layer.upper)
        } else {
            self.outputs.folder(below, self.layer.upper)
        };
        match judged {
            Judged::Output => self.output(below),
            Judged::Barred => {
                self.seen.outputs.push(Output::Folder(self.layer.root.join(below)));
                let outside = std::mem::replace(&mut self.in_output, true);
                self.folder(below, depth + 1);
                self.in_output = outside;
            }
            Judged::Mixed => {
                self.seen.outputs.push(Output::Folder(self.layer.root.join(below)));
                self.folder(below, depth + 1);
            }
            Judged::Change => return false,
        }
        true
    }

    fn output(&mut self, below: &Path) {
        let (from, to) = (self.layer.upper.join(below), self.layer.root.join(below));
        // What comes while others are decided is not replaced.
        let replaces = to.symlink_metadata().is_ok();
        self.seen.outputs.push(Output::Made { from, to, replaces });
    }

    /// Finds the place of `below` in the workspace, which no link may lead away from.
    fn locate(&mut self, below: &Path) -> Option<Located> {
        let path = self.layer.root.join(below);
        let at = self.workspace.locate_entry(&path).ok().filter(|at| at.path() == path);
        if at.is_none() {
            self.left(below, "a symbolic link stands on the way");
        }
        at
    }

    /// Reads a file of the upper layer; one that its owner may not read is made readable first.
    fn upper_image(&self, below: &Path, mode: u32) -> Result<FileImage, String> {
        if mode & 0o400 == 0 {
            let readable = fs::Permissions::from_mode(mode | 0o600);
            fs::set_permissions(self.layer.upper.join(below), readable)
                .map_err(|error| error.to_string())?;
        }
        self.tree.image(below, LARGEST).map_err(|error| error.to_string())
    }

    /// Adds a note if `lower` was altered while the command ran.
    fn doubt(&self, lower: Option<&Metadata>, notes: &mut Vec<String>) {
        let altered = |facts: &Metadata| {
            let whole = Duration::from_secs(facts.ctime().try_into().unwrap_or(0));
            let rest = Duration::from_nanos(facts.ctime_nsec().try_into().unwrap_or(0));
            UNIX_EPOCH + whole + rest
        };
        if lower.is_some_and(|facts| altered(facts) >= self.since) {
            notes.push(CHANGED.to_owned());
        }
    }

    fn left(&mut self, below: &Path, why: &str) {
        let path = self.layer.root.join(below);
        let shown = path.strip_prefix(self.workspace.start()).unwrap_or(&path);
        self.seen.left.push(Left { path: quoted(shown), why: why.to_owned() });
    }

    fn count(&self) -> usize {
        self.decided() + self.seen.outputs.len()
    }

    /// How much was found that somebody hears of.
    fn decided(&self) -> usize {
        self.seen.changes.len() + self.seen.left.len()
    }
}

/// The usual permissions of a new file, which need no word.
const NEW: u32 = 0o644;

/// Returns what is said of a change from `before` to `after` beside what the diff shows.
pub(super) fn notes(
    before: Option<&FileImage>,
    after: Option<&[u8]>,
    mode: Option<u32>,
) -> Vec<String> {
    let link = |target: &[u8]| format!("a symbolic link to `{}`", String::from_utf8_lossy(target));
    match (before, after) {
        (_, Some(target)) if mode.is_some_and(is_link_mode) => vec![link(target)],
        (Some(image), None) if image.is_link() => vec![link(&image.bytes)],
        (Some(image), Some(_)) if image.is_link() => {
            vec![format!("it takes the place of {}", link(&image.bytes))]
        }
        (Some(image), Some(_)) => {
            let mut notes = Vec::new();
            if let Some(mode) = mode.filter(|mode| *mode != image.mode) {
                let was = image.mode;
                notes.push(format!("its permissions change from {was:03o} to {mode:03o}"));
            }
            if image.links > 1 {
                let names = image.links;
                notes.push(format!(
                    "the file has {names} names (hard links); this one will be a file of its own"
                ));
            }
            notes
        }
        (None, Some(_)) => {
            let mode = mode.filter(|mode| *mode != NEW && *mode != FOLDER_MODE);
            mode.map(|mode| format!("its permissions are {mode:03o}")).into_iter().collect()
        }
        (_, None) => Vec::new(),
    }
}

/// Returns the names in a folder of the root, sorted.
fn lower_names(folder: &Path) -> Option<Vec<OsString>> {
    let entries = fs::read_dir(folder).ok()?;
    let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    Some(names)
}

/// Returns the names in a folder of the upper layer, which is opened if nobody may look into it.
fn upper_names(folder: &Path) -> Option<Vec<OsString>> {
    lower_names(folder).or_else(|| {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).ok()?;
        lower_names(folder)
    })
}

/// Whether the folder hides all that lies below it.
fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 8];
    let length = rustix::fs::lgetxattr(folder, "user.overlay.opaque", &mut value[..]);
    length.is_ok_and(|length| value[..length] == *b"y")
}
