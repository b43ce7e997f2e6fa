//! The guard: a small process beside this one that ends what commands left when this one is killed.
//!
//! Only a process that outlives this one can do that, so it is nobody's child; it knows what is
//! to be ended by the marks, and it waits on a socket that this process alone holds. It also holds
//! the other end of the keeper's socket while a command runs, so that what the command did to
//! protected names is looked at whatever becomes of this process.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::io::{IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::Rlimit;

use super::confine::Charge;
use super::confine::system::{self, Fork};
use super::descendants::{self, Level};
use super::helper;
use super::spawn::{self, Start};

/// How long the guard tries to end what is left.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits between two rounds.
const ROUND: Duration = Duration::from_millis(2);

/// The side of the guard that this process holds: once it is closed, the guard acts.
pub(super) struct Guard {
    control: UnixStream,
}

impl Guard {
    /// Starts a guard that waits until this is dropped, or its process ends. `folder` is removed then.
    ///
    /// To be called before orphans come to this process: the guard would be one of them.
    pub(super) fn start(program: &Path, folder: &Path) -> io::Result<Guard> {
        start(program, folder).map(|control| Guard { control })
    }

    /// Leaves it to the guard to look at what a command did, if this process does not come to it;
    /// `keeper` is where the keeper is asked that knows what was there before, if one does.
    pub(super) fn entrust(
        &self,
        charge: &Charge,
        keeper: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(charge)?;
        let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let keeper: Vec<BorrowedFd<'_>> = keeper.into_iter().collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        if !keeper.is_empty() {
            rights.push(SendAncillaryMessage::ScmRights(&keeper));
        }
        let length = length.to_ne_bytes();
        let bytes = [IoSlice::new(&length), IoSlice::new(&text)];
        let sent = rustix::net::sendmsg(&self.control, &bytes, &mut rights, SendFlags::NOSIGNAL)?;
        let rest = [length.as_slice(), &text].concat().split_off(sent);
        (&self.control).write_all(&rest)
    }

    /// Says that it was done by this process.
    pub(super) fn relieve(&self) -> io::Result<()> {
        (&self.control).write_all(&[0; LENGTH_BYTES])
    }
}

/// Bytes of the length that comes before each charge; none comes after a length of zero.
const LENGTH_BYTES: usize = 4;

/// What the guard hears.
enum Heard {
    /// What is entrusted to it, and where the keeper is asked, if one knows what was there.
    Entrusted(Box<Charge>, Option<UnixStream>),
    Relieved,
}

/// Waits for what is said next; nothing when the other end is closed.
fn next(control: &File) -> Option<Heard> {
    let mut bytes = [0; LENGTH_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut buffer = [IoSliceMut::new(&mut bytes)];
        match rustix::net::recvmsg(control, &mut buffer, &mut rights, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.ok()?,
        }
    };
    let mut handles = rights.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => handles.collect::<Vec<OwnedFd>>(),
        _ => Vec::new(),
    });
    let keeper = handles.next();
    if received.bytes == 0 {
        return None;
    }
    (&mut &*control).read_exact(&mut bytes[received.bytes..]).ok()?;
    let mut text = vec![0; u32::from_ne_bytes(bytes) as usize];
    (&mut &*control).read_exact(&mut text).ok()?;
    let charge = serde_json::from_slice(&text).ok();
    Some(match charge {
        Some(charge) => Heard::Entrusted(charge, keeper.map(UnixStream::from)),
        None => Heard::Relieved,
    })
}

fn start(program: &Path, folder: &Path) -> io::Result<UnixStream> {
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
    let control = File::from(control);
    let mut last = Heard::Relieved;
    while let Some(heard) = next(&control) {
        last = heard;
    }
    let level = Level::of(limit);
    let start = Instant::now();
    let mut clean = 0;
    // Twice, since a process may have forked while they were listed.
    while clean < 2 && start.elapsed() < PATIENCE {
        let left = descendants::kill_all(|hard| level.is_marked_by(process, hard));
        clean = if left == 0 { clean + 1 } else { 0 };
        std::thread::sleep(ROUND);
    }
    // By now nothing runs that could make more.
    if let Heard::Entrusted(charge, keeper) = last {
        charge.take_over(keeper.as_ref());
    }
    std::fs::remove_dir_all(folder).ok();
}
