//! What the system knows of processes and files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// Returns user and system time of all children that were waited for, in milliseconds.
pub(crate) fn children_cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    milliseconds(microseconds.unsigned_abs(), 1000)
}

#[expect(clippy::cast_precision_loss, reason = "times of minutes at most")]
pub(crate) fn milliseconds(time: u64, per_millisecond: u64) -> f64 {
    time as f64 / per_millisecond as f64
}

/// Returns the processes below `pid`, itself first, each with its parent.
fn process_tree(pid: u32) -> Vec<(u32, u32)> {
    let mut tree = vec![(pid, 0)];
    let mut next = 0;
    while let Some(&(parent, _)) = tree.get(next) {
        next += 1;
        for task in list(&format!("/proc/{parent}/task")) {
            let children = fs::read_to_string(format!("/proc/{parent}/task/{task}/children"));
            let children = children.unwrap_or_default();
            let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
            tree.extend(children.map(|child| (child, parent)));
        }
    }
    tree
}

/// Whether both processes have one memory: between the start of a child and its program they do
/// (`kcmp(2)`).
#[expect(unsafe_code, reason = "no library has this system call")]
fn share_memory(one: u32, other: u32) -> bool {
    const MEMORY: libc::c_int = 1;
    // SAFETY: it takes numbers.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, MEMORY, 0, 0) == 0 }
}

/// Returns the CPU time that the living tasks of the process tree have used, in milliseconds.
pub(crate) fn tree_cpu_ms(pid: u32) -> f64 {
    let mut nanoseconds = 0;
    for (pid, _) in process_tree(pid) {
        for task in list(&format!("/proc/{pid}/task")) {
            let text = fs::read_to_string(format!("/proc/{pid}/task/{task}/schedstat"));
            let text = text.unwrap_or_default();
            nanoseconds += text.split(' ').next().map_or(0, |first| first.parse().unwrap_or(0));
        }
    }
    milliseconds(nanoseconds, 1_000_000)
}

/// Returns the proportional set size of the process tree, in megabytes.
pub(crate) fn tree_mb(pid: u32) -> f64 {
    let mut kilobytes = 0;
    for (pid, parent) in process_tree(pid) {
        // What was counted once is not there twice.
        if share_memory(pid, parent) {
            continue;
        }
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let pss = pss.and_then(|pss| pss.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes += pss.unwrap_or(0);
    }
    milliseconds(kilobytes, 1024)
}

fn list(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Counts files below `folder` that have exactly this size.
pub(crate) fn files_of(folder: &Path, bytes: u64) -> f64 {
    let mut count: u32 = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) if metadata.len() == bytes => count += 1,
                Ok(_) | Err(_) => {}
            }
        }
    }
    f64::from(count)
}

/// Fills `folder` with a committed repository of 24,000 files in 600 folders.
pub(crate) fn make_repository(folder: &Path) {
    for directory in 0..600 {
        let directory = folder.join(format!("part{}/module{directory}", directory % 20));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..40 {
            let mut text = String::new();
            for line in 0..=(file * 2) {
                writeln!(text, "pub fn item_{file}_{line}() -> usize {{ {line} }}").unwrap();
            }
            fs::write(directory.join(format!("file{file}.rs")), text).unwrap();
        }
    }
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "Begin"],
    ] {
        let mut git = Command::new("git");
        let status = git.arg("-C").arg(folder).args(arguments).stdout(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            println!("git could not make the repository; its folder is measured without");
            return;
        }
    }
}

/// Says what the figures were measured on.
pub(crate) fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": ?");
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    let kernel = read("/proc/sys/kernel/osrelease");
    let model = model.trim_start_matches([' ', '\t', ':']);
    format!("{model}, {cores} cores, Linux {}, load {load}", kernel.trim())
}
