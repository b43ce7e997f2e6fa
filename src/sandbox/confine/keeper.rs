//! A process that has made the sandbox once and forks a helper from it for each command.
//!
//! To start this program again and to build the view of the file system anew for every command
//! would cost a step several milliseconds. What a keeper forks is a child of the process that
//! asked, not of the keeper, and it is made like the keeper, whatever commands did before it.

use std::ffi::{OsStr, c_int};
use std::fs::File;
use std::io;
use std::io::IoSlice;
use std::io::IoSliceMut;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::{Pid, Rlimit};

use super::super::descendants;
use super::super::helper;
use super::super::spawn::{self, Process, Start};
use super::policy::{Policy, send};
use crate::approval::Rung;

/// How long a keeper may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a keeper answers, one line each.
pub(super) const MADE: &str = "made ";
pub(super) const FAILED: &str = "failed ";
/// What it was made from has changed, so that a new one must be made.
pub(super) const STALE: &str = "stale";

/// How many descriptors come with a request.
const DESCRIPTORS: usize = 3;

/// Bytes of a request: the mark and the number of the kept descriptor.
const REQUEST_BYTES: usize = 12;

/// The asking side of a keeper. Dropped, the keeper ends.
pub(super) struct Keeper {
    policy: Policy,
    process: Process,
    control: UnixStream,
    /// Helpers that were made and not taken yet, by their marks.
    made: Mutex<Vec<(u64, Pid)>>,
}

/// What one helper gets from the process that asked for it.
pub(super) struct Request {
    pub(super) mark: u64,
    pub(super) control: OwnedFd,
    pub(super) output: OwnedFd,
    /// A descriptor for the shell, and the number that it has there.
    pub(super) kept: Option<(OwnedFd, c_int)>,
}

/// Why a keeper gave no helper.
pub(super) enum Refused {
    /// Another keeper may give one.
    Stale,
    Failed(String),
}

impl Keeper {
    /// Starts `program` as a keeper for `policy`. What it meets shows with the first helper.
    pub(super) fn start(program: &Path, policy: Policy) -> io::Result<Keeper> {
        let (control, inner) = UnixStream::pair()?;
        control.set_read_timeout(Some(PATIENCE))?;
        let (input, output) =
            (File::open("/dev/null")?, File::options().write(true).open("/dev/null")?);
        let own_users = policy.rung == Rung::Namespaces && policy.has_own_users();
        let limit = descendants::own_limit();
        let process = spawn::spawn(&Start {
            program,
            arguments: &["snick", helper::WORD, &inner.as_raw_fd().to_string()].map(OsStr::new),
            environment: &[],
            directory: Path::new("/"),
            input: input.as_fd(),
            output: output.as_fd(),
            kept: &[inner.as_fd()],
            namespaces: if own_users { libc::CLONE_NEWUSER } else { 0 },
            mark: Rlimit { current: limit, maximum: limit },
        })?;
        descendants::keep(process.id());
        let keeper = Keeper { policy, process, control, made: Mutex::new(Vec::new()) };
        send(&keeper.control, &serde_json::to_vec(&keeper.policy)?)?;
        Ok(keeper)
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Asks for a helper; [`Keeper::take`] takes it.
    pub(super) fn ask(&self, request: &Request) -> io::Result<()> {
        let kept = request.kept.as_ref();
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..8].copy_from_slice(&request.mark.to_ne_bytes());
        bytes[8..].copy_from_slice(&kept.map_or(-1, |(_, number)| *number).to_ne_bytes());
        let handles: Vec<BorrowedFd<'_>> = [&request.control, &request.output]
            .into_iter()
            .chain(kept.map(|(handle, _)| handle))
            .map(AsFd::as_fd)
            .collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(&handles));
        let bytes = [IoSlice::new(&bytes)];
        rustix::net::sendmsg(&self.control, &bytes, &mut rights, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Waits for the helper with this mark.
    pub(super) fn take(&self, mark: u64) -> Result<Pid, Refused> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(at) = made.iter().position(|&(made, _)| made == mark) {
                return Ok(made.swap_remove(at).1);
            }
            made.push(self.answer()?);
        }
    }

    /// Reads one answer.
    fn answer(&self) -> Result<(u64, Pid), Refused> {
        let mut line = Vec::new();
        let mut byte = [0];
        while let Ok(1) = (&self.control).read(&mut byte) {
            if byte == *b"\n" {
                let line = String::from_utf8_lossy(&line);
                return match (line.strip_prefix(MADE).and_then(made), line.strip_prefix(FAILED)) {
                    (Some(made), _) => Ok(made),
                    (None, Some(why)) => Err(Refused::Failed(why.to_owned())),
                    (None, None) => Err(Refused::Stale),
                };
            }
            line.extend(byte);
        }
        // It died, or is too slow to be of use.
        Err(Refused::Stale)
    }
}

/// Reads a mark and the number of a process.
fn made(text: &str) -> Option<(u64, Pid)> {
    let (mark, pid) = text.split_once(' ')?;
    Some((mark.parse().ok()?, Pid::from_raw(pid.parse().ok()?)?))
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.process.end();
        descendants::let_go(self.process.id());
    }
}

/// Waits for the next request; `None` when nobody will ask any more.
pub(super) fn next_request(control: &File) -> Option<Request> {
    let mut bytes = [0; REQUEST_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut buffer = [IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        match rustix::net::recvmsg(control, &mut buffer, &mut rights, flags) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.ok()?,
        }
    };
    if received.bytes != REQUEST_BYTES {
        return None;
    }
    let mut handles = Vec::new();
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            handles.extend(received);
        }
    }
    let mut handles = handles.into_iter();
    let (mark, number) = bytes.split_at(8);
    let number = c_int::from_ne_bytes(number.try_into().ok()?);
    Some(Request {
        mark: u64::from_ne_bytes(mark.try_into().ok()?),
        control: handles.next()?,
        output: handles.next()?,
        kept: handles.next().map(|handle| (handle, number)),
    })
}
