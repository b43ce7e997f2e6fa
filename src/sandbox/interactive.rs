//! Programs that the person uses in the foreground: an editor on a temporary file.
//!
//! The person's own `!` commands go through [`super::run`], with the person's whole environment.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::signal::unix::SignalKind;

use super::SandboxError;
use super::child;

/// The most that is read back of an edited text.
const MOST_BYTES: u64 = 64 << 20;

/// An editor as the person named it, and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Editor<'a> {
    /// A command line, such as `vi` or `code --wait`.
    pub command: &'a str,
    pub directory: &'a Path,
    /// The person's whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// The folders of the workspace, from which no shell is taken.
    pub roots: &'a [&'a Path],
    /// The folder for temporary files.
    pub temporary: &'a Path,
}

/// Lets the person edit `text` in a temporary file called `name`, and returns what it is then.
///
/// The terminal is the editor's meanwhile: the caller leaves raw mode before and keeps silent.
///
/// # Errors
/// An editor that cannot be started or says that it failed, and text that is not UTF-8.
pub async fn edit(editor: &Editor<'_>, name: &str, text: &str) -> Result<String, SandboxError> {
    let folder = TemporaryFolder::new(editor.temporary)?;
    let file = folder.0.join(plain_name(name));
    write(&file, text).map_err(|source| saving(&file, source))?;
    let status = wait_for(editor, &file).await?;
    if !status.success() {
        return Err(SandboxError::Editor {
            editor: editor.command.to_owned(),
            status: status.to_string(),
        });
    }
    read(&file).map_err(|error| SandboxError::EditedText { why: error.to_string() })
}

/// Runs the editor in this terminal and swallows the interrupts that are meant for it.
async fn wait_for(editor: &Editor<'_>, file: &Path) -> Result<ExitStatus, SandboxError> {
    let failed = |source| SandboxError::Start { program: editor.command.to_owned(), source };
    let mut interrupt = tokio::signal::unix::signal(SignalKind::interrupt()).map_err(failed)?;
    let mut quit = tokio::signal::unix::signal(SignalKind::quit()).map_err(failed)?;
    // The shell splits and unquotes the command line, as it does for git.
    let mut command = child::new(&child::find_program("sh", editor.environment, editor.roots)?);
    command.arg("-c").arg(format!("{} \"$@\"", editor.command)).arg(editor.command).arg(file);
    command.current_dir(editor.directory).env_clear();
    command.envs(editor.environment.iter().map(|(name, value)| (name, value)));
    let mut child = tokio::process::Command::from(command).spawn().map_err(failed)?;
    loop {
        tokio::select! {
            status = child.wait() => return status.map_err(failed),
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut open = File::options().write(true).create_new(true).mode(0o600).open(file)?;
    open.write_all(text.as_bytes())
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    // By path, since editors save by rename; the folder is ours alone.
    let read = File::open(file)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// Returns `name` without folders and odd characters; its ending tells an editor the language.
fn plain_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default();
    let plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let kept: String = last.chars().filter(|&character| plain(character)).collect();
    if kept.trim_matches('.').is_empty() { "text".to_owned() } else { kept }
}

fn saving(path: &Path, source: io::Error) -> SandboxError {
    SandboxError::Save { path: path.display().to_string(), source }
}

/// A folder for one edit, closed to others, removed when dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new(parent: &Path) -> Result<TemporaryFolder, SandboxError> {
        let process = std::process::id();
        for number in 0..1000 {
            let path = parent.join(format!("snick-edit-{process}-{number}"));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(TemporaryFolder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(saving(&path, source)),
            }
        }
        Err(saving(parent, io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is in a private folder and gone with the next boot.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
