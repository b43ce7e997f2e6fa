//! A folder of devices of a confined process's own, with what belongs to nobody.
//!
//! A disk shows every file that is hidden, and a terminal what somebody types there, to whoever may
//! open them: root, and the groups of such devices. So no device can be opened but these.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::mounts::says;
use super::system::{self, Reach};

const FOLDER: &str = "/dev";

/// What there is in it, of what the machine has.
const NODES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("core", "/proc/kcore"),
    ("ptmx", "pts/ptmx"),
];

/// Copies of the devices, taken while these can be reached.
pub(super) struct Devices {
    nodes: Vec<(&'static str, OwnedFd)>,
    has_terminals: bool,
}

impl Devices {
    /// Takes what the machine has of them; no other device can be opened any more, in any mount.
    pub(super) fn take() -> Result<Devices, String> {
        let folder = Path::new(FOLDER);
        let mut nodes = Vec::new();
        for name in NODES {
            let path = folder.join(name);
            if path.exists() {
                nodes.push((*name, system::clone_tree(&path).map_err(says(&path))?));
            }
        }
        system::refuse_devices().map_err(says(Path::new("/")))?;
        Ok(Devices { nodes, has_terminals: folder.join("pts").is_dir() })
    }

    /// Lays them over those of the machine. Terminals are new ones, of `user`.
    pub(super) fn lay(self, user: u32) -> Result<(), String> {
        let folder = Path::new(FOLDER);
        system::mount(c"tmpfs", folder, "mode=0755,size=64k").map_err(says(folder))?;
        for (name, node) in &self.nodes {
            let path = folder.join(name);
            File::create_new(&path).map_err(says(&path))?;
            system::attach(node, &path).map_err(says(&path))?;
        }
        for (name, target) in LINKS {
            let path = folder.join(name);
            symlink(target, &path).map_err(says(&path))?;
        }
        let (terminals, shared) = (folder.join("pts"), folder.join("shm"));
        for made in [&terminals, &shared] {
            fs::create_dir(made).map_err(says(made))?;
        }
        if self.has_terminals {
            let options = format!("newinstance,ptmxmode=0666,mode=0620,uid={user}");
            system::mount(c"devpts", &terminals, &options).map_err(says(&terminals))?;
        }
        Ok(())
    }
}

/// Lets nothing more be made in the folder.
pub(super) fn close() -> Result<(), String> {
    let folder = Path::new(FOLDER);
    system::set_read_only(folder, true, Reach::One).map_err(says(folder))
}
