//! The system call filter: what no command needs and what leads out of the other layers.

use std::collections::BTreeMap;
use std::io;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

/// Calls that are refused whatever their arguments.
const REFUSED: &[c_long] = &[
    // They do what the filter does not see.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The kernel's inside.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // What is mounted where.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_acct,
    libc::SYS_vhangup,
];

/// Calls of x86-64 that reach beyond what the others do.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_kexec_file_load];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Pushes a character into a terminal's input.
const TIOCSTI: u64 = 0x5412;
/// Selection, and with it input, of the console.
const TIOCLINUX: u64 = 0x541c;

/// All kinds of namespaces that `clone` and `unshare` can make.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Every process of a user, to `setpriority` and to `ioprio_set`.
const PRIORITY_OF_USER: c_int = 2;
const INPUT_OF_USER: c_int = 3;

/// Calls that say by their first argument whose turn comes when, or whose memory lies where.
const SCHEDULING: &[c_long] = &[
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Whether a command may change modes, owners, times and attributes of the files that it reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Facts {
    Change,
    /// Landlock knows no right for them, so where no mount is read-only a filter must do it.
    Stay,
}

/// Calls that change what a file is, and not what it holds.
const CHANGING_FACTS: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Their older forms on x86-64.
#[cfg(target_arch = "x86_64")]
const CHANGING_FACTS_HERE: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const CHANGING_FACTS_HERE: &[c_long] = &[];

/// Which processes a command may make slow, or fast, or move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// There are no others than its own.
    Own,
    /// All of the person's are there, so it may only name itself: a filter cannot tell whose a
    /// number is.
    Everybody,
}

/// The filter, ready to be installed.
pub(super) struct Filter([BpfProgram; 2]);

impl Filter {
    /// Makes the filter of a command that may use the network or not, and change files' facts or
    /// not, and sees the processes of `others` or not.
    pub(super) fn compile(network: bool, facts: Facts, others: Others) -> io::Result<Filter> {
        let denied = permission_denied(network, facts, others).map_err(io::Error::other)?;
        Ok(Filter([denied, not_implemented().map_err(io::Error::other)?]))
    }

    /// Installs it in this process, for it and for what it starts.
    pub(super) fn install(&self) -> io::Result<()> {
        let Filter(programs) = self;
        for program in programs {
            seccompiler::apply_filter(program).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Returns the filter of calls that fail with `EPERM`.
fn permission_denied(
    network: bool,
    facts: Facts,
    others: Others,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    for &call in REFUSED.iter().chain(REFUSED_HERE) {
        rules.insert(call, Vec::new());
    }
    if facts == Facts::Stay {
        for &call in CHANGING_FACTS.iter().chain(CHANGING_FACTS_HERE) {
            rules.insert(call, Vec::new());
        }
    }
    let ioctl = [TIOCSTI, TIOCLINUX].map(|request| rule([equal(1, request)]));
    rules.insert(libc::SYS_ioctl, ioctl.into_iter().collect::<Result<_, _>>()?);
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let flags = NAMESPACES.iter().map(|&flag| rule([has_bits(0, flag.unsigned_abs().into())]));
        rules.insert(call, flags.collect::<Result<_, _>>()?);
    }
    let kinds = [libc::S_IFCHR, libc::S_IFBLK];
    #[cfg(target_arch = "x86_64")]
    rules.insert(
        libc::SYS_mknod,
        kinds.iter().map(|&kind| rule([is_kind(1, kind)])).collect::<Result<_, _>>()?,
    );
    rules.insert(
        libc::SYS_mknodat,
        kinds.iter().map(|&kind| rule([is_kind(2, kind)])).collect::<Result<_, _>>()?,
    );
    // The mark by which what a command started is found.
    let limit = u64::from(libc::RLIMIT_RTTIME);
    rules.insert(libc::SYS_setrlimit, vec![rule([equal(0, limit)])?]);
    // Nor may any limit of another process be set: without namespaces all of the person's are there.
    let of_others = [set_to_something(0), set_to_something(2)];
    let own = [equal(1, limit), set_to_something(2)];
    rules.insert(libc::SYS_prlimit64, vec![rule(own)?, rule(of_others)?]);
    if others == Others::Everybody {
        let named = |argument| rule([set_to_something(argument)]);
        let all_of_user = |user: c_int| rule([equal(0, user.unsigned_abs().into())]);
        rules.insert(libc::SYS_setpriority, vec![named(1)?, all_of_user(PRIORITY_OF_USER)?]);
        rules.insert(libc::SYS_ioprio_set, vec![named(1)?, all_of_user(INPUT_OF_USER)?]);
        for call in SCHEDULING {
            rules.insert(*call, vec![named(0)?]);
        }
    }
    if !network {
        let other = |domain: i32| {
            SeccompCondition::new(
                0,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::Ne,
                domain.unsigned_abs().into(),
            )
        };
        rules.insert(libc::SYS_socket, vec![rule([other(libc::AF_UNIX)])?]);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let program = program(rules, refuse)?;
    // The same calls have other numbers in the x32 ABI, which nothing here needs.
    Ok(without_x32().into_iter().chain(program).collect())
}

/// Returns the filter of calls that fail as on a kernel that does not know them, so that
/// libraries use older ones whose arguments a filter can see.
fn not_implemented() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    program(rules, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

fn program(
    rules: BTreeMap<c_long, Vec<SeccompRule>>,
    refuse: SeccompAction,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

fn rule<const N: usize>(
    conditions: [Condition; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// The lower half of an argument is `value`: the kernel looks at no more of these arguments.
fn equal(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn has_bits(argument: u8, bits: u64) -> Condition {
    let compare = SeccompCmpOp::MaskedEq(bits);
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, compare, bits)
}

fn is_kind(argument: u8, kind: libc::mode_t) -> Condition {
    let compare = SeccompCmpOp::MaskedEq(libc::S_IFMT.into());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, kind.into())
}

/// The argument is no null pointer.
fn set_to_something(argument: u8) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

/// Returns instructions that end every call with a number of the x32 ABI.
#[cfg(target_arch = "x86_64")]
fn without_x32() -> Vec<sock_filter> {
    const LOAD_NUMBER: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const FIRST_X32: u32 = 0x4000_0000;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: AT_LEAST, jt: 0, jf: 1, k: FIRST_X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: refuse },
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn without_x32() -> Vec<sock_filter> {
    Vec::new()
}
