//! The start of a command: what holds between fork and exec, and what the parent keeps of it.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use rustix::io::FdFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use tokio::net::unix::pipe::Receiver;

use super::SandboxError;
use super::command::Command;
use super::descendants::{Descendants, Mark};
use super::pipeline::PipelineWatch;

/// What the kernel lets an unprivileged process ask for.
const PIPE_BYTES: usize = 1 << 20;

/// A shell that runs, and how to hear of it and end it.
pub(super) struct Running {
    pub(super) child: tokio::process::Child,
    pub(super) output: Receiver,
    pub(super) descendants: Descendants,
    pub(super) pipeline: Option<PipelineWatch>,
}

/// Starts the shell of `command`.
///
/// Confinement belongs here: namespaces, Landlock and seccomp are to be entered in
/// [`before_exec`], prepared by the parent, so that a command costs no further process.
pub(super) fn start(command: &Command<'_>) -> Result<Running, SandboxError> {
    let bash = find_program("bash", command.environment)?;
    let failed = |source| SandboxError::Start { program: bash.display().to_string(), source };
    std::fs::metadata(command.directory).map_err(|source| SandboxError::Directory {
        directory: command.directory.display().to_string(),
        source,
    })?;
    let (reader, writer) = output_pipe().map_err(failed)?;
    let pipeline = PipelineWatch::of(command.text);
    let mark = Mark::next();

    let mut shell = new(&bash);
    shell.arg0("bash").arg("-c").arg(command.text).current_dir(command.directory);
    shell.env_clear().envs(command.environment.iter().map(|(name, value)| (name, value)));
    if let Some(pipeline) = &pipeline {
        shell.env("BASH_ENV", pipeline.script());
    }
    shell.stdin(Stdio::null());
    shell.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    before_exec(&mut shell, mark, pipeline.as_ref().map(PipelineWatch::file));

    Descendants::adopt();
    let child = tokio::process::Command::from(shell).kill_on_drop(true).spawn().map_err(failed)?;
    let shell = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let shell = shell.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let descendants = Descendants::new(shell, mark);
    let output = Receiver::from_owned_fd(reader).map_err(failed)?;
    Ok(Running { child, output, descendants, pipeline })
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
fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // A pipe of the usual size works too, only with more turns.
    rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES).ok();
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// Sets what the child does to itself before it becomes the shell.
#[expect(unsafe_code, reason = "std offers no safe way to enter a session before exec")]
fn before_exec(shell: &mut std::process::Command, mark: Mark, inherited: Option<Arc<File>>) {
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            // The parent died before the signal was set, which will now never come.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        rustix::process::setrlimit(Resource::Rttime, mark.limit())?;
        rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        if let Some(file) = &inherited {
            rustix::io::fcntl_setfd(file, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe { shell.pre_exec(prepare) };
}
