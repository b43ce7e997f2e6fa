//! Whatever a command started, wherever it went: found, ended, reaped.
//!
//! A process group is left with `setsid`, a parent with a double fork, an environment with
//! `env -i`. So each command gets a mark that every descendant inherits and that has no other
//! effect: a limit on the time of real-time processes, some hundred thousand years, each command
//! its own. Orphans come to this process, which is their subreaper; a process without the mark
//! is never touched.

use std::io;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use rustix::process::PidfdFlags;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;
use rustix::process::{Pid, Resource, Rlimit, Signal};

/// The limit that marks what one command started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    limit: u64,
    /// How far below `limit` the marks lie that a nested Snick gives.
    span: u64,
}

impl Mark {
    /// Returns a mark that no earlier command of this process had.
    pub(super) fn next() -> Mark {
        static COMMANDS: AtomicU64 = AtomicU64::new(0);
        let number = COMMANDS.fetch_add(1, Ordering::Relaxed) + 1;
        Mark::below(rustix::process::getrlimit(Resource::Rttime).maximum, number)
    }

    /// Returns the mark number `number` of a process that has itself the limit `own`.
    fn below(own: Option<u64>, number: u64) -> Mark {
        let highest = own.unwrap_or(1 << 62);
        let span: u64 = match highest.trailing_zeros() {
            60.. => 1 << 40,
            40.. => 1 << 20,
            _ => 1,
        };
        Mark { limit: highest.saturating_sub(span.saturating_mul(number)), span }
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

/// The shell of a command and all that came of it.
pub(super) struct Descendants {
    shell: Pid,
    mark: Mark,
    /// Whether the shell is reaped, so that its number may be anybody's.
    reaped: bool,
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
        Descendants { shell, mark, reaped: false }
    }

    /// Takes note that the shell has ended and was waited for.
    pub(super) fn shell_reaped(&mut self) {
        self.reaped = true;
    }

    /// Sends `signal` to everything that the command started.
    pub(super) fn signal(&self, signal: Signal) {
        let living = self.living();
        if !self.reaped || self.leads(&living) {
            // Reaches processes that fork faster than they can be listed.
            rustix::process::kill_process_group(self.shell, signal).ok();
        }
        for pid in living {
            self.signal_one(pid, signal);
        }
    }

    /// Whether one of `living` is in the shell's group, so that the group's number is still its own.
    fn leads(&self, living: &[Pid]) -> bool {
        living.iter().any(|&pid| rustix::process::getpgid(Some(pid)) == Ok(self.shell))
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
    /// Once the shell is reaped this costs one system call where nothing is left.
    pub(super) fn living(&self) -> Vec<Pid> {
        if self.reaped && ADOPTS.load(Ordering::Relaxed) && has_no_child() {
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let marked = numbers.filter_map(Pid::from_raw).filter(|&pid| self.bears_mark(pid));
        marked.filter(|&pid| !self.is_reaped(pid)).collect()
    }

    fn bears_mark(&self, pid: Pid) -> bool {
        hard_limit(pid).is_some_and(|hard| self.mark.covers(hard))
    }

    /// Reaps `pid` if it has ended. The shell is left to its own handle.
    fn is_reaped(&self, pid: Pid) -> bool {
        if pid == self.shell && !self.reaped {
            return false;
        }
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        match rustix::process::waitid(WaitId::Pid(pid), ended) {
            Ok(status) => status.is_some(),
            // Not our child: it may be the zombie of a parent that still runs.
            Err(_) => is_zombie(pid),
        }
    }
}

/// Whether this process has no child at all, running or ended.
fn has_no_child() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, peek), Err(rustix::io::Errno::CHILD))
}

/// Returns the hard limit that [`Mark`] uses; `None` where it is infinite or cannot be read.
fn hard_limit(pid: Pid) -> Option<u64> {
    let limits = read(pid, "limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn is_zombie(pid: Pid) -> bool {
    // The state follows the name, which may hold anything, in parentheses.
    let state =
        |stat: String| stat.rsplit(')').next().map(|rest| rest.trim_start().starts_with('Z'));
    read(pid, "stat").ok().and_then(state).unwrap_or(true)
}

fn read(pid: Pid, name: &str) -> io::Result<String> {
    std::fs::read_to_string(Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use super::Mark;

    #[test]
    fn marks_of_nested_processes_lie_within_and_never_meet() {
        let [first, second] = [1, 2].map(|number| Mark::below(None, number));
        let inner = Mark::below(Some(first.limit), 9);
        let innermost = Mark::below(Some(inner.limit), 9);
        for nested in [first, inner, innermost] {
            assert!(first.covers(nested.limit), "{nested:?}");
            assert!(!second.covers(nested.limit), "{nested:?}");
        }
        assert!(!inner.covers(first.limit));
        assert!(inner.covers(innermost.limit));
    }
}
