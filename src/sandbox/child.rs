//! The start of a command: what its shell gets, and what is kept of it.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;

use rustix::pipe::PipeFlags;
use tokio::net::unix::pipe::Receiver;

use super::SandboxError;
use super::command::Command;
use super::confine::{Aftermath, Told};
use super::descendants::{Descendants, Mark};
use super::pipeline::PipelineWatch;
use super::spawn::{self, Process, Start};

/// How many links are followed to a program, as many as the kernel follows.
const MOST_LINKS: usize = 40;

/// What the kernel lets an unprivileged process ask for.
const PIPE_BYTES: usize = 1 << 20;

/// A shell that runs, and how to hear of it and end it.
pub(super) struct Running {
    pub(super) child: Process,
    pub(super) output: Receiver,
    pub(super) descendants: Descendants,
    pub(super) pipeline: Option<PipelineWatch>,
    /// What the helper says of a confined shell.
    pub(super) told: Option<Told>,
    /// Where it may write much.
    pub(super) places: Vec<PathBuf>,
    /// The look at protected names at its end.
    pub(super) aftermath: Option<Aftermath>,
}

/// Starts the shell of `command`.
pub(super) fn start(command: &Command<'_>) -> Result<Running, SandboxError> {
    if let Some((sandbox, wish)) = command.confined {
        return sandbox.start(command, wish);
    }
    let bash = find_program("bash", command.environment, command.roots)?;
    let failed = |source| SandboxError::Start { program: bash.display().to_string(), source };
    std::fs::metadata(command.directory).map_err(|source| SandboxError::Directory {
        directory: command.directory.display().to_string(),
        source,
    })?;
    if let Some(why) = closed(command.directory) {
        return Err(SandboxError::Closed { why });
    }
    let (reader, writer) = output_pipe().map_err(failed)?;
    let pipeline = PipelineWatch::of(command.text);
    let mark = Mark::next();

    let script = pipeline.as_ref().map(|watch| (OsString::from("BASH_ENV"), watch.script().into()));
    let environment: Vec<(OsString, OsString)> =
        command.environment.iter().cloned().chain(script).collect();
    let input = File::open("/dev/null").map_err(failed)?;
    let kept = pipeline.as_ref().map(PipelineWatch::file);
    Descendants::adopt();
    let child = spawn::spawn(&Start {
        program: &bash,
        arguments: &arguments(&bash, command.text),
        environment: &environment,
        directory: command.directory,
        input: input.as_fd(),
        output: writer.as_fd(),
        kept: kept.as_ref().map(|file| file.as_fd()).as_slice(),
        namespaces: 0,
        mark: mark.limit(),
    })
    .map_err(failed)?;
    let descendants = Descendants::new(child.id(), mark);
    let output = Receiver::from_owned_fd(reader).map_err(failed)?;
    let places = vec![command.directory.to_owned()];
    Ok(Running { child, output, descendants, pipeline, told: None, places, aftermath: None })
}

/// Returns the arguments of the shell at `bash` for `command`, its own name first.
///
/// With the whole path it does not look for itself. The name after the command is the one that it
/// calls itself by in messages.
pub(super) fn arguments<'a>(bash: &'a Path, command: &'a str) -> [&'a OsStr; 4] {
    [bash.as_os_str(), OsStr::new("-c"), OsStr::new(command), OsStr::new("bash")]
}

/// Returns a command that has nothing set yet.
#[expect(clippy::disallowed_methods, reason = "this module is the one that starts children")]
pub(super) fn new(program: &Path) -> std::process::Command {
    std::process::Command::new(program)
}

/// Finds `program` on the PATH of `environment`, in absolute folders only, and never in one of `roots`:
/// there anybody may have put it.
pub fn find_program(
    program: &'static str,
    environment: &[(OsString, OsString)],
    roots: &[&Path],
) -> Result<PathBuf, SandboxError> {
    let found = on_path(program, environment).find(|file| !leads_into(file, roots));
    found.ok_or_else(|| {
        let path = path_of(environment).display().to_string();
        SandboxError::NoProgram { program, path }
    })
}

/// Returns the files called `program` that [`find_program`] passes over, since they lie in one of
/// `roots` or lead there.
pub fn passed_over(
    program: &str,
    environment: &[(OsString, OsString)],
    roots: &[&Path],
) -> Vec<PathBuf> {
    on_path(program, environment).filter(|file| leads_into(file, roots)).collect()
}

fn path_of(environment: &[(OsString, OsString)]) -> &OsStr {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    path.map_or(OsStr::new(""), |(_, value)| value)
}

/// Returns the files called `program` in absolute folders of PATH.
fn on_path(program: &str, environment: &[(OsString, OsString)]) -> impl Iterator<Item = PathBuf> {
    let folders = std::env::split_paths(path_of(environment)).filter(|folder| folder.is_absolute());
    folders.map(move |folder| folder.join(program)).filter(|file| file.is_file())
}

/// Whether `file` lies in one of `roots`, or a link at it or on the way does.
fn leads_into(file: &Path, roots: &[&Path]) -> bool {
    let is_within = |path: &Path| roots.iter().any(|root| path.starts_with(root));
    let mut at = file.to_owned();
    for _ in 0..MOST_LINKS {
        let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else { return false };
        let Ok(folder) = folder.canonicalize() else { return true };
        let whole = folder.join(name);
        if is_within(&at) || is_within(&whole) {
            return true;
        }
        match std::fs::read_link(&whole) {
            Ok(target) => at = folder.join(target),
            Err(_) => return false,
        }
    }
    true
}

/// Says what keeps anybody from entering `directory`: the first folder on the way that is closed.
pub(super) fn closed(directory: &Path) -> Option<String> {
    let mut folders: Vec<&Path> = directory.ancestors().collect();
    folders.reverse();
    let is_closed = |folder: &&&Path| {
        rustix::fs::access(**folder, rustix::fs::Access::EXEC_OK)
            .is_err_and(|error| error == rustix::io::Errno::ACCESS)
    };
    let folder = folders.iter().find(is_closed)?;
    let mode = folder.metadata().ok()?.mode() & 0o7777;
    let folder = folder.display();
    Some(format!(
        "`{folder}` cannot be entered, since its mode is {mode:03o}: `chmod u+rwx '{folder}'` by \
         hand opens it"
    ))
}

/// Returns both ends of a pipe that holds as much as the kernel allows.
pub(super) fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // A pipe of the usual size works too, only with more turns.
    rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES).ok();
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}
