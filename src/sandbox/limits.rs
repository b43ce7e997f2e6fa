//! What a command may use of the machine, looked at while it runs: memory, processes, disk.
//!
//! Limits of the kernel hold for one process each, or not for root at all; so all that a command
//! started is counted together, and only when the machine itself has become short of something.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Pid;

use super::descendants::Descendants;

/// How often it is looked at.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// How many processes and threads a command may have.
const MOST_PROCESSES: usize = 4096;

/// How many more processes and threads the machine may have than before, when a command that is to
/// end is given time to do so by itself: many may be more by the end of that time.
const FEW_PROCESSES: usize = 512;

/// How little may be left of a disk, and how much a command may take before that matters.
const LEAST_LEFT: u64 = 256 << 20;
const TAKEN: u64 = 128 << 20;

/// Of what a command took too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// So many bytes together, of the most that there may be.
    Memory { used: u64, most: u64 },
    /// So many processes and threads.
    Processes(usize),
    /// So many bytes are left where it writes.
    Disk { left: u64 },
}

/// The state of the machine when a command started, and what it may use.
pub(super) struct Limits {
    most_memory: u64,
    total_memory: u64,
    tasks: usize,
    places: Vec<(PathBuf, u64)>,
}

impl Limits {
    /// Looks at the machine. `places` are folders where the command writes.
    pub(super) fn now(most_memory: Option<u64>, places: &[&Path]) -> Limits {
        static USUAL: OnceLock<(u64, u64)> = OnceLock::new();
        let &(total_memory, usual) = USUAL.get_or_init(usual_memory);
        let places = places.iter().filter_map(|place| Some((place.to_path_buf(), free(place)?)));
        Limits {
            most_memory: most_memory.unwrap_or(usual),
            total_memory,
            tasks: tasks(),
            places: places.collect(),
        }
    }

    /// Whether the machine has far more processes than when the command started.
    pub(super) fn has_many_processes(&self) -> bool {
        are_some(self.tasks)
    }

    /// Returns how many processes and threads the machine had when the command started.
    pub(super) fn tasks(&self) -> usize {
        self.tasks
    }

    /// Returns what there is too much of.
    pub(super) fn excess(&self, descendants: &Descendants) -> Option<Excess> {
        for (place, before) in &self.places {
            let left = free(place).unwrap_or(u64::MAX);
            if is_nearly_full(*before, left) {
                return Some(Excess::Disk { left });
            }
        }
        let in_use = self.total_memory.saturating_sub(available_memory());
        let many = are_many(self.tasks);
        if in_use <= self.most_memory && !many {
            return None;
        }
        if let Some(count) = too_many(descendants, self.tasks) {
            return Some(Excess::Processes(count));
        }
        let living = descendants.living();
        if many {
            let count = living.iter().map(|&pid| threads(pid)).sum();
            if count > MOST_PROCESSES {
                return Some(Excess::Processes(count));
            }
        }
        let sum = |of: fn(Pid) -> Option<u64>| living.iter().filter_map(|&pid| of(pid)).sum();
        let private: u64 = sum(private_memory);
        if private <= self.most_memory {
            return None;
        }
        // Forked processes share what neither has changed; this counts it once, and takes longer.
        let used: u64 = sum(proportional_memory);
        (used > self.most_memory).then_some(Excess::Memory { used, most: self.most_memory })
    }
}

/// Whether a command has nearly filled a disk that had `before` bytes left and now has `left`.
fn is_nearly_full(before: u64, left: u64) -> bool {
    left < LEAST_LEFT && before.saturating_sub(left) > TAKEN
}

/// Returns the bytes that are left on the file system at `place`.
fn free(place: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(place).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

/// Returns how much memory the machine has, and three quarters of what may be used here.
fn usual_memory() -> (u64, u64) {
    let total = of_machine("MemTotal:").unwrap_or(u64::MAX);
    let here = total.min(group_limit().unwrap_or(u64::MAX));
    (total, here / 4 * 3)
}

fn available_memory() -> u64 {
    of_machine("MemAvailable:").unwrap_or(u64::MAX)
}

/// Returns the bytes of a line of `/proc/meminfo`.
fn of_machine(name: &str) -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, name)
}

/// Returns the memory limit of the control group that this process is in.
fn group_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, kind, path) = (fields.next()?, fields.next()?, fields.next()?);
        let file = match kind {
            "" => format!("/sys/fs/cgroup{path}/memory.max"),
            "memory" => format!("/sys/fs/cgroup/memory{path}/memory.limit_in_bytes"),
            _ => return None,
        };
        std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()
    });
    limits.min()
}

/// Returns how many processes and threads the machine has.
fn tasks() -> usize {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// Whether the machine has so many more than the `before` that it had that those of a command whose time
/// is up are killed at once.
pub(super) fn are_some(before: usize) -> bool {
    tasks() > before + FEW_PROCESSES
}

/// Whether the machine has so many more than the `before` that it had that they may be too many.
fn are_many(before: usize) -> bool {
    tasks() > before + MOST_PROCESSES / 2
}

/// Returns how many processes `descendants` are, if they are too many; the machine had `before`
/// processes and threads before.
pub(super) fn too_many(descendants: &Descendants, before: usize) -> Option<usize> {
    if !are_many(before) {
        return None;
    }
    Some(descendants.count()).filter(|&count| count > MOST_PROCESSES)
}

fn threads(pid: Pid) -> usize {
    let status = read(pid, "status").unwrap_or_default();
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    threads.and_then(|count| count.trim().parse().ok()).unwrap_or(1)
}

/// Returns the memory of a process that is no file's.
fn private_memory(pid: Pid) -> Option<u64> {
    kilobytes(&read(pid, "status")?, "RssAnon:")
}

/// Returns the memory of a process, what it shares with others in equal parts.
fn proportional_memory(pid: Pid) -> Option<u64> {
    kilobytes(&read(pid, "smaps_rollup")?, "Pss_Anon:")
}

/// Returns the bytes of the line of `text` that begins with `name`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn read(pid: Pid, name: &str) -> Option<String> {
    let pid = pid.as_raw_nonzero();
    // A process may give itself a name of any bytes, which stands there, too.
    let bytes = std::fs::read(format!("/proc/{pid}/{name}")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_nearly_full_by_what_the_command_took() {
        const GIB: u64 = 1 << 30;
        let rows = [
            (10 * GIB, 9 * GIB, false),
            (10 * GIB, LEAST_LEFT - 1, true),
            (LEAST_LEFT - 1, LEAST_LEFT - 2, false),
            (LEAST_LEFT - 1, LEAST_LEFT - 2 - TAKEN, true),
            (LEAST_LEFT - 1, GIB, false),
        ];
        for (before, left, expected) in rows {
            assert_eq!(is_nearly_full(before, left), expected, "{before} {left}");
        }
    }
}
