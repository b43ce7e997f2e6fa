//! Whatever a command started, wherever it went: found, ended, reaped.
//!
//! A process group is left with `setsid`, a parent with a double fork, an environment with
//! `env -i`. So each command gets a mark that every descendant inherits and that has no other
//! effect: a limit on the time of real-time processes, some hundred thousand years, each command
//! its own. Orphans come to this process, which is their subreaper; a process without the mark
//! is never touched.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::Once;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::PidfdFlags;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;
use rustix::process::{Pid, Resource, Rlimit, Signal};

use super::urgent::Urgent;

/// The limit that marks what one command started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    limit: u64,
    /// How far below `limit` the marks lie that a nested Snick gives.
    span: u64,
}

impl Mark {
    /// Returns a mark that no other command has, of this process or of another.
    pub(super) fn next() -> Mark {
        static COMMANDS: AtomicU64 = AtomicU64::new(0);
        let number = COMMANDS.fetch_add(1, Ordering::Relaxed);
        Level::of(own_limit()).mark(own_process(), number)
    }

    /// Returns the number that is the limit.
    pub(super) fn number(self) -> u64 {
        self.limit
    }

    /// Returns the limit to set before exec.
    pub(super) fn limit(self) -> Rlimit {
        Rlimit { current: Some(self.limit), maximum: Some(self.limit) }
    }

    /// Whether a process with this hard limit belongs to the command, perhaps through a nested Snick.
    fn covers(self, hard: u64) -> bool {
        hard <= self.limit && self.limit - hard < self.span
    }
}

/// What marks a process can give, by the limit that it has itself: those of a nested Snick lie
/// within the mark of the command that it is.
#[derive(Clone, Copy)]
pub(super) struct Level {
    highest: u64,
    span: u64,
    /// How many bits of a mark tell the process that gave it, and how many the command.
    process_bits: u32,
    command_bits: u32,
}

impl Level {
    /// Returns the level of a process that has itself the limit `own`.
    pub(super) fn of(own: Option<u64>) -> Level {
        const TOP: u64 = 1 << 62;
        let highest = own.unwrap_or(TOP).min(TOP);
        let (span_bits, process_bits, command_bits) = match highest.trailing_zeros() {
            _ if highest == TOP => (30, 22, 10),
            30.. => (6, 20, 4),
            _ => (0, 3, 3),
        };
        Level { highest, span: 1 << span_bits, process_bits, command_bits }
    }

    /// Returns the mark that process `process` gives its command number `command`.
    fn mark(self, process: u64, command: u64) -> Mark {
        // Never none: that would be the limit of the process itself.
        let command = command % ((1 << self.command_bits) - 1) + 1;
        let process = process % (1 << self.process_bits);
        let number = process << self.command_bits | command;
        Mark { limit: self.highest.saturating_sub(self.span * number), span: self.span }
    }

    /// Whether a process with this hard limit was marked by `process`, which is of this level.
    pub(super) fn is_marked_by(self, process: u64, hard: u64) -> bool {
        let number = self.highest.saturating_sub(hard) / self.span;
        hard < self.highest
            && number >> self.command_bits == process % (1 << self.process_bits)
            && !number.is_multiple_of(1 << self.command_bits)
    }
}

/// Returns the limit that this process has itself.
pub(super) fn own_limit() -> Option<u64> {
    rustix::process::getrlimit(Resource::Rttime).maximum
}

/// Returns the number of this process.
pub(super) fn own_process() -> u64 {
    rustix::process::getpid().as_raw_nonzero().get().unsigned_abs().into()
}

/// A command that has more processes may be making them as fast as they are killed.
const FEW: usize = 64;

/// How often all are looked for again at once where there were more.
const PASSES: usize = 16;

/// How often it is looked again for what starts another and ends, how often without giving the
/// processor away, and how much is read of a list of children.
const ROUNDS: usize = 4_000;
const SPINS: usize = 100;
const LIST: usize = 4 << 10;

/// Kills every process whose limit, the one that [`Mark`] uses, `is_meant`. Returns how many were
/// found in the last of several passes: none, if none is left.
pub(super) fn kill_all(is_meant: impl Fn(u64) -> bool) -> usize {
    let urgent = Urgent::now();
    let mut found = 0;
    for _ in 0..PASSES {
        let start = Instant::now();
        found = processes().filter(|&pid| killed(pid, &is_meant, &urgent)).count();
        if found <= FEW {
            break;
        }
        // What was killed needs the processor to end; until then it would be found again.
        std::thread::sleep(start.elapsed());
    }
    found
}

/// Kills `pid` at once if its limit `is_meant`, and returns whether it ran until then.
fn killed(pid: Pid, is_meant: impl Fn(u64) -> bool, urgent: &Urgent) -> bool {
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
    if !hard_limit(pid).is_some_and(is_meant) || has_ended(&handle) {
        return false;
    }
    let is_killed = rustix::process::pidfd_send_signal(&handle, Signal::KILL).is_ok();
    if is_killed {
        urgent.end(pid);
    }
    is_killed
}

/// Returns the numbers of all processes.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw)
}

/// Returns the number of the process group of `pid`, if it has one that can be seen here.
#[expect(unsafe_code, reason = "the library does not foresee that a process has none")]
fn group(pid: Pid) -> Option<Pid> {
    // SAFETY: it only takes a number and returns one.
    Pid::from_raw(unsafe { libc::getpgid(pid.as_raw_nonzero().get()) }.max(0))
}

/// The shell of a command and all that came of it.
pub(super) struct Descendants {
    shell: Pid,
    mark: Mark,
    /// Whether the shell is reaped, so that its number may be anybody's.
    reaped: bool,
    /// Whether the kernel ended everything else before the shell's end could be seen.
    contained: bool,
    /// Whether another has these, too, and waits for the shell.
    is_apart: bool,
}

/// Children of this process that belong to no command.
static KEPT: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Takes note that the child `pid` belongs to no command.
pub(super) fn keep(pid: Pid) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
}

/// Takes note that the child `pid` is reaped.
pub(super) fn let_go(pid: Pid) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).retain(|&kept| kept != pid);
}

/// Whether orphans come to this process.
static ADOPTS: AtomicBool = AtomicBool::new(false);

impl Descendants {
    /// Makes orphans come to this process. Once is enough.
    pub(super) fn adopt() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let adopts = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
            ADOPTS.store(adopts.is_ok(), Ordering::Relaxed);
        });
    }

    pub(super) fn new(shell: Pid, mark: Mark) -> Descendants {
        Descendants { shell, mark, reaped: false, contained: false, is_apart: false }
    }

    /// Returns them for a shell that is the first process of a namespace of its own.
    pub(super) fn contained(shell: Pid, mark: Mark) -> Descendants {
        Descendants { shell, mark, reaped: false, contained: true, is_apart: false }
    }

    /// Returns the same, to be looked at apart from this; `None` where the kernel bounds them.
    pub(super) fn apart(&self) -> Option<Descendants> {
        // The shell may be waited for any time.
        let (shell, mark) = (self.shell, self.mark);
        let apart = Descendants { shell, mark, reaped: true, contained: false, is_apart: true };
        (!self.contained).then_some(apart)
    }

    /// Takes note that the shell has ended and was waited for.
    pub(super) fn shell_reaped(&mut self) {
        self.reaped = true;
    }

    /// Asks everything that the command started to end.
    pub(super) fn ask_to_end(&self) {
        self.signal_group(Signal::TERM);
        for pid in self.living() {
            self.signal_one(pid, Signal::TERM);
        }
    }

    /// Kills everything that the command started. Whether it may be making more as fast as that.
    pub(super) fn kill(&self) -> bool {
        self.signal_group(Signal::KILL);
        let found = kill_all(|hard| self.mark.covers(hard));
        if found <= FEW {
            self.chase();
        }
        found > FEW
    }

    /// Kills what starts another and ends, over and over. A look at all processes comes too late for
    /// that; but the newest one is a child of this process as soon as the one before it has ended, and
    /// only few steps may lie between finding and killing it.
    fn chase(&self) {
        let own = Path::new("/proc/self/task").join(own_process().to_string()).join("children");
        let Ok(list) = File::open(own) else { return };
        let mut text = vec![0; LIST];
        for round in 0..ROUNDS {
            // Once it is reaped, its number may be another's.
            let is_shell = |pid: Pid| !self.reaped && pid == self.shell;
            let mut marked = children_in(&list, &mut text);
            marked.retain(|&pid| !is_shell(pid) && self.bears_mark(pid));
            if marked.is_empty() || marked.len() > FEW {
                break;
            }
            // They stay this process's children until they are reaped, so their numbers are theirs.
            for &pid in &marked {
                rustix::process::kill_process(pid, Signal::KILL).ok();
            }
            for pid in marked {
                self.reap(pid);
            }
            if round % SPINS == SPINS - 1 {
                std::thread::yield_now();
            }
        }
    }

    /// Sends `signal` to the group of the shell: it reaches all of it at once, however fast they fork,
    /// and what it takes does not grow with them.
    fn signal_group(&self, signal: Signal) {
        let is_own = || {
            let in_group = |&pid: &Pid| group(pid) == Some(self.shell);
            processes().filter(in_group).any(|pid| self.bears_mark(pid))
        };
        // Once the shell is reaped, the number of its group may be another's.
        if !self.reaped || is_own() {
            rustix::process::kill_process_group(self.shell, signal).ok();
        }
    }

    /// Sends `signal` to `pid` if it still is the process that bears the mark.
    fn signal_one(&self, pid: Pid, signal: Signal) {
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.bears_mark(pid) {
            rustix::process::pidfd_send_signal(&handle, signal).ok();
        }
    }

    /// Returns what the command started and still runs, after reaping what does not.
    ///
    /// Once the shell is reaped this costs little where nothing is left.
    pub(super) fn living(&self) -> Vec<Pid> {
        if self.reaped && self.contained {
            return Vec::new();
        }
        if self.reaped && ADOPTS.load(Ordering::Relaxed) && (has_no_child() || has_only_kept()) {
            return Vec::new();
        }
        let mut last = Vec::new();
        // What has ended since the last look may have started others after that was begun.
        for _ in 0..ROUNDS {
            let (mut living, mut ended) = (Vec::new(), Vec::new());
            for pid in self.marked() {
                match self.reap(pid) {
                    Some(true) => ended.push(pid),
                    // Not our child: it may be the zombie of a parent that still runs.
                    None if is_zombie(pid) => {}
                    Some(false) | None => living.push(pid),
                }
            }
            if !living.is_empty() || ended.is_empty() {
                return living;
            }
            last = ended;
        }
        last
    }

    /// Returns how many processes there are, ended ones for which their parents did not wait yet
    /// among them. Where they are many this costs less than [`Descendants::living`].
    pub(super) fn count(&self) -> usize {
        let _urgent = Urgent::now();
        self.marked().filter(|&pid| self.reap(pid) != Some(true)).count()
    }

    /// Returns every process that bears the mark.
    fn marked(&self) -> impl Iterator<Item = Pid> {
        processes().filter(|&pid| self.bears_mark(pid))
    }

    fn bears_mark(&self, pid: Pid) -> bool {
        hard_limit(pid).is_some_and(|hard| self.mark.covers(hard))
    }

    /// Reaps `pid` if it has ended, and returns whether it has; `None` where it is no child of this
    /// process. The shell is left to its own handle.
    fn reap(&self, pid: Pid) -> Option<bool> {
        if pid == self.shell && (self.is_apart || !self.reaped) {
            return Some(false);
        }
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        rustix::process::waitid(WaitId::Pid(pid), ended).ok().map(|status| status.is_some())
    }
}

/// Whether this process has no child at all, running or ended.
fn has_no_child() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, peek), Err(rustix::io::Errno::CHILD))
}

/// Whether all children of this process belong to no command; `false` where it cannot be known.
fn has_only_kept() -> bool {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    children_of_threads().is_some_and(|children| children.iter().all(|pid| kept.contains(pid)))
}

/// Returns what stands in the list of a thread's children, ended ones too, read into `text`.
fn children_in(list: &File, text: &mut [u8]) -> Vec<Pid> {
    let length = list.read_at(text, 0).unwrap_or(0);
    let words = str::from_utf8(&text[..length]).unwrap_or_default().split_whitespace();
    words.filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

/// Returns the children of this process, ended ones too; `None` where they cannot be known.
fn children_of_threads() -> Option<Vec<Pid>> {
    let mut all = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).ok()?;
        for word in children.split_whitespace() {
            all.push(Pid::from_raw(word.parse().ok()?)?);
        }
    }
    Some(all)
}

/// Returns the hard limit that [`Mark`] uses; `None` where it is infinite or cannot be read.
fn hard_limit(pid: Pid) -> Option<u64> {
    match limit_by_call(pid) {
        Ok(limit) => (limit != libc::RLIM_INFINITY).then_some(limit),
        // One that became another user, say; a file tells of everybody's, at thirty times the cost.
        Err(_) => limit_by_file(pid),
    }
}

#[expect(unsafe_code, reason = "the library only reads a limit where it sets one")]
fn limit_by_call(pid: Pid) -> io::Result<u64> {
    let mut limits = MaybeUninit::<libc::rlimit>::zeroed();
    let pid = pid.as_raw_nonzero().get();
    // SAFETY: nothing is set; the structure is plain data, for which zeros are valid, and outlives
    // the call that fills it.
    unsafe {
        match libc::prlimit(pid, libc::RLIMIT_RTTIME, std::ptr::null(), limits.as_mut_ptr()) {
            0 => Ok(limits.assume_init().rlim_max),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn limit_by_file(pid: Pid) -> Option<u64> {
    let limits = String::from_utf8(read(pid, "limits").ok()?).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Whether the process of `handle` has ended; a handle is readable then (`pidfd_open(2)`).
fn has_ended(handle: &OwnedFd) -> bool {
    let mut waited = [PollFd::new(handle, PollFlags::IN)];
    rustix::event::poll(&mut waited, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn is_zombie(pid: Pid) -> bool {
    // The state follows the name, which may hold any bytes, in parentheses.
    let state = |stat: Vec<u8>| {
        let rest = stat.rsplit(|&byte| byte == b')').next();
        rest.map(|rest| rest.trim_ascii_start().starts_with(b"Z"))
    };
    read(pid, "stat").ok().and_then(state).unwrap_or(true)
}

fn read(pid: Pid, name: &str) -> io::Result<Vec<u8>> {
    std::fs::read(Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn marks_of_nested_processes_lie_within_and_never_meet() {
        let top = Level::of(None);
        let [first, second, other] =
            [(7, 0), (7, 1), (8, 0)].map(|(process, number)| top.mark(process, number));
        let inner_level = Level::of(Some(first.limit));
        let inner = inner_level.mark(9, 3);
        let innermost = Level::of(Some(inner.limit)).mark(5, 5);
        for nested in [first, inner, innermost] {
            assert!(first.covers(nested.limit), "{nested:?}");
            assert!(!second.covers(nested.limit) && !other.covers(nested.limit), "{nested:?}");
            assert!(top.is_marked_by(7, nested.limit) && !top.is_marked_by(8, nested.limit));
        }
        assert!(!inner.covers(first.limit));
        assert!(inner.covers(innermost.limit));
        assert!(inner_level.is_marked_by(9, innermost.limit));
        assert!(!inner_level.is_marked_by(9, first.limit));
    }

    #[test]
    fn no_mark_is_the_limit_of_its_own_process() {
        for own in [None, Some((1 << 62) - (1 << 30) * 5), Some((1 << 62) - (1 << 30) - 64)] {
            let level = Level::of(own);
            for (process, number) in [(0, 0), (1 << 22, 1023), (u64::from(u32::MAX), 9)] {
                assert!(level.mark(process, number).limit < level.highest);
            }
        }
    }
}
