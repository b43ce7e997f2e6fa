//! A thread that runs before what commands started.

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
        Urgent { is_granted: is_usual && set(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1) }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.is_granted {
            set(libc::SCHED_OTHER, 0);
        }
    }
}

/// Returns how the calling thread is scheduled.
#[expect(unsafe_code, reason = "no library here wraps it")]
fn policy() -> libc::c_int {
    // SAFETY: it takes a number, which means the calling thread, and returns one.
    unsafe { libc::sched_getscheduler(0) }
}

/// Sets how the calling thread is scheduled; whether that was allowed.
#[expect(unsafe_code, reason = "no library here wraps it")]
fn set(policy: libc::c_int, priority: libc::c_int) -> bool {
    let mut parameters = std::mem::MaybeUninit::<libc::sched_param>::zeroed();
    // SAFETY: the structure is plain data, for which zeros are valid, and outlives the call.
    unsafe {
        (*parameters.as_mut_ptr()).sched_priority = priority;
        libc::sched_setscheduler(0, policy, parameters.as_ptr()) == 0
    }
}
