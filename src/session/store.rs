//! The folder of all sessions: one folder per workspace, in it one per session.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::log::{LOG, Log};
use super::read::{self, Damage, Keep, Loaded};
use super::record::{FORMAT, Header, Record};
use super::summary::{self, Summary};
use super::{Session, SessionError, lock};
use crate::workspace::own;

/// All sessions of one person.
///
/// Layout: `WORKSPACE-HASH/YYYYMMDD-HHMMSS-ID/`, with `log.jsonl`, `lock`, and as they are
/// needed `outputs/` and `journal/`.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Whose sessions are listed.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    Workspace(&'a Path),
    All,
}

/// A session as it was read, without the right to add to it.
#[derive(Debug)]
pub struct Transcript {
    pub header: Header,
    pub records: Vec<Record>,
    pub damage: Damage,
}

impl Store {
    /// Names the folder. Nothing is looked at or made.
    pub fn new(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into() }
    }

    /// Starts a session that comes to disk with its first record.
    ///
    /// # Errors
    /// An id in `header` that cannot name a folder.
    pub fn create(&self, header: Header) -> Result<Session, SessionError> {
        self.plan(header, Vec::new(), Vec::new())
    }

    /// Opens the session whose id is `id` or begins with it, to go on with it.
    ///
    /// # Errors
    /// No such session or several, one that is open elsewhere, a log that cannot be read.
    pub fn open(&self, id: &str) -> Result<(Session, Damage), SessionError> {
        open_folder(self.find(id)?)
    }

    /// Opens the session of `workspace` that was written last, if there is one.
    ///
    /// Passes over sessions made by `-p`, empty ones, and those that are open elsewhere.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn latest(&self, workspace: &Path) -> Result<Option<(Session, Damage)>, SessionError> {
        for found in summary::newest_first(&[self.folder_of(workspace)]) {
            let Some(summary) = summary::summarise(&found) else { continue };
            if summary.print || summary.messages == 0 {
                continue;
            }
            match open_folder(found.folder) {
                Err(error) if error.is_busy() => {}
                Err(SessionError::NotFound { .. }) => {}
                opened => return opened.map(Some),
            }
        }
        Ok(None)
    }

    /// Lists sessions, the one written last first. Reads only the beginning of large logs.
    pub fn list(&self, scope: Scope<'_>) -> Vec<Summary> {
        let folders = match scope {
            Scope::Workspace(workspace) => vec![self.folder_of(workspace)],
            Scope::All => summary::folders(&self.folder),
        };
        let found = summary::newest_first(&folders);
        found.iter().filter_map(summary::summarise).collect()
    }

    /// Opens the session of `workspace` that was written last of those that changed files.
    ///
    /// # Errors
    /// One that is open elsewhere, a log that cannot be read.
    pub fn last_with_changes(
        &self,
        workspace: &Path,
    ) -> Result<Option<(Session, Damage)>, SessionError> {
        let found = summary::newest_first(&[self.folder_of(workspace)]);
        let wrote = found.into_iter().find(|found| found.folder.join("journal").is_dir());
        wrote.map(|found| open_folder(found.folder)).transpose()
    }

    /// Reads a session, also one that is open elsewhere, to show or export it.
    ///
    /// # Errors
    /// No such session or several, a log that cannot be read.
    pub fn read(&self, id: &str) -> Result<Transcript, SessionError> {
        let folder = self.find(id)?;
        let (header, loaded) = load(&folder, Keep::Records)?;
        Ok(Transcript { header, records: loaded.records, damage: loaded.damage })
    }

    /// Starts a session that begins with everything said in another, which may be open
    /// elsewhere and stays as it is. Like a new one it comes to disk with its next record.
    ///
    /// # Errors
    /// No such session or several, a log that cannot be read.
    pub fn fork(&self, id: &str) -> Result<(Session, Damage), SessionError> {
        let folder = self.find(id)?;
        let (parent, loaded) = load(&folder, Keep::RecordsAndLines)?;
        let new = Header::new(parent.workspace, parent.start, parent.model);
        let header = Header { parent: Some(parent.id), ..new };
        let session = self.plan(header, loaded.lines, loaded.records)?;
        Ok((session, loaded.damage))
    }

    /// Removes a session with its outputs and its journal. Returns its id.
    ///
    /// # Errors
    /// No such session or several, one that is open elsewhere, files that cannot be removed.
    pub fn remove(&self, id: &str) -> Result<String, SessionError> {
        let folder = self.find(id)?;
        let _lock = hold(&folder)?;
        fs::remove_dir_all(&folder).map_err(|source| {
            let path = folder.display().to_string();
            SessionError::Remove { path, source }
        })?;
        if let Some(workspace) = folder.parent() {
            // Works only when it was the last session of its workspace.
            fs::remove_dir(workspace).ok();
        }
        Ok(id_of(&folder))
    }

    fn plan(
        &self,
        header: Header,
        lines: Vec<u8>,
        records: Vec<Record>,
    ) -> Result<Session, SessionError> {
        check_id(&header.id)?;
        let mut head =
            serde_json::to_vec(&header).map_err(|source| SessionError::Encode { source })?;
        head.push(b'\n');
        head.extend(lines);
        let name = format!("{}-{}", folder_time(&header.created), header.id);
        let folder = self.folder_of(&header.workspace).join(name);
        let log = Some(Log::planned(folder, head));
        Ok(Session { header, records, log, secrets: Vec::new() })
    }

    /// Returns the folder of a workspace's sessions: its name for people, its hash for us.
    fn folder_of(&self, workspace: &Path) -> PathBuf {
        let hash = blake3::hash(workspace.as_os_str().as_bytes()).to_hex();
        let name = workspace.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = name.chars().map(allowed).take(40).collect();
        self.folder.join(format!("{}-{}", name.trim_matches('-'), &hash[..12]))
    }

    /// Finds the folder of the one session that `id` can mean.
    fn find(&self, id: &str) -> Result<PathBuf, SessionError> {
        check_id(id)?;
        let mut candidates = Vec::new();
        for found in summary::unordered(&summary::folders(&self.folder)) {
            let (name, own) = (name_of(&found), id_of(&found));
            if own == id || name == id {
                return Ok(found);
            }
            if own.starts_with(id) || name.starts_with(id) {
                candidates.push(found);
            }
        }
        candidates.sort();
        match candidates.len() {
            0 => Err(SessionError::NotFound { id: id.to_owned() }),
            1 => Ok(candidates.remove(0)),
            n => {
                let mut names: Vec<String> =
                    candidates.iter().take(5).map(|at| id_of(at)).collect();
                if n > names.len() {
                    names.push(format!("{} more", n - names.len()));
                }
                let candidates = names.join(", ");
                Err(SessionError::Ambiguous { id: id.to_owned(), candidates })
            }
        }
    }
}

/// Ids reach paths, so nothing else than this ever does.
fn check_id(id: &str) -> Result<(), SessionError> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !id.is_empty() && id.len() <= 64 && id.bytes().all(allowed) {
        return Ok(());
    }
    let id = id.chars().filter(|c| !c.is_control()).take(64).collect();
    Err(SessionError::BadId { id })
}

/// Returns `YYYYMMDD-HHMMSS` of an RFC 3339 time.
fn folder_time(created: &str) -> String {
    let digits: String = created.chars().filter(char::is_ascii_digit).take(14).collect();
    let digits = format!("{digits:0<14}");
    format!("{}-{}", &digits[..8], &digits[8..])
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the id in the name of a session's folder.
pub(super) fn id_of(folder: &Path) -> String {
    name_of(folder).splitn(3, '-').nth(2).unwrap_or_default().to_owned()
}

/// Names the session after its folder, by which it is found; a lost header leaves the rest open.
pub(super) fn header_or_new(header: Option<Header>, folder: &Path) -> Header {
    let header = header.unwrap_or_else(|| Header::new(PathBuf::new(), PathBuf::new(), ""));
    Header { id: id_of(folder), ..header }
}

fn hold(folder: &Path) -> Result<lock::Lock, SessionError> {
    lock::take(folder).map_err(|error| match error {
        lock::LockError::Held { holder } => SessionError::Busy { id: id_of(folder), holder },
        lock::LockError::Unsupported(source) => {
            SessionError::NoLocks { path: folder.display().to_string(), source }
        }
        lock::LockError::Io(source) => SessionError::write(&folder.join(LOG))(source),
    })
}

fn open_folder(folder: PathBuf) -> Result<(Session, Damage), SessionError> {
    let path = folder.join(LOG);
    let lock = hold(&folder)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    let mut file = own::open(&mut options, &path).map_err(SessionError::read(&path))?;
    let torn = read::mend_end(&mut file, &folder).map_err(SessionError::write(&path))?;
    let (header, loaded) = loaded(&file, &folder, Keep::Records)?;
    let log = Log::existing(folder, file, lock).map_err(SessionError::read(&path))?;
    let damage = Damage { torn, ..loaded.damage };
    let (records, log) = (loaded.records, Some(log));
    Ok((Session { header, records, log, secrets: Vec::new() }, damage))
}

fn load(folder: &Path, keep: Keep) -> Result<(Header, Loaded), SessionError> {
    let path = folder.join(LOG);
    let file =
        own::open(OpenOptions::new().read(true), &path).map_err(SessionError::read(&path))?;
    loaded(&file, folder, keep)
}

fn loaded(file: &File, folder: &Path, keep: Keep) -> Result<(Header, Loaded), SessionError> {
    let path = folder.join(LOG);
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let source = io::Error::from(io::ErrorKind::InvalidInput);
        return Err(SessionError::read(&path)(source));
    }
    let mut loaded = read::load(file, keep).map_err(SessionError::read(&path))?;
    let header = header_or_new(loaded.header.take(), folder);
    if header.snick > FORMAT {
        let path = path.display().to_string();
        return Err(SessionError::Newer { path, format: header.snick });
    }
    Ok((header, loaded))
}
