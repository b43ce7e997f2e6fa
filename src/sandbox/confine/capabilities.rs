//! Root without its powers: the capabilities that a command does not get.

use std::io;

use super::policy::Policy;
use super::system;

/// `CHOWN`, `DAC_OVERRIDE`, `FOWNER`: what root needs to work on files of another user.
const OF_FILES: u64 = 1 | 1 << 1 | 1 << 3;

/// The highest number that a capability can have.
const LAST: u32 = 63;

/// Takes every capability from this process and from what it starts, except those that the
/// files in the roots need.
pub(super) fn drop(policy: &Policy) -> io::Result<()> {
    let kept = if policy.foreign_files { OF_FILES } else { 0 };
    for capability in (0..=LAST).filter(|capability| kept & 1 << capability == 0) {
        match system::prctl(libc::PR_CAPBSET_DROP, capability.into()) {
            Ok(()) => {}
            // Beyond the last one of this kernel.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
            // Without the right to drop them they cannot be gained either: no program gives any
            // to a process that takes no new privileges.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => break,
            Err(error) => return Err(error),
        }
    }
    let clear_ambient = libc::PR_CAP_AMBIENT_CLEAR_ALL;
    system::prctl(libc::PR_CAP_AMBIENT, libc::c_ulong::try_from(clear_ambient).unwrap_or(4))?;
    if has_none() && kept != 0 {
        return system::set_capabilities(0);
    }
    system::set_capabilities(kept)
}

/// Whether this process has no capability to keep.
fn has_none() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    line.is_none_or(|line| u64::from_str_radix(line.trim(), 16).unwrap_or_default() == 0)
}
