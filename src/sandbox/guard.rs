//! The guard: a small process beside this one that ends what commands left when this one is killed.
//!
//! Only a process that outlives this one can do that, so it is nobody's child; it knows what is
//! to be ended by the marks, and it waits on a socket that this process alone holds.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Rlimit;

use super::confine::system::{self, Fork};
use super::descendants::{self, Level};
use super::helper;
use super::spawn::{self, Start};

/// How long the guard tries to end what is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits between two rounds.
const ROUND: Duration = Duration::from_millis(2);

/// Starts a guard that waits until the returned socket is closed. `folder` is removed then.
///
/// To be called before orphans come to this process: the guard would be one of them.
pub(super) fn start(program: &Path, folder: &Path) -> io::Result<UnixStream> {
    let (ours, inner) = UnixStream::pair()?;
    let limit = descendants::own_limit();
    let numbers = [inner.as_raw_fd().to_string(), descendants::own_process().to_string()];
    let limit_text = limit.map_or("none".to_owned(), |limit| limit.to_string());
    let arguments = [
        OsStr::new("snick"),
        OsStr::new(helper::GUARD),
        OsStr::new(&numbers[0]),
        OsStr::new(&numbers[1]),
        OsStr::new(&limit_text),
        OsStr::from_bytes(folder.as_os_str().as_bytes()),
    ];
    let input = File::open("/dev/null")?;
    let output = File::options().write(true).open("/dev/null")?;
    let mut process = spawn::spawn(&Start {
        program,
        arguments: &arguments,
        environment: &[],
        directory: Path::new("/"),
        input: input.as_fd(),
        output: output.as_fd(),
        kept: &[inner.as_fd()],
        namespaces: 0,
        mark: Rlimit { current: limit, maximum: limit },
    })?;
    // It forks and ends at once; what it forked is then nobody's child.
    process.wait_blocking()?;
    Ok(ours)
}

/// Is the guard. Returns once it is forked off, and in the guard when all is done.
pub(super) fn run(control: i32, process: u64, limit: Option<u64>, folder: &Path) {
    let Ok(control) = system::inherited(control) else { return };
    if !matches!(system::fork(), Ok(Fork::Child)) {
        return;
    }
    let mut control = File::from(control);
    // Nothing is ever said: this returns when the other end is closed.
    while matches!(control.read(&mut [0; 64]), Ok(1..)) {}
    let level = Level::of(limit);
    let start = Instant::now();
    let mut clean = 0;
    // Twice, since a process may have forked while they were listed.
    while clean < 2 && start.elapsed() < PATIENCE {
        let left = descendants::kill_all(|hard| level.is_marked_by(process, hard));
        clean = if left == 0 { clean + 1 } else { 0 };
        std::thread::sleep(ROUND);
    }
    std::fs::remove_dir_all(folder).ok();
}
