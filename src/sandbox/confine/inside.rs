//! The inside of a keeper and of its helpers: the layers in their order, then the command.
//!
//! With namespaces a helper is the first process of its own: it stays, reaps, watches, and
//! when it ends the kernel ends everything inside. Elsewhere it becomes the shell itself.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal};

use super::super::child;
use super::found::Found;
use super::git_trap::Trap;
use super::keeper::{self, Asked, Request};
use super::mounts::View;
use super::policy::{Order, Policy, receive, send};
use super::seccomp::{self, Facts, Others};
use super::system::{self, Fork};
use super::tripwire::Tripwire;
use super::{capabilities, landlock, mounts};
use crate::approval::Rung;

/// The exit code of a helper that failed; the reason is on the control socket.
pub(in crate::sandbox) const FAILED: u8 = 125;

/// What the helper says, one line each. What it does not say did not happen.
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

/// How many processes and threads a command may add to those of the person, without namespaces.
const MOST_ADDED: usize = 4096;

/// Returns how many processes and threads the machine has.
fn all_tasks() -> usize {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(MOST_ADDED)
}

/// The layers that are the same for every command.
struct Layers {
    policy: Policy,
    filter: seccomp::Filter,
    /// Whether each namespace has its own limit of processes. Elsewhere it is the machine's.
    limits_namespace: bool,
}

/// Is a keeper that gets its policy and its requests on descriptor `control`.
pub(in crate::sandbox) fn run(control: i32) {
    let Ok(control) = system::inherited(control) else { return };
    let control = File::from(control);
    // It outlives the process that asks by what is still to be looked at, for whoever takes that
    // one's place. When nobody can ask any more it ends.
    rustix::process::set_parent_process_death_signal(None).ok();
    match layers(&control) {
        Ok((layers, view)) => keep(control, &layers, view.as_ref()),
        Err(reason) => say(&control, &format!("{}{reason}", keeper::FAILED)),
    }
}

/// Is a helper for one command, in namespaces that another program made. It gets its policy, too,
/// on descriptor `control`, and keeps `kept` for the shell.
pub(in crate::sandbox) fn run_one(control: i32, kept: i32) {
    let Ok(control) = system::inherited(control) else { return };
    let control = File::from(control);
    let kept = system::inherited(kept).ok().map(|file| (file, kept));
    let done = layers(&control).and_then(|(layers, _)| obey(&control, &layers, kept.as_ref(), &[]));
    if let Err(reason) = done {
        say(&control, &format!("{REASON}{reason}"));
    }
}

fn say(mut control: &File, line: &str) {
    // Whoever does not listen any more has no use for it.
    control.write_all(format!("{}\n", line.replace('\n', " ")).as_bytes()).ok();
}

/// Makes everything that commands share.
fn layers(control: &File) -> Result<(Layers, Option<View>), String> {
    let policy = receive(control).map_err(|error| format!("no policy: {error}"))?;
    let policy: Policy =
        serde_json::from_slice(&policy).map_err(|error| format!("no policy: {error}"))?;
    let facts = match policy.rung {
        Rung::Landlock if policy.read_only => Facts::Stay,
        _ => Facts::Change,
    };
    let others = match policy.rung {
        Rung::Namespaces | Rung::Bubblewrap => Others::Own,
        Rung::Landlock | Rung::None => Others::Everybody,
    };
    let filter = seccomp::Filter::compile(policy.network, facts, others);
    let filter = filter.map_err(|error| format!("seccomp: {error}"))?;
    let view = match policy.rung {
        Rung::Namespaces => Some(namespaces(&policy)?),
        Rung::Bubblewrap | Rung::Landlock | Rung::None => None,
    };
    let limits_namespace = is_kernel(rustix::system::uname().release().to_bytes(), 6, 14);
    Ok((Layers { policy, filter, limits_namespace }, view))
}

/// Whether `release` names a kernel of this version or a later one.
fn is_kernel(release: &[u8], major: u32, minor: u32) -> bool {
    let release = String::from_utf8_lossy(release);
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (found, second) = (numbers.next(), numbers.next());
    matches!((found, second), (Some(Ok(found)), Some(Ok(second))) if (found, second) >= (major, minor))
}

/// Enters namespaces of its own and makes its view of the file system.
fn namespaces(policy: &Policy) -> Result<View, String> {
    let step = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    if policy.has_own_users() {
        std::fs::write("/proc/self/setgroups", "deny").map_err(step("setgroups"))?;
        let map = |id: u32| format!("{id} {id} 1");
        std::fs::write("/proc/self/uid_map", map(policy.user)).map_err(step("uid_map"))?;
        std::fs::write("/proc/self/gid_map", map(policy.group)).map_err(step("gid_map"))?;
    }
    // Nothing listens in the network of commands, so they can share it.
    let network = if policy.network { 0 } else { libc::CLONE_NEWNET };
    system::unshare(libc::CLONE_NEWNS | network).map_err(step("unshare"))?;
    let view = View::build(policy)?;
    // Nothing inside may look into this process.
    system::prctl(libc::PR_SET_DUMPABLE, 0).map_err(step("dumpable"))?;
    Ok(view)
}

/// Forks a helper for each request, until nobody can ask any more.
fn keep(control: File, layers: &Layers, view: Option<&View>) {
    let own = match layers.policy.rung {
        Rung::Namespaces => libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC,
        Rung::Bubblewrap | Rung::Landlock | Rung::None => 0,
    };
    // To take a view apart takes time, which the end of a command must not wait for.
    let mut last_view = None;
    // Covered names cannot be changed, so that there is nothing to be kept.
    let roots = layers.policy.roots.iter().map(PathBuf::from);
    let mut tripwire =
        Tripwire::new(roots, view.is_none()).in_home(layers.policy.home.as_deref().map(Path::new));
    tripwire.bar(&layers.policy.barred);
    while let Some(asked) = keeper::next(&control) {
        let request = match asked {
            Asked::Helper(request) => request,
            Asked::Look { git } => {
                keeper::say_touched(&control, &tripwire.spring(git));
                continue;
            }
        };
        drop(tripwire.set());
        let (names, homes) = (tripwire.names(), tripwire.homes());
        match view.map_or(Ok(true), |view| view.cover(names, homes)) {
            Ok(true) => {}
            Ok(false) => return say(&control, keeper::STALE),
            Err(reason) => return say(&control, &format!("{}{reason}", keeper::FAILED)),
        }
        match system::fork_beside(own) {
            Ok(Fork::Child) => {
                // Only the keeper may hear requests.
                drop(control);
                help(layers, request, names, homes)
            }
            Ok(Fork::Parent(pid)) => {
                say(&control, &format!("{}{} {pid}", keeper::MADE, request.mark));
                drop(request);
                last_view.take();
                last_view = File::open(format!("/proc/{pid}/ns/mnt")).ok();
            }
            Err(error) => return say(&control, &format!("{}fork: {error}", keeper::FAILED)),
        }
    }
}

/// Is a helper: gets ready, waits for a command and runs it.
fn help(layers: &Layers, request: Request, names: &BTreeSet<Found>, homes: &[PathBuf]) -> ! {
    let control = File::from(request.control);
    let kept = request.kept;
    let ready = own_process(request.mark, &request.output);
    drop(request.output);
    let view = &request.view;
    let laid = || mounts::lay(view, &layers.policy, names, homes);
    let ready = ready.and_then(|()| if view.is_empty() { Ok(()) } else { laid() });
    if let Err(reason) = ready.and_then(|()| obey(&control, layers, kept.as_ref(), homes)) {
        say(&control, &format!("{REASON}{reason}"));
    }
    system::leave(FAILED.into())
}

/// Makes this process one of its own, with the given mark and output.
fn own_process(mark: u64, output: &OwnedFd) -> Result<(), String> {
    let step = |name: &'static str| move |error: rustix::io::Errno| format!("{name}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(step("death signal"))?;
    rustix::process::setsid().map_err(step("setsid"))?;
    let limit = Rlimit { current: Some(mark), maximum: Some(mark) };
    rustix::process::setrlimit(Resource::Rttime, limit).map_err(step("mark"))?;
    rustix::stdio::dup2_stdout(output).map_err(step("output"))?;
    rustix::stdio::dup2_stderr(output).map_err(step("output"))
}

/// Does all of it. Returns only the reason why it could not be done.
fn obey(
    control: &File,
    layers: &Layers,
    kept: Option<&(OwnedFd, i32)>,
    homes: &[PathBuf],
) -> Result<(), String> {
    let policy = &layers.policy;
    if policy.rung == Rung::Landlock {
        // The rules of most commands, so that these do not wait for them.
        let usual = landlock::rules(policy, &[])?;
        let order = order(control)?;
        let rules = if order.git { landlock::rules(policy, homes)? } else { usual };
        confine(layers, kept, rules)?;
        return become_command(control, &order);
    }
    if rustix::process::getpid() != Pid::INIT {
        return Err("this process has no process namespace of its own".to_owned());
    }
    if policy.rung == Rung::Namespaces {
        mounts::own()?;
    }
    if policy.rung == Rung::Namespaces && layers.limits_namespace {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let most = MOST_PROCESSES + MOST_FOR_EACH * processors;
        std::fs::write("/proc/sys/kernel/pid_max", most.to_string()).ok();
    }
    // Where git keeps its own is guarded by its mount.
    let rules = || landlock::rules(policy, homes);
    // A shell that waits for its command confined, so that the command does not wait for that.
    let (orders, inside) = UnixStream::pair().map_err(|error| format!("orders: {error}"))?;
    let Some(spare) = fork()? else {
        drop(orders);
        confine(layers, kept, rules()?)?;
        return become_command(control, &order(&File::from(OwnedFd::from(inside)))?);
    };
    drop(inside);
    let (order, bytes) = order_with_bytes(control)?;
    if !order.git {
        // One that could not be confined has said so and does not listen.
        send(&orders, &bytes).ok();
        system::close_standard_streams();
        watch(control, spare, None)
    }
    // What git may write is laid open before its shell is made, and only then.
    system::end_all_others();
    while matches!(system::wait_any(true), Ok(Some(_))) {}
    let roots = policy.roots.iter().map(|root| Path::new(root).join(".git"));
    let folders: Vec<PathBuf> = roots.chain(homes.iter().cloned()).collect();
    let rules = rules()?;
    if policy.rung == Rung::Namespaces {
        folders.iter().try_for_each(|git| mounts::open_git(git, order.settings))?;
    }
    let trap = Trap::set(folders)?;
    let Some(shell) = fork()? else {
        confine(layers, kept, rules)?;
        return become_command(control, &order);
    };
    let output = trap.is_some().then(system::second_output);
    let output = output.and_then(Result::ok).map(File::from);
    system::close_standard_streams();
    watch(control, shell, trap.zip(output))
}

/// Forks this process; `None` in the child.
fn fork() -> Result<Option<libc::pid_t>, String> {
    match system::fork().map_err(|error| format!("fork: {error}"))? {
        Fork::Child => Ok(None),
        Fork::Parent(child) => Ok(Some(child)),
    }
}

/// Waits for the order.
fn order(control: &File) -> Result<Order, String> {
    order_with_bytes(control).map(|(order, _)| order)
}

/// Waits for the order, and returns it as it came, too.
fn order_with_bytes(control: &File) -> Result<(Order, Vec<u8>), String> {
    // The socket's end means that nobody wants a command.
    let Ok(bytes) = receive(control) else { system::leave(0) };
    let order = Order::decode(&bytes).ok_or_else(|| "the order cannot be read".to_owned())?;
    Ok((order, bytes))
}

/// Puts on the inner layers.
fn confine(
    layers: &Layers,
    kept: Option<&(OwnedFd, i32)>,
    rules: landlock::Rules,
) -> Result<(), String> {
    let policy = &layers.policy;
    let step = |name: &'static str| move |error: io::Error| format!("{name}: {error}");
    system::limit(libc::RLIMIT_CORE, 0).map_err(step("limit of core files"))?;
    system::limit(libc::RLIMIT_FSIZE, MOST_FILE_BYTES).map_err(step("limit of file sizes"))?;
    system::limit(libc::RLIMIT_NOFILE, MOST_FILES).map_err(step("limit of open files"))?;
    if policy.rung != Rung::Namespaces || !layers.limits_namespace {
        // Counted over all of the person's processes, so those that are there are let be.
        let most = (MOST_ADDED + all_tasks()) as u64;
        system::limit(libc::RLIMIT_NPROC, most).map_err(step("limit of processes"))?;
    }
    system::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(step("no_new_privs"))?;
    rules.restrict()?;
    capabilities::drop(policy).map_err(step("capabilities"))?;
    system::close_at_exec(3).map_err(step("close_range"))?;
    if let Some((kept, number)) = kept {
        system::put_at(kept, *number).map_err(step("the kept descriptor"))?;
    }
    layers.filter.install().map_err(step("seccomp"))
}

/// Becomes the command, once everything is put on. Returns only the reason why it could not.
fn become_command(control: &File, order: &Order) -> Result<(), String> {
    let directory = order.directory.display();
    system::enter(&order.directory).map_err(|error| {
        child::closed(&order.directory).unwrap_or_else(|| format!("`{directory}`: {error}"))
    })?;
    say(control, CONFINED);
    system::heed_broken_pipes();
    let arguments = child::arguments(&order.program, &order.text);
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
