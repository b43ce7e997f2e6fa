//! What a rewritten file keeps of the one it replaces: owner, permissions, extended attributes.

use std::ffi::CStr;
use std::fs::{File, Permissions as Mode};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use rustix::fs::{Gid, Uid, XattrFlags};
use rustix::io::Errno;

use super::temporary::Permissions;

/// Most bytes of one attribute, and of the list of their names, that are carried over.
const LIMIT: usize = 64 << 10;

/// Gives `file` what `model` has, and says in words what could not be given.
///
/// Permissions come after the owner, since a change of owner takes special bits away, and
/// before the attributes, since access lists among them refine the permissions.
pub(super) fn carry(
    model: Option<&File>,
    file: &File,
    permissions: Permissions,
) -> io::Result<Vec<String>> {
    let mut lost = Vec::new();
    let Some(model) = model else {
        if let Permissions::Exactly(mode) = permissions {
            file.set_permissions(Mode::from_mode(mode & 0o7777))?;
        }
        return Ok(lost);
    };
    let facts = model.metadata()?;
    let mut mode = match permissions {
        Permissions::Kept => facts.mode() & 0o7777,
        Permissions::Exactly(mode) => mode & 0o7777,
    };
    if let Err(error) = carry_owner(&facts, file) {
        lost.push(format!("its owner could not be kept ({error})"));
        // Special bits would now speak for another owner.
        mode &= 0o777;
    }
    file.set_permissions(Mode::from_mode(mode))?;
    carry_attributes(model, file, &mut lost);
    Ok(lost)
}

fn carry_owner(facts: &std::fs::Metadata, file: &File) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (facts.uid(), facts.gid()) {
        return Ok(());
    }
    let (owner, group) = (Uid::from_raw(facts.uid()), Gid::from_raw(facts.gid()));
    if rustix::fs::fchown(file, Some(owner), Some(group)).is_ok() {
        return Ok(());
    }
    // The group alone often can be kept, and matters in shared folders.
    let kept = rustix::fs::fchown(file, None, Some(group));
    if own.uid() == facts.uid() { Ok(kept?) } else { Err(Errno::PERM.into()) }
}

fn carry_attributes(model: &File, file: &File, lost: &mut Vec<String>) {
    let mut names = vec![0; LIMIT];
    let length = match rustix::fs::flistxattr(model, names.as_mut_slice()) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => return,
        Err(error) => {
            lost.push(format!("its extended attributes could not be kept ({error})"));
            return;
        }
    };
    names.truncate(length);
    for name in names.split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        if is_bound_to_content(name) {
            continue;
        }
        if let Err(error) = carry_attribute(model, file, name) {
            let name = name.to_string_lossy();
            lost.push(format!("its attribute `{name}` could not be kept ({error})"));
        }
    }
}

fn carry_attribute(model: &File, file: &File, name: &CStr) -> Result<(), Errno> {
    let mut value = vec![0; LIMIT];
    let length = rustix::fs::fgetxattr(model, name, value.as_mut_slice())?;
    value.truncate(length);
    rustix::fs::fsetxattr(file, name, &value, XattrFlags::empty())
}

/// Whether an attribute vouches for the old bytes; the system drops these on any write.
fn is_bound_to_content(name: &CStr) -> bool {
    let names: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
    names.contains(&name.to_bytes())
}
