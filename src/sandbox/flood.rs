//! A look at the number of a command's processes that comes in time even where they leave none.
//!
//! Where thousands of processes want to run, one that wakes up to count them waits for seconds, and
//! meanwhile they are ten times as many. A superuser's processes, which no limit of the kernel
//! holds, are the ones that come to that; and a superuser may have a thread run before them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Instant;

use super::descendants::Descendants;
use super::limits;
use super::urgent::Urgent;

/// How many times as long as a look took nothing is done after it. Several commands may be watched at
/// once, and what they killed needs the processor to end.
const REST: u32 = 10;

/// Ends a command that has too many processes, or many when its time is up, as long as it lives.
pub(super) struct FloodWatch {
    shared: Arc<Shared>,
    thread: Thread,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// How many processes there were when they were too many; 0 before.
    found: AtomicUsize,
}

impl FloodWatch {
    /// Starts it for `descendants`; `tasks` is how many processes and threads the machine had before,
    /// and at `deadline` the time of the command is up.
    ///
    /// `None` where no thread can be started.
    pub(super) fn start(
        descendants: Descendants,
        tasks: usize,
        deadline: Option<Instant>,
    ) -> Option<FloodWatch> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let look = move || theirs.look(&descendants, tasks, deadline);
        let handle = std::thread::Builder::new().name("flood watch".to_owned()).spawn(look).ok()?;
        Some(FloodWatch { shared, thread: handle.thread().clone() })
    }

    /// Returns how many processes were found when they were too many, and ended.
    pub(super) fn found(&self) -> Option<usize> {
        Some(self.shared.found.load(Ordering::Acquire)).filter(|&found| found > 0)
    }
}

impl Drop for FloodWatch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Shared {
    /// Looks until it is over, or once there were too many.
    fn look(&self, descendants: &Descendants, tasks: usize, deadline: Option<Instant>) {
        let _urgent = Urgent::now();
        while !self.is_over.load(Ordering::Acquire) {
            let start = Instant::now();
            if let Some(count) = limits::too_many(descendants, tasks) {
                self.found.store(count, Ordering::Release);
                descendants.kill();
                return;
            }
            // The thread that knows of it may not come to run.
            if deadline.is_some_and(|deadline| start >= deadline) && limits::are_some(tasks) {
                descendants.kill();
            }
            std::thread::park_timeout(limits::INTERVAL.max(start.elapsed() * REST));
        }
    }
}
