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
use std::io::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
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
use super::policy::{Overlay, Policy, send};
use super::touched::Touched;
use crate::approval::Rung;

/// How long a keeper may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it may take as long for a look: a command may have made very much.
const LOOK_PATIENCE: usize = 30;

/// What a keeper answers, one line each.
pub(super) const MADE: &str = "made ";
pub(super) const FAILED: &str = "failed ";
/// What it was made from has changed, so that a new one must be made.
pub(super) const STALE: &str = "stale";

/// What a look saw, as JSON, which has no line end.
const TOUCHED: &str = "touched ";

/// More than most answers have.
const ANSWER_BYTES: usize = 512;

/// What stands for a mark where a look is asked.
const LOOK: u64 = 0;

/// How many descriptors come with a request.
const DESCRIPTORS: usize = 3;

/// Bytes of a request: the mark, the number of the kept descriptor, and how long the text is that
/// follows, which says what is laid over the roots.
const REQUEST_BYTES: usize = 16;

/// The asking side of a keeper. Dropped, the keeper ends.
pub(super) struct Keeper {
    policy: Policy,
    process: Process,
    control: UnixStream,
    answers: Mutex<Answers>,
}

/// What a keeper says.
struct Answers {
    from: BufReader<UnixStream>,
    /// What came of the next line so far.
    line: Vec<u8>,
    /// Helpers that were made and not taken yet, by their marks.
    made: Vec<(u64, Pid)>,
}

/// What one helper gets from the process that asked for it.
pub(super) struct Request {
    pub(super) mark: u64,
    pub(super) control: OwnedFd,
    pub(super) output: OwnedFd,
    /// A descriptor for the shell, and the number that it has there.
    pub(super) kept: Option<(OwnedFd, c_int)>,
    /// What is laid over the roots for it.
    pub(super) view: Vec<Overlay>,
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
        let from = BufReader::with_capacity(ANSWER_BYTES, control.try_clone()?);
        let answers = Mutex::new(Answers { from, line: Vec::new(), made: Vec::new() });
        let keeper = Keeper { policy, process, control, answers };
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
        bytes[8..12].copy_from_slice(&kept.map_or(-1, |(_, number)| *number).to_ne_bytes());
        let view = match request.view.as_slice() {
            [] => Vec::new(),
            view => serde_json::to_vec(view)?,
        };
        let length = u32::try_from(view.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        bytes[12..].copy_from_slice(&length.to_ne_bytes());
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
        (&self.control).write_all(&view)
    }

    /// Waits for the helper with this mark.
    pub(super) fn take(&self, mark: u64) -> Result<Pid, Refused> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(at) = answers.made.iter().position(|&(made, _)| made == mark) {
                return Ok(answers.made.swap_remove(at).1);
            }
            match answers.next(1)? {
                Answer::Made(mark, pid) => answers.made.push((mark, pid)),
                Answer::Touched(_) => {}
            }
        }
    }

    /// Returns what the last command did to protected names; `git` says that it was git alone.
    ///
    /// A keeper that does not answer is replaced for the next command.
    pub(super) fn look(&self, git: bool) -> Vec<Touched> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let root = || self.policy.roots.first().cloned().unwrap_or_default();
        if (&self.control).write_all(&look_request(git)).is_err() {
            return vec![Touched::Unseen(root())];
        }
        loop {
            match answers.next(LOOK_PATIENCE) {
                Ok(Answer::Made(mark, pid)) => answers.made.push((mark, pid)),
                Ok(Answer::Touched(touched)) => return touched,
                Err(_) => return vec![Touched::Unseen(root())],
            }
        }
    }

    /// Returns where it is asked, for one that takes the place of this process.
    pub(super) fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

/// Returns what the last command did to protected names, by the keeper that is asked on `control`,
/// for which nobody else asks any more.
pub(super) fn last_look(control: &UnixStream, git: bool) -> io::Result<Vec<Touched>> {
    control.set_read_timeout(Some(PATIENCE * LOOK_PATIENCE.try_into().unwrap_or(1)))?;
    (&*control).write_all(&look_request(git))?;
    // It ends then, and with it what it says: perhaps also of a look that was asked before.
    control.shutdown(Shutdown::Write)?;
    let mut text = Vec::new();
    (&*control).read_to_end(&mut text)?;
    let lines = text.split(|&byte| byte == b'\n');
    let looks = lines.filter_map(|line| line.strip_prefix(TOUCHED.as_bytes()));
    let looks = looks.filter_map(|text| serde_json::from_slice::<Vec<Touched>>(text).ok());
    Ok(looks.flatten().collect())
}

/// Returns the request of a look after a command; `git` says that it was git alone.
fn look_request(git: bool) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[8..12].copy_from_slice(&c_int::from(git).to_ne_bytes());
    bytes
}

impl Answers {
    /// Reads the next one, which may take `patience` times as long as one may.
    fn next(&mut self, patience: usize) -> Result<Answer, Refused> {
        let mut waited = 0;
        while let Err(error) = self.from.read_until(b'\n', &mut self.line) {
            waited += 1;
            let is_late = matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
            );
            // It is too slow to be of use.
            if !is_late || waited >= patience {
                return Err(Refused::Stale);
            }
        }
        let line = std::mem::take(&mut self.line);
        // Without a whole one it died.
        let line = str::from_utf8(&line).ok().and_then(|line| line.strip_suffix('\n'));
        let line = line.ok_or(Refused::Stale)?;
        if let Some(why) = line.strip_prefix(FAILED) {
            return Err(Refused::Failed(why.to_owned()));
        }
        let made = line.strip_prefix(MADE).and_then(made);
        let touched = line.strip_prefix(TOUCHED);
        let touched = touched.and_then(|text| serde_json::from_str(text).ok());
        made.or(touched.map(Answer::Touched)).ok_or(Refused::Stale)
    }
}

/// Reads a mark and the number of a process.
fn made(text: &str) -> Option<Answer> {
    let (mark, pid) = text.split_once(' ')?;
    Some(Answer::Made(mark.parse().ok()?, Pid::from_raw(pid.parse().ok()?)?))
}

/// What a keeper says.
enum Answer {
    /// A helper with this mark.
    Made(u64, Pid),
    Touched(Vec<Touched>),
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.process.end();
        descendants::let_go(self.process.id());
    }
}

/// What a keeper is asked for.
pub(super) enum Asked {
    Helper(Request),
    /// To look what a command did to protected names; `git` says that it was git alone.
    Look {
        git: bool,
    },
}

/// Waits for what is asked next; `None` when nobody will ask any more.
pub(super) fn next(control: &File) -> Option<Asked> {
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
    let mark = u64::from_ne_bytes(mark.try_into().ok()?);
    let (number, length) = number.split_at(4);
    let number = c_int::from_ne_bytes(number.try_into().ok()?);
    let length = u32::from_ne_bytes(length.try_into().ok()?);
    let mut view = vec![0; usize::try_from(length).ok()?];
    (&mut &*control).read_exact(&mut view).ok()?;
    if mark == LOOK {
        return Some(Asked::Look { git: number != 0 });
    }
    Some(Asked::Helper(Request {
        mark,
        control: handles.next()?,
        output: handles.next()?,
        kept: handles.next().map(|handle| (handle, number)),
        view: if view.is_empty() { Vec::new() } else { serde_json::from_slice(&view).ok()? },
    }))
}

/// Answers what was seen at a look.
pub(super) fn say_touched(mut control: &File, touched: &[Touched]) {
    let text = serde_json::to_string(touched).unwrap_or_default();
    control.write_all(format!("{TOUCHED}{text}\n").as_bytes()).ok();
}
