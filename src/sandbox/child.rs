//! The start of a command: what its shell gets, and what is kept of it.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
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
    let bash = find_program("bash", command.environment)?;
    let failed = |source| SandboxError::Start { program: bash.display().to_string(), source };
    std::fs::metadata(command.directory).map_err(|source| SandboxError::Directory {
        directory: command.directory.display().to_string(),
        source,
    })?;
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

/// Finds `program` on the PATH of `environment`, in absolute folders only.
pub fn find_program(
    program: &'static str,
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, SandboxError> {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(""), |(_, value)| value);
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    found.ok_or_else(|| SandboxError::NoProgram { program, path: path.display().to_string() })
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
