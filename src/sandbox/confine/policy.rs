//! What a confined process may touch: values, made by the caller, obeyed by the helper.

use std::ffi::OsString;
use std::io;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::approval::{Barred, Rung};

/// The most that a frame may hold: more than `execve` takes.
const MOST_BYTES: u32 = 16 << 20;

/// All that the helper must know before it hears of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) struct Policy {
    pub(in crate::sandbox) rung: Rung,
    pub(in crate::sandbox) user: u32,
    pub(in crate::sandbox) group: u32,
    /// The process that asks, to learn of sockets outside.
    pub(in crate::sandbox) parent: i32,
    pub(in crate::sandbox) network: bool,
    /// What commands may change; in it lie protected names.
    pub(in crate::sandbox) roots: Vec<OsString>,
    /// Whether not even the roots may be changed.
    pub(in crate::sandbox) read_only: bool,
    /// The private folder that stands in for `/tmp`.
    pub(in crate::sandbox) temporary: OsString,
    pub(in crate::sandbox) home: Option<OsString>,
    /// Folders that are not to be seen: Snick's own.
    pub(in crate::sandbox) private: Vec<OsString>,
    /// Read-only folders that stay visible inside of hidden ones.
    pub(in crate::sandbox) visible: Vec<OsString>,
    /// Capabilities of root that the files in the roots need, since they are not root's.
    pub(in crate::sandbox) foreign_files: bool,
    /// What is laid over the roots, so that a command changes only that; else nothing. Each command
    /// has folders of its own, which come with it.
    pub(in crate::sandbox) view: Vec<Overlay>,
    /// The folder above those of all views.
    pub(in crate::sandbox) views: Option<OsString>,
    /// What rules for paths keep from the command.
    pub(in crate::sandbox) barred: Barred,
}

/// A copy-on-write view of one root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) struct Overlay {
    pub(in crate::sandbox) root: OsString,
    /// Takes what is written.
    pub(in crate::sandbox) upper: OsString,
    /// What the kernel needs beside it.
    pub(in crate::sandbox) work: OsString,
    /// Folders in the root that are changed themselves.
    pub(in crate::sandbox) through: Vec<OsString>,
}

impl Policy {
    /// Whether the process gets a user namespace of its own: all but root need one.
    pub(in crate::sandbox) fn has_own_users(&self) -> bool {
        self.user != 0
    }
}

/// The command that a confined process becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct Order {
    pub(in crate::sandbox) program: PathBuf,
    pub(in crate::sandbox) directory: PathBuf,
    pub(in crate::sandbox) text: String,
    /// Whether `.git` may be changed, protected names in it excepted.
    pub(in crate::sandbox) git: bool,
    /// Whether the settings of git may be changed, too.
    pub(in crate::sandbox) settings: bool,
    pub(in crate::sandbox) environment: Vec<(OsString, OsString)>,
}

impl Order {
    /// Returns it as fields between NUL bytes, which none of them can hold.
    pub(in crate::sandbox) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |field: &[u8]| {
            bytes.extend_from_slice(field);
            bytes.push(0);
        };
        field(self.program.as_os_str().as_bytes());
        field(self.directory.as_os_str().as_bytes());
        field(self.text.as_bytes());
        field(if self.git { b"git" } else { b"" });
        field(if self.settings { b"settings" } else { b"" });
        for (name, value) in &self.environment {
            field(&[name.as_bytes(), b"=", value.as_bytes()].concat());
        }
        bytes
    }

    /// Reads what [`Order::encode`] wrote.
    pub(in crate::sandbox) fn decode(bytes: &[u8]) -> Option<Order> {
        let mut fields = bytes.strip_suffix(&[0])?.split(|&byte| byte == 0);
        let path = |field: &[u8]| PathBuf::from(OsString::from_vec(field.to_vec()));
        let program = path(fields.next()?);
        let directory = path(fields.next()?);
        let text = String::from_utf8(fields.next()?.to_vec()).ok()?;
        let git = fields.next()? == b"git";
        let settings = fields.next()? == b"settings";
        let environment = fields.map(|field| {
            let at = field.iter().position(|&byte| byte == b'=')?;
            let [name, value] =
                [&field[..at], &field[at + 1..]].map(|part| OsString::from_vec(part.to_vec()));
            Some((name, value))
        });
        let environment = environment.collect::<Option<Vec<_>>>()?;
        Some(Order { program, directory, text, git, settings, environment })
    }
}

/// Sends `bytes` with their length first.
pub(in crate::sandbox) fn send(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    to.write_all(&length.to_ne_bytes())?;
    to.write_all(bytes)
}

/// Receives what [`send`] sent.
pub(in crate::sandbox) fn receive(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_ne_bytes(length);
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
