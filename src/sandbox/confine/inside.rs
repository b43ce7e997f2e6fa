//! The inside of the helper: the layers in their order, then the command.
//!
//! With namespaces the helper is the first process of its own: it stays, reaps, watches, and
//! when it ends the kernel ends everything inside. Elsewhere it becomes the shell itself.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::git_trap::Trap;
use super::policy::{Order, Policy, receive};
use super::system::{self, Fork};
use super::{capabilities, landlock, mounts, seccomp};
use crate::approval::Rung;

/// The exit code of a helper that failed; the reason is on the control socket.
pub(in crate::sandbox) const FAILED: u8 = 125;

/// What the helper says, one line each. What it does not say did not happen.
pub(in crate::sandbox) const READY: &str = "ready";
pub(in crate::sandbox) const CONFINED: &str = "confined";
pub(in crate::sandbox) const REASON: &str = "failed ";
pub(in crate::sandbox) const SIGNAL: &str = "signal ";
pub(in crate::sandbox) const LEFT: &str = "left ";

/// How long what the shell left behind may still end by itself.
const DRAIN: Duration = Duration::from_millis(250);

/// The most bytes that a command may make one file have.
const MOST_FILE_BYTES: u64 = 4 << 30;

/// The most files that a process may have open.
const MOST_FILES: u64 = 65_536;

/// The most processes and threads inside: so many, and so many more for each processor.
const MOST_PROCESSES: usize = 1024;
const MOST_FOR_EACH: usize = 256;

/// Confines this process, waits for a command on descriptor `control` and runs it.
pub(in crate::sandbox) fn run(control: i32) {
    let Ok(control) = system::inherited(control) else { return };
    let control = File::from(control);
    if let Err(reason) = obey(&control) {
        say(&control, &format!("{REASON}{reason}"));
    }
}

fn say(mut control: &File, line: &str) {
    // Whoever does not listen any more has no use for it.
    control.write_all(format!("{}\n", line.replace('\n', " ")).as_bytes()).ok();
}

/// Does all of it. Returns only the reason why it could not be done.
fn obey(control: &File) -> Result<(), String> {
    let policy = receive(control).map_err(|error| format!("no policy: {error}"))?;
    let policy: Policy =
        serde_json::from_slice(&policy).map_err(|error| format!("no policy: {error}"))?;
    if policy.rung == Rung::Namespaces {
        namespaces(&policy)?;
    }
    say(control, READY);
    // The socket's end means that nobody wants a command.
    let Ok(order) = receive(control) else { system::leave(0) };
    let order = Order::decode(&order).ok_or("the order cannot be read")?;
    if policy.rung != Rung::Namespaces {
        return become_command(control, &policy, &order);
    }
    if order.git {
        for root in &policy.roots {
            mounts::open_git(Path::new(root))?;
        }
    }
    let trap = if order.git { Trap::set(&policy)? } else { None };
    // A limit that kernels before 6.14 do not have for each namespace.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let most = MOST_PROCESSES + MOST_FOR_EACH * processors;
    std::fs::write("/proc/sys/kernel/pid_max", most.to_string()).ok();
    match system::fork().map_err(|error| format!("fork: {error}"))? {
        Fork::Child => become_command(control, &policy, &order),
        Fork::Parent(shell) => {
            let output = trap.is_some().then(system::second_output);
            let output = output.and_then(Result::ok).map(File::from);
            system::close_standard_streams();
            watch(control, shell, trap.zip(output))
        }
    }
}

/// Enters namespaces of its own and makes its view of the file system.
fn namespaces(policy: &Policy) -> Result<(), String> {
    if std::process::id() != 1 {
        return Err("this process has no process namespace of its own".to_owned());
    }
    let step = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    if policy.has_own_users() {
        std::fs::write("/proc/self/setgroups", "deny").map_err(step("setgroups"))?;
        let map = |id: u32| format!("{id} {id} 1");
        std::fs::write("/proc/self/uid_map", map(policy.user)).map_err(step("uid_map"))?;
        std::fs::write("/proc/self/gid_map", map(policy.group)).map_err(step("gid_map"))?;
    }
    let mut flags = system::CLONE_NEWNS | system::CLONE_NEWIPC;
    if !policy.network {
        flags |= system::CLONE_NEWNET;
    }
    system::unshare(flags).map_err(step("unshare"))?;
    mounts::build(policy)?;
    // Nothing inside may look into this process.
    system::prctl(libc::PR_SET_DUMPABLE, 0).map_err(step("dumpable"))
}

/// Puts on the inner layers and becomes the command.
fn become_command(control: &File, policy: &Policy, order: &Order) -> Result<(), String> {
    let step = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    let directory = order.directory.display();
    system::enter(&order.directory).map_err(|error| format!("`{directory}`: {error}"))?;
    system::limit(libc::RLIMIT_CORE, 0).map_err(step("limit of core files"))?;
    system::limit(libc::RLIMIT_FSIZE, MOST_FILE_BYTES).map_err(step("limit of file sizes"))?;
    system::limit(libc::RLIMIT_NOFILE, MOST_FILES).map_err(step("limit of open files"))?;
    system::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(step("no_new_privs"))?;
    landlock::restrict(policy)?;
    capabilities::drop(policy).map_err(step("capabilities"))?;
    system::close_at_exec(3).map_err(step("close_range"))?;
    if let Some(kept) = order.kept {
        system::keep_at_exec(kept).map_err(step("the kept descriptor"))?;
    }
    seccomp::install(policy.network).map_err(step("seccomp"))?;
    say(control, CONFINED);
    let arguments = ["bash", "-c", &order.text];
    let error = system::execute(&order.program, &arguments, &order.environment);
    Err(format!("`{}`: {error}", order.program.display()))
}

/// Reaps until the shell ends, then gives what it left a little time, and ends this process and
/// with it everything inside.
fn watch(control: &File, shell: libc::pid_t, trap: Option<(Trap, File)>) -> ! {
    let (trap, output) = trap.unzip();
    let trap = trap.map(Arc::new);
    if let Some(trap) = trap.clone() {
        std::thread::spawn(move || {
            trap.wait();
            system::end_all_others();
        });
    }
    let status = loop {
        match system::wait_any(true) {
            Ok(Some((pid, status))) if pid == shell => break status,
            Ok(Some(_)) | Err(_) => {}
            Ok(None) => system::leave(FAILED.into()),
        }
    };
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    while !matches!(system::wait_any(false), Ok(None)) {
        if start.elapsed() >= DRAIN {
            say(control, &format!("{LEFT}{}", others()));
            break;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    if let Some(made) = trap.and_then(|trap| cleared(&trap)) {
        let text =
            format!("[ended: it made `{made}`, from which git takes settings; that was removed]\n");
        output.and_then(|mut output| output.write_all(text.as_bytes()).ok());
        say(control, &format!("{SIGNAL}{}", libc::SIGKILL));
        system::leave(128 + libc::SIGKILL);
    }
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        say(control, &format!("{SIGNAL}{signal}"));
        system::leave(128 + signal);
    }
    system::leave(libc::WEXITSTATUS(status))
}

/// Ends what still runs and takes away what may not be in `.git`; says what that was.
fn cleared(trap: &Trap) -> Option<String> {
    system::end_all_others();
    while matches!(system::wait_any(true), Ok(Some(_))) {}
    trap.clear()
}

/// How many processes there are inside besides this one.
fn others() -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let is_number = |name: OsString| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    entries.flatten().filter(|entry| is_number(entry.file_name())).count().saturating_sub(1)
}
