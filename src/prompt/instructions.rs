//! Instruction files: which ones hold for a session, read with care and within a budget.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::workspace::clean::cleaned;
use crate::workspace::credentials;
use crate::workspace::name::quoted;
use crate::workspace::text;
use crate::workspace::{FileError, FileKind, Located, Place, Workspace};

/// Most bytes of all instruction files of a session, and of those found later in one folder.
const BUDGET: usize = 32 << 10;
/// How much of one file is read.
const MAX_READ: u64 = 1 << 20;
/// Names in one folder, strongest first: only one of them is loaded.
const NAMES: [&str; 3] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];

/// What is in the marks around each file.
const MARK: &str = "instructions";

/// What instruction files say, as the model gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Each file's text under its path, the nearest one last. Empty if there are none.
    pub text: String,
    /// The files in that order: absolute, links resolved.
    pub loaded: Vec<PathBuf>,
    /// What the person should know: files that were cut or could not be used.
    pub notes: Vec<String>,
}

/// Says of files whether rules keep them from being read.
pub type IsKept<'a> = dyn Fn(&Path) -> bool + 'a;

/// Loads the person's own instructions, then those of each folder from the workspace's root
/// down to the start directory.
///
/// Nothing a file holds can fail the load: what cannot be used is said in the notes. A file of the
/// repository that `is_kept` names, by its path with links resolved, is not read.
pub fn load(
    workspace: &Workspace,
    config_folder: Option<&Path>,
    is_kept: &IsKept<'_>,
) -> Instructions {
    let mut gathered = Gathered::default();
    if let Some(folder) = config_folder {
        gathered.add(workspace, folder, Owner::Person, is_kept);
    }
    for folder in folders(workspace.root(), workspace.start()) {
        gathered.add(workspace, &folder, Owner::Repository, is_kept);
    }
    gathered.finish()
}

/// Loads what holds below the start directory for `touched`, which a tool uses, if it was not
/// loaded before. What `is_kept` names is not read.
///
/// `already` remembers folders that were looked into, and files that were loaded; put
/// [`Instructions::loaded`] of the session's start in it, and files that the session itself
/// wrote. Ignored folders are not looked into.
pub fn nested(
    workspace: &Workspace,
    touched: &Path,
    already: &mut BTreeSet<PathBuf>,
    is_kept: &IsKept<'_>,
) -> Option<Instructions> {
    let below = touched.strip_prefix(workspace.start()).ok()?;
    let is_folder = touched.is_dir();
    let deepest = if is_folder { touched } else { touched.parent()? };
    if below.as_os_str().is_empty() || already.contains(deepest) {
        return None;
    }
    let mut gathered = Gathered { seen: std::mem::take(already), ..Gathered::default() };
    for folder in folders(workspace.start(), deepest).into_iter().skip(1) {
        if gathered.seen.insert(folder.clone()) {
            let has_any = NAMES.iter().any(|name| folder.join(name).symlink_metadata().is_ok());
            if has_any && !workspace.is_ignored(&folder) {
                gathered.add(workspace, &folder, Owner::Repository, is_kept);
            }
        }
    }
    *already = std::mem::take(&mut gathered.seen);
    let instructions = gathered.finish();
    (instructions != Instructions::default()).then_some(instructions)
}

/// Returns the folders from `top` down to `bottom`, both included.
fn folders(top: &Path, bottom: &Path) -> Vec<PathBuf> {
    let within = bottom.ancestors().take_while(|folder| folder.starts_with(top));
    let mut folders: Vec<PathBuf> = within.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Whose folder it is. The person's own may link anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Person,
    Repository,
}

/// Files that were found, not yet cut to the budget.
#[derive(Default)]
struct Gathered {
    files: Vec<Found>,
    notes: Vec<String>,
    /// Files by their resolved path, so that none is loaded twice.
    seen: BTreeSet<PathBuf>,
}

struct Found {
    path: PathBuf,
    shown: String,
    text: String,
    /// Bytes of the text in the file, also where only a part was read.
    size: usize,
}

impl Gathered {
    /// Takes the strongest of the instruction files in `folder` that is a file.
    fn add(&mut self, workspace: &Workspace, folder: &Path, owner: Owner, is_kept: &IsKept<'_>) {
        let own_names = if owner == Owner::Person { &NAMES[1..2] } else { &NAMES[..] };
        for name in own_names {
            let written = folder.join(name);
            if written.symlink_metadata().is_err() {
                continue;
            }
            match self.read(workspace, &written, owner, is_kept) {
                Ok(found) => {
                    self.files.extend(found);
                    return;
                }
                Err(why) => self.notes.push(format!("`{}` {why}", quoted(&written))),
            }
        }
    }

    /// Reads one file; `None` if it is empty or was read before.
    fn read(
        &mut self,
        workspace: &Workspace,
        written: &Path,
        owner: Owner,
        is_kept: &IsKept<'_>,
    ) -> Result<Option<Found>, String> {
        let at = workspace.locate_path(written).map_err(|error| format!("is not read: {error}"))?;
        if owner == Owner::Repository && at.place() != Place::Workspace {
            return Err("is not read: it is a link that leaves the workspace".to_owned());
        }
        if owner == Owner::Repository && workspace.is_shut(at.path()) {
            return Err("is not read: `.snickignore` shuts it away".to_owned());
        }
        if owner == Owner::Repository && is_kept(at.path()) {
            return Err("is not read: a rule keeps it from being read".to_owned());
        }
        let below = workspace.roots().find_map(|root| at.path().strip_prefix(root).ok());
        let is_link = owner == Owner::Repository && at.path() != written;
        if is_link && below.is_some_and(credentials::is_kept_from_links) {
            return Err("is not read: it is a link to what may hold credentials".to_owned());
        }
        if workspace.kind(&at) != FileKind::File {
            return Err("is not read: it is not a file".to_owned());
        }
        if !self.seen.insert(at.path().to_owned()) {
            return Ok(None);
        }
        let (text, size) = read_start(workspace, &at)?;
        if text.is_empty() {
            return Ok(None);
        }
        let shown = match owner {
            Owner::Person => quoted(written),
            Owner::Repository => quoted(Path::new(at.shown())),
        };
        Ok(Some(Found { path: at.path().to_owned(), shown, text, size }))
    }

    fn finish(self) -> Instructions {
        let Gathered { files, mut notes, .. } = self;
        let sizes: Vec<usize> = files.iter().map(|file| file.text.len()).collect();
        let mut text = String::new();
        let mut loaded = Vec::new();
        for (file, share) in files.into_iter().zip(shares(&sizes, BUDGET)) {
            let Found { path, shown, text: own, size } = file;
            let kept = head(&own, share);
            let harmless = without_marks(kept);
            writeln!(text, "<instructions file=\"{shown}\">\n{harmless}").ok();
            if kept.len() < own.len() || own.len() < size {
                let cut = format!("{} of about {size} bytes", kept.len());
                writeln!(text, "[cut here: only {cut} are shown; read_file shows the rest]").ok();
                notes.push(format!("`{shown}` is too long: only {cut} are used"));
            }
            text.push_str("</instructions>\n");
            loaded.push(path);
        }
        Instructions { text, loaded, notes }
    }
}

/// Takes the meaning out of what begins or ends instructions like the marks around each file: what
/// a file says is not to look as if another said it.
fn without_marks(text: &str) -> String {
    let is_mark = |rest: &str| {
        let rest = rest.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        rest.get(..MARK.len()).is_some_and(|word| word.eq_ignore_ascii_case(MARK))
    };
    let mut parts = text.split('<');
    let mut harmless = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        harmless.push_str(if is_mark(rest) { "&lt;" } else { "<" });
        harmless.push_str(rest);
    }
    harmless
}

/// Reads and cleans the start of a file. Returns its text and the size of the whole.
fn read_start(workspace: &Workspace, at: &Located) -> Result<(String, usize), String> {
    let broken = |error: FileError| format!("is not read: {error}");
    let file = workspace.open_file(at).map_err(broken)?;
    let size = file.metadata().map_or(0, |facts| facts.len());
    let mut bytes = Vec::new();
    file.take(MAX_READ).read_to_end(&mut bytes).map_err(|error| format!("is not read: {error}"))?;
    if size > bytes.len() as u64 {
        // The last line is in pieces, and so may be its last character.
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let valid = || str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        bytes.truncate(end.unwrap_or_else(valid));
    }
    let text = text::decode(&bytes).map_err(|error| format!("is not read: {error}"))?;
    let clean = cleaned(&text.content).trim().to_owned();
    let rest = size.saturating_sub(bytes.len() as u64);
    Ok((clean.clone(), clean.len() + usize::try_from(rest).unwrap_or(usize::MAX)))
}

/// Divides `budget` among files of these sizes, the deepest last: each may count on an equal
/// part, and what some leave over goes to the deepest first.
fn shares(sizes: &[usize], budget: usize) -> Vec<usize> {
    let part = budget / sizes.len().max(1);
    let mut shares: Vec<usize> = sizes.iter().map(|size| (*size).min(part)).collect();
    let mut left = budget - shares.iter().sum::<usize>();
    for (share, size) in shares.iter_mut().zip(sizes).rev() {
        let more = (size - *share).min(left);
        *share += more;
        left -= more;
    }
    shares
}

/// Cuts `text` to `limit` bytes, at the end of a line if one is near, never in a character.
fn head(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let kept = &text[..text.floor_char_boundary(limit)];
    match kept.rfind('\n') {
        Some(end) if kept.len() - end < 1_000 => &kept[..end],
        _ => kept,
    }
}
