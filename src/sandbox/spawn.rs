//! The start of a process without copying this one, and a handle on it.
//!
//! `fork` copies the page tables of this process and makes each later write to its memory fault
//! once, which costs more the longer a session is. Here the child borrows this process's memory
//! until it becomes the program, as `posix_spawn` does, which cannot do all that a command needs
//! (`clone(2)`, `CLONE_VM` and `CLONE_VFORK`).

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, PidfdFlags, Rlimit, Signal, WaitId, WaitIdOptions};
use tokio::io::unix::AsyncFd;

/// What the child has for a stack until it becomes the program.
const STACK_BYTES: usize = 64 * 1024;

/// The first descriptor that is not a standard stream.
const FIRST_OTHER: u32 = 3;

/// The first of the signals that nothing here ever catches or ignores.
const REAL_TIME_SIGNALS: c_int = 32;

/// What is started, and with what.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    /// All arguments, the program's own name first.
    pub(super) arguments: &'a [&'a OsStr],
    /// The whole environment.
    pub(super) environment: &'a [(OsString, OsString)],
    pub(super) directory: &'a Path,
    pub(super) input: BorrowedFd<'a>,
    /// Takes both streams.
    pub(super) output: BorrowedFd<'a>,
    /// Stay open in the program, under their own numbers. All others are closed.
    pub(super) kept: &'a [BorrowedFd<'a>],
    /// The namespaces that the process is the first one of, as `clone(2)` has them.
    pub(super) namespaces: c_int,
    /// The limit on the time of real-time processes, which marks what a command started.
    pub(super) mark: Rlimit,
}

/// A process that was started here. Dropped before it ended, it is killed.
pub(super) struct Process {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
    status: Option<ExitStatus>,
}

/// Starts a process that leads a session of its own and dies with the thread that started it.
///
/// Fails with the error of the first step that failed, the program's own start included; then no
/// process is left.
pub(super) fn spawn(start: &Start<'_>) -> io::Result<Process> {
    let program = c_string(start.program.as_os_str().as_bytes())?;
    let directory = c_string(start.directory.as_os_str().as_bytes())?;
    let arguments = start.arguments.iter().map(|text| c_string(text.as_bytes()));
    let arguments = arguments.collect::<io::Result<Vec<CString>>>()?;
    let environment = start.environment.iter().map(|(name, value)| {
        let mut both = name.clone().into_vec();
        both.push(b'=');
        both.extend_from_slice(value.as_bytes());
        c_string(&both)
    });
    let environment = environment.collect::<io::Result<Vec<CString>>>()?;
    let mut plan = Plan {
        program: &program,
        arguments: pointers(&arguments),
        environment: pointers(&environment),
        directory: &directory,
        input: start.input.as_raw_fd(),
        output: start.output.as_raw_fd(),
        kept: start.kept.iter().map(std::os::fd::AsRawFd::as_raw_fd).collect(),
        namespaces: start.namespaces,
        mark: libc::rlimit {
            rlim_cur: start.mark.current.unwrap_or(libc::RLIM_INFINITY),
            rlim_max: start.mark.maximum.unwrap_or(libc::RLIM_INFINITY),
        },
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        failed: 0,
    };
    let pid = clone(&mut plan)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::NONBLOCK);
    if plan.failed != 0 {
        rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED).ok();
        return Err(io::Error::from_raw_os_error(plan.failed));
    }
    let registered = handle.map_err(io::Error::from).and_then(watch);
    let handle = registered.inspect_err(|_| {
        rustix::process::kill_process(pid, Signal::KILL).ok();
        rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED).ok();
    })?;
    Ok(Process { pid, handle, status: None })
}

impl Process {
    pub(super) fn id(&self) -> Pid {
        self.pid
    }

    /// Waits for the end and reaps the process. After the first time it gives the same again.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            self.handle.readable().await?.clear_ready();
        }
    }

    /// Waits for the end without letting anything else run meanwhile.
    pub(super) fn wait_blocking(&mut self) -> io::Result<()> {
        while self.status.is_none() {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            // By its number: a handle that does not block would not wait.
            rustix::process::waitid(WaitId::Pid(self.pid), ended)?;
            self.try_wait()?;
        }
        Ok(())
    }

    /// Reaps the process if it has ended.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            let found = rustix::process::waitid(WaitId::PidFd(self.handle.as_fd()), ended)?;
            self.status = found.map(|found| {
                let code = found.exit_status().map(|code| (code & 0xff) << 8);
                let dumped = if found.dumped() { 0x80 } else { 0 };
                let signal = found.terminating_signal().map(|signal| signal | dumped);
                ExitStatus::from_raw(code.or(signal).unwrap_or_default())
            });
        }
        Ok(self.status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            rustix::process::pidfd_send_signal(self.handle.get_ref(), Signal::KILL).ok();
            self.try_wait().ok();
        }
    }
}

/// Makes the end of the process something to wait for.
#[expect(unsafe_code, reason = "the library leaves it to us that the descriptor stays open")]
fn watch(handle: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned, so it stays open and the same until both are dropped.
    Ok(unsafe { AsyncFd::register(handle) }?)
}

/// All that the child needs, made beforehand: it must not allocate.
struct Plan<'a> {
    program: &'a CStr,
    /// Ends with a null pointer, as `environment` does.
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    directory: &'a CStr,
    input: c_int,
    output: c_int,
    kept: Vec<c_int>,
    namespaces: c_int,
    mark: libc::rlimit,
    parent: libc::pid_t,
    /// The error number of the step that failed, written by the child.
    failed: c_int,
}

/// Makes the child and waits until it has become the program, or has failed and written why.
#[expect(unsafe_code, reason = "no library starts a process like this")]
fn clone(plan: &mut Plan<'_>) -> io::Result<Pid> {
    let mut stack = vec![MaybeUninit::<u128>::uninit(); STACK_BYTES / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | plan.namespaces;
    // SAFETY: the signal sets are plain data, filled by the calls below. The stack outlives the
    // child's use of it, since CLONE_VFORK holds this thread until the child has called exec or
    // ended; so does the plan, which only the child touches meanwhile. With all signals blocked
    // no handler of this process runs in the child, which shares its memory.
    let pid = unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        let pid = libc::clone(in_child, top, flags, std::ptr::from_mut(plan).cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }?;
    Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Becomes the program, or ends with the error written into the plan.
#[expect(unsafe_code, reason = "it runs between clone and exec")]
extern "C" fn in_child(plan: *mut c_void) -> c_int {
    // SAFETY: `clone` passes the plan, which nobody else uses before this process has become
    // another or ended. Only system calls are made: nothing is allocated, no lock is taken.
    unsafe {
        let plan = &mut *plan.cast::<Plan<'_>>();
        let Err(error) = become_program(plan);
        plan.failed = error.raw_os_error().unwrap_or(libc::EIO);
        libc::_exit(127)
    }
}

/// The steps of the child, in order.
#[expect(unsafe_code, reason = "it runs between clone and exec")]
unsafe fn become_program(plan: &Plan<'_>) -> io::Result<std::convert::Infallible> {
    let check = |result: c_int| match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: the pointers come from strings and arrays that live in the plan.
    unsafe {
        reset_signals();
        check(libc::setsid())?;
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // From its own process namespace the parent is not to be seen.
        let sees_parent = plan.namespaces & libc::CLONE_NEWPID == 0;
        if sees_parent && libc::getppid() != plan.parent {
            // The parent died before the signal was set, which will now never come.
            return Err(io::Error::from_raw_os_error(libc::EPIPE));
        }
        if plan.namespaces & libc::CLONE_NEWUSER != 0 {
            keep_capabilities();
        }
        check(libc::setrlimit(libc::RLIMIT_RTTIME, &raw const plan.mark))?;
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        check(libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core))?;
        check(libc::chdir(plan.directory.as_ptr()))?;
        check(libc::dup2(plan.input, 0))?;
        check(libc::dup2(plan.output, 1))?;
        check(libc::dup2(plan.output, 2))?;
        // What this process itself inherited is nobody's business. Kernels before 5.11 do not
        // know it; what Snick opens is closed at exec anyway.
        libc::syscall(libc::SYS_close_range, FIRST_OTHER, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        for &kept in &plan.kept {
            check(libc::fcntl(kept, libc::F_SETFD, 0))?;
        }
        let (arguments, environment) = (plan.arguments.as_ptr(), plan.environment.as_ptr());
        libc::execve(plan.program.as_ptr(), arguments, environment);
    }
    Err(io::Error::last_os_error())
}

/// Keeps, through exec, the capabilities that a process has in a user namespace of its own.
#[expect(unsafe_code, reason = "it runs between clone and exec")]
unsafe fn keep_capabilities() {
    /// The version of the structures, and the process itself.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    /// Effective, permitted, inheritable, each in two halves: all there are.
    const ALL: [u32; 6] = [u32::MAX; 6];
    // SAFETY: the kernel reads constants. What fails here shows when the program needs it.
    unsafe {
        libc::syscall(libc::SYS_capset, HEADER.as_ptr(), ALL.as_ptr());
        for capability in 0..64 {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability, 0, 0);
        }
    }
}

/// Gives every signal its usual effect and lets it through.
#[expect(unsafe_code, reason = "it runs between clone and exec")]
unsafe fn reset_signals() {
    // SAFETY: the sets and actions are plain data on the stack; a signal that cannot be set, as
    // KILL, is left as it is.
    unsafe {
        let mut usual = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        usual.sa_sigaction = libc::SIG_DFL;
        for signal in 1..REAL_TIME_SIGNALS {
            libc::sigaction(signal, &raw const usual, std::ptr::null_mut());
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Returns what `execve` takes for `strings`, which must outlive it.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}
