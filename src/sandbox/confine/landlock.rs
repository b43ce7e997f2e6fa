//! Landlock: what may be written, whatever the mounts say, and who may be signalled.
//!
//! Where there are no mounts, also which devices may be read.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::policy::Policy;
use crate::approval::Rung;

/// Devices that programs write to.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
    "/dev/pts",
];

/// Those of them that lead to terminals.
const TERMINALS: &[&str] = &["/dev/tty", "/dev/ptmx", "/dev/pts"];

/// What may be read of `/dev` where it is the machine's.
const READABLE_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

/// Rules that a process can put on itself.
pub(super) struct Rules(RulesetCreated);

/// Returns what restricts a process as `policy` says; git keeps its own in `homes`. The files that
/// it names must be in their places.
///
/// # Errors
/// A kernel without Landlock.
pub(super) fn rules(policy: &Policy, homes: &[PathBuf]) -> Result<Rules, String> {
    let failed = |error: &dyn std::error::Error| format!("Landlock: {error}");
    let write = AccessFs::from_write(ABI::V5);
    let of_devices = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))
        .map_err(|error| failed(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)
        .map_err(|error| failed(&error))?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)
        .map_err(|error| failed(&error))?;
    if !policy.network {
        ruleset = ruleset
            .handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)
            .map_err(|error| failed(&error))?;
    }
    let readable = if policy.rung == Rung::Landlock { readable() } else { Vec::new() };
    if !readable.is_empty() {
        ruleset = ruleset.handle_access(AccessFs::ReadFile).map_err(|error| failed(&error))?;
    }
    let mut created = ruleset.create().map_err(|error| failed(&error))?;
    let temporary = Path::new(&policy.temporary);
    let mut writable = vec![temporary];
    if policy.rung != Rung::Landlock {
        // All of these are the process's own.
        writable.extend([Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm")]);
    }
    if !policy.read_only {
        writable.extend(policy.roots.iter().map(Path::new));
        writable.extend(homes.iter().map(PathBuf::as_path));
    }
    let rights = |path: &Path| {
        if DEVICES.iter().any(|device| path == Path::new(device)) {
            of_devices
        } else {
            // No device is made.
            write & !(AccessFs::MakeChar | AccessFs::MakeBlock)
        }
    };
    // Where they are not the process's own, terminals are the person's: what is written there is
    // on the screen.
    let own = |device: &&&str| policy.rung != Rung::Landlock || !TERMINALS.contains(*device);
    let devices = DEVICES.iter().filter(own).map(Path::new);
    for path in writable.into_iter().chain(devices) {
        let Ok(handle) = PathFd::new(path) else { continue };
        let mut rights = rights(path);
        if !path.is_dir() {
            rights &= AccessFs::from_file(ABI::V5);
        }
        created =
            created.add_rule(PathBeneath::new(handle, rights)).map_err(|error| failed(&error))?;
    }
    for path in readable {
        let Ok(handle) = PathFd::new(path) else { continue };
        let rule = PathBeneath::new(handle, AccessFs::ReadFile);
        created = created.add_rule(rule).map_err(|error| failed(&error))?;
    }
    Ok(Rules(created))
}

/// Returns where everything may be read: the whole of `/` but the devices, of which the disks show
/// all that modes hide, and the terminals what the person types. Empty where `/` cannot be listed.
fn readable() -> Vec<PathBuf> {
    let devices = Path::new("/dev");
    let entries = fs::read_dir("/").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut readable: Vec<PathBuf> = entries.filter(|path| path != devices).collect();
    if !readable.is_empty() {
        readable.extend(READABLE_DEVICES.iter().map(PathBuf::from));
    }
    readable
}

impl Rules {
    /// Restricts this process and what it starts.
    ///
    /// # Errors
    /// A kernel that enforces nothing of it.
    pub(super) fn restrict(self) -> Result<(), String> {
        let status = self.0.restrict_self().map_err(|error| format!("Landlock: {error}"))?;
        if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
            return Err("Landlock: the kernel enforces nothing of it".to_owned());
        }
        Ok(())
    }
}
