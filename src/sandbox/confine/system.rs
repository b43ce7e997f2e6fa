//! System calls that the confinement needs and no library here wraps.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// Detaches a copy of what is mounted at and below `path`.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let path = text(path)?;
    let flags = libc::OPEN_TREE_CLONE.cast_signed() | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: the string outlives the call, which returns a new descriptor.
    unsafe {
        let fd = libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags);
        check(fd)?;
        let fd = c_int::try_from(fd).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Puts a detached `tree` at `path`.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn attach(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    const EMPTY_PATH: c_int = 4;
    let path = text(path)?;
    // SAFETY: the strings outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            EMPTY_PATH,
        )
    })
}

/// Makes an overlay of folders that are open: what is written over `lower` goes to `upper`.
///
/// They are named by their descriptors, since no character of a descriptor means anything to the
/// overlay. What it keeps beside the files is in attributes that an owner may read.
#[expect(unsafe_code, reason = "system calls")]
pub(super) fn overlay(lower: &OwnedFd, upper: &OwnedFd, work: &OwnedFd) -> io::Result<OwnedFd> {
    const FLAG: c_int = 0;
    const STRING: c_int = 1;
    const CREATE: c_int = 6;
    const CLOSE_AT_EXEC: c_int = 1;
    let by_number = |fd: &OwnedFd| CString::new(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    let (lower, upper, work) = (by_number(lower)?, by_number(upper)?, by_number(work)?);
    let owned = |fd: c_long| -> io::Result<OwnedFd> {
        check(fd)?;
        let fd = c_int::try_from(fd).map_err(|_| io::ErrorKind::InvalidData)?;
        // SAFETY: the kernel just returned it to this call alone.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    };
    // SAFETY: the string is a constant; a new descriptor is returned.
    let made =
        owned(unsafe { libc::syscall(libc::SYS_fsopen, c"overlay".as_ptr(), CLOSE_AT_EXEC) })?;
    let set = |kind: c_int, name: *const c_char, value: *const c_char| {
        // SAFETY: the strings outlive the call, or are null where the kind has none.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, made.as_raw_fd(), kind, name, value, 0) })
    };
    let options = [
        (c"source", c"snick"),
        (c"lowerdir", lower.as_c_str()),
        (c"upperdir", upper.as_c_str()),
        (c"workdir", work.as_c_str()),
        (c"metacopy", c"off"),
        (c"index", c"off"),
    ];
    for (name, value) in options {
        set(STRING, name.as_ptr(), value.as_ptr())?;
    }
    set(FLAG, c"userxattr".as_ptr(), std::ptr::null())?;
    // What is in it does not outlive the command, so nothing need be synced.
    set(FLAG, c"volatile".as_ptr(), std::ptr::null())?;
    set(CREATE, std::ptr::null(), std::ptr::null())?;
    let (made, flags) = (made.as_raw_fd(), NO_DEVICES);
    // SAFETY: it takes numbers; a new descriptor is returned.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, made, CLOSE_AT_EXEC, flags) })
}

/// Opens the folder at `path` to name it by.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
    let path = text(path)?;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the string outlives the call, which returns a new descriptor.
    unsafe {
        let fd = libc::open(path.as_ptr(), flags);
        check(c_long::from(fd))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Whether a mount and those below it are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    One,
    All,
}

/// Makes the mount at `path` read-only, or writable.
pub(super) fn set_read_only(path: &Path, read_only: bool, reach: Reach) -> io::Result<()> {
    const READ_ONLY: u64 = 1;
    let (set, clear) = if read_only { (READ_ONLY, 0) } else { (0, READ_ONLY) };
    set_attributes(path, set, clear, reach)
}

/// Lets no device be opened in any mount that there is now.
pub(super) fn refuse_devices() -> io::Result<()> {
    set_attributes(Path::new("/"), NO_DEVICES, 0, Reach::All)
}

/// A mount in which no device can be opened.
const NO_DEVICES: u64 = 4;

#[expect(unsafe_code, reason = "a system call")]
fn set_attributes(path: &Path, set: u64, clear: u64, reach: Reach) -> io::Result<()> {
    /// `struct mount_attr` of the kernel.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        users: u64,
    }
    let attributes = Attributes { set, clear, propagation: 0, users: 0 };
    let flags = if reach == Reach::All { libc::AT_RECURSIVE } else { 0 };
    let path = text(path)?;
    // SAFETY: string and structure outlive the call, and the size is the structure's.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
}

/// Mounts a new file system of `kind` at `path`.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn mount(kind: &CStr, path: &Path, options: &str) -> io::Result<()> {
    let path = text(path)?;
    let options = CString::new(options)?;
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    let flags = if kind == c"devpts" || kind == c"tmpfs" { libc::MS_NOSUID } else { flags };
    // SAFETY: the strings outlive the call.
    check(c_long::from(unsafe {
        libc::mount(kind.as_ptr(), path.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast())
    }))
}

/// Keeps changes of mounts from going out; those from outside still come in.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn keep_mounts_private() -> io::Result<()> {
    let flags = libc::MS_REC | libc::MS_SLAVE;
    // SAFETY: the string is a constant, and the others may be null.
    check(c_long::from(unsafe {
        libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), flags, std::ptr::null())
    }))
}

/// Takes away what is mounted at `path`.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn unmount(path: &Path) -> io::Result<()> {
    let path = text(path)?;
    // SAFETY: the string outlives the call.
    check(c_long::from(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }))
}

/// Leaves the namespaces in `flags` for new ones.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: it takes a number.
    check(c_long::from(unsafe { libc::unshare(flags) }))
}

/// What [`fork`] returns, in each of the two processes.
pub(in crate::sandbox) enum Fork {
    Child,
    Parent(libc::pid_t),
}

/// Forks this process, which has one thread.
#[expect(unsafe_code, reason = "a system call")]
pub(in crate::sandbox) fn fork() -> io::Result<Fork> {
    // SAFETY: the helper never starts a thread, so the child may go on as the parent would.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// Forks this process, which has one thread, as [`fork`] does; the child is the first process of
/// new namespaces and a child of this process's parent.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn fork_beside(namespaces: c_int) -> io::Result<Fork> {
    let flags = c_long::from(libc::CLONE_PARENT | libc::SIGCHLD | namespaces);
    // SAFETY: without a stack of its own the child goes on here, as after `fork`, with a copy of
    // all memory; this process never starts a thread, so no lock is held by another.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        0 => Ok(Fork::Child),
        pid => {
            check(pid)?;
            let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidData)?;
            Ok(Fork::Parent(pid))
        }
    }
}

/// Waits for any child. Gives its number and raw status; `None` where there is no child.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn wait_any(block: bool) -> io::Result<Option<(libc::pid_t, c_int)>> {
    let mut status = 0;
    let flags = if block { 0 } else { libc::WNOHANG };
    // SAFETY: the status is written to a number of this function.
    match unsafe { libc::waitpid(-1, &raw mut status, flags) } {
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
            error => Err(error),
        },
        pid => Ok(Some((pid, status))),
    }
}

/// Sets one limit, both the soft and the hard one, unless it is lower already.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is written, then read.
    unsafe {
        check(c_long::from(libc::getrlimit(resource, &raw mut limit)))?;
        limit.rlim_max = limit.rlim_max.min(most);
        limit.rlim_cur = limit.rlim_cur.min(most);
        check(c_long::from(libc::setrlimit(resource, &raw const limit)))
    }
}

/// Calls `prctl` with one argument.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn prctl(option: c_int, argument: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take numbers.
    check(c_long::from(unsafe { libc::prctl(option, argument, 0, 0, 0) }))
}

/// Sets the effective, permitted and inheritable capabilities of this process to `kept`.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn set_capabilities(kept: u64) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    const VERSION: u32 = 0x2008_0522;
    let header = Header { version: VERSION, pid: 0 };
    let [low, high] = [kept & u64::from(u32::MAX), kept >> 32]
        .map(|half| u32::try_from(half).unwrap_or_default());
    // Effective, permitted, inheritable, twice.
    let data: [u32; 6] = [low, low, 0, high, high, 0];
    // SAFETY: both structures outlive the call and have the sizes that the version says.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) })
}

/// Closes every descriptor from `first` on when the program starts.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn close_at_exec(first: u32) -> io::Result<()> {
    // SAFETY: it takes numbers.
    check(unsafe {
        libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    })
}

/// Lets the program have `kept` as descriptor `number`, which nothing else here uses.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn put_at(kept: &OwnedFd, number: c_int) -> io::Result<()> {
    if kept.as_raw_fd() == number {
        // SAFETY: it takes numbers; a descriptor that is not open is an error.
        return check(c_long::from(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }));
    }
    // SAFETY: it takes numbers, and the new descriptor is nobody's until the program runs.
    check(c_long::from(unsafe { libc::dup2(kept.as_raw_fd(), number) }))
}

/// Takes descriptor `number`, which this process inherited for itself.
#[expect(unsafe_code, reason = "the number comes from the process that started this one")]
pub(in crate::sandbox) fn inherited(number: c_int) -> io::Result<OwnedFd> {
    if number < 3 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: nothing else in this process knows the descriptor; one that is not open is found
    // out right here.
    unsafe {
        check(c_long::from(libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC)))?;
        Ok(OwnedFd::from_raw_fd(number))
    }
}

/// Has a write to a closed pipe end this process again, as programs expect: the runtime of this
/// program's language ignores the signal, and what is ignored stays so in another program.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn heed_broken_pipes() {
    // SAFETY: no handler is given, and this process does nothing more but become a program.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// Becomes `program`. Returns only the error.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn execute(
    program: &Path,
    arguments: &[&OsStr],
    environment: &[(OsString, OsString)],
) -> io::Error {
    let strings = || -> io::Result<(CString, Vec<CString>, Vec<CString>)> {
        let arguments = arguments.iter().map(|argument| CString::new(argument.as_bytes()));
        let environment = environment.iter().map(|(name, value)| {
            let both = [name.as_bytes(), b"=", value.as_bytes()].concat();
            CString::new(OsString::from_vec(both).into_vec())
        });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        Ok((text(program)?, arguments, environment.collect::<Result<Vec<_>, _>>()?))
    };
    let (program, arguments, environment) = match strings() {
        Ok(strings) => strings,
        Err(error) => return error,
    };
    let pointers = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(&arguments), pointers(&environment));
    // SAFETY: all strings outlive the call, and both lists end with a null pointer.
    unsafe {
        libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    io::Error::last_os_error()
}

/// Returns a second descriptor of what this process prints to.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn second_output() -> io::Result<OwnedFd> {
    // SAFETY: it takes numbers, and the descriptor that it returns is nobody else's.
    let made = unsafe { libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3) };
    check(made.into())?;
    // SAFETY: it was made just now.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// Lets go of the standard streams, so that this process keeps no pipe open.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn close_standard_streams() {
    // SAFETY: it takes numbers; this process neither reads nor prints.
    unsafe {
        libc::close_range(0, 2, 0);
    }
}

/// Makes `directory` the one of this process, which runs nothing else.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn enter(directory: &Path) -> io::Result<()> {
    let directory = text(directory)?;
    // SAFETY: the string outlives the call.
    check(c_long::from(unsafe { libc::chdir(directory.as_ptr()) }))
}

/// Returns bytes that nobody can guess.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn random() -> io::Result<[u8; 8]> {
    let mut bytes = [0; 8];
    // SAFETY: so many bytes are written as the array has.
    let taken = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    check(taken.try_into().unwrap_or(-1))?;
    Ok(bytes)
}

/// Ends every process of this namespace but the first, which is the one that asks.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn end_all_others() {
    if std::process::id() == 1 {
        // SAFETY: it takes numbers.
        unsafe { libc::kill(-1, libc::SIGKILL) };
    }
}

/// Ends this process at once.
#[expect(unsafe_code, reason = "a system call")]
pub(super) fn leave(code: c_int) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(code) }
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn check(result: c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
