//! What runs before what commands started: the thread that ends them, and after it what it ended.

use rustix::process::Pid;

/// How urgent it is that what is killed gets to its end, and how urgent it is to kill.
const END: libc::c_int = 1;
const KILL: libc::c_int = 2;

/// While it lives, its thread runs before all usual ones, where this process may have that.
///
/// Among thousands that all want to run, a thread of the usual kind waits for seconds between any
/// two steps; a niceness does not help where each session gets an equal share (`sched(7)`,
/// autogroups). What may not have it is mostly no superuser, whose processes the kernel itself limits.
pub(super) struct Urgent {
    is_granted: bool,
}

impl Urgent {
    /// Takes effect for the calling thread, which must be the one that drops it.
    pub(super) fn now() -> Urgent {
        let is_usual = policy() == libc::SCHED_OTHER;
        let urgent = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        Urgent { is_granted: is_usual && set(THIS, urgent, KILL) }
    }

    /// Lets `pid`, which is killed, run before all usual ones too: it needs the processor once more to
    /// end, and those that still make others would take it from it.
    pub(super) fn end(&self, pid: Pid) {
        if self.is_granted {
            set(pid.as_raw_nonzero().get(), libc::SCHED_RR, END);
        }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.is_granted {
            set(THIS, libc::SCHED_OTHER, 0);
        }
    }
}

/// The number that means the calling thread.
const THIS: libc::pid_t = 0;

/// Returns how the calling thread is scheduled.
#[expect(unsafe_code, reason = "no library here wraps it")]
fn policy() -> libc::c_int {
    // SAFETY: it takes a number and returns one.
    unsafe { libc::sched_getscheduler(THIS) }
}

/// Sets how a thread is scheduled; whether that was allowed.
#[expect(unsafe_code, reason = "no library here wraps it")]
fn set(thread: libc::pid_t, policy: libc::c_int, priority: libc::c_int) -> bool {
    let mut parameters = std::mem::MaybeUninit::<libc::sched_param>::zeroed();
    // SAFETY: the structure is plain data, for which zeros are valid, and outlives the call.
    unsafe {
        (*parameters.as_mut_ptr()).sched_priority = priority;
        libc::sched_setscheduler(thread, policy, parameters.as_ptr()) == 0
    }
}
