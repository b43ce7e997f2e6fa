//! How the parts of a command's last pipeline ended, without touching the command's text.
//!
//! bash reads a start-up script from an anonymous file before it reads the command. The script
//! sets an EXIT trap that writes `PIPESTATUS` back into that file, and takes its own trace out
//! of the environment. A command that sets an EXIT trap of its own, ends by `exec` or is killed
//! leaves nothing there, and then nothing is said about its pipeline.

use std::fs::File;
use std::io;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::SeekFrom;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::MemfdFlags;

/// Numbers below are what scripts use for descriptors of their own.
const LOWEST_DESCRIPTOR: i32 = 198;

/// More than any pipeline needs.
const MOST_BYTES: u64 = 4096;

/// The anonymous file that carries the script to the shell and the answer back.
pub(super) struct PipelineWatch {
    file: Arc<File>,
    script_bytes: u64,
}

impl PipelineWatch {
    /// Returns a watch if `command` has a pipeline and can be watched.
    pub(super) fn of(command: &str) -> Option<PipelineWatch> {
        if PipelineWatch::is_for(command) { PipelineWatch::create().ok() } else { None }
    }

    /// Whether `command` has a pipeline and can be watched.
    pub(super) fn is_for(command: &str) -> bool {
        has_pipeline(command) && !echoes_input(command)
    }

    /// Returns a watch for a command that is not known yet.
    pub(super) fn create() -> io::Result<PipelineWatch> {
        let low: OwnedFd = rustix::fs::memfd_create("pipeline", MemfdFlags::CLOEXEC)?;
        let mut file = File::from(rustix::io::fcntl_dupfd_cloexec(low, LOWEST_DESCRIPTOR)?);
        // The braces keep a trace of `set -x` out of the output, too.
        let script = format!(
            "unset BASH_ENV\ntrap '{{ printf \"%s \" \"${{PIPESTATUS[@]}}\" >&{}; }} 2>/dev/null' \
             EXIT\n",
            file.as_raw_fd()
        );
        file.write_all(script.as_bytes())?;
        Ok(PipelineWatch { file: Arc::new(file), script_bytes: script.len() as u64 })
    }

    /// Returns the path by which the shell finds the script.
    pub(super) fn script(&self) -> String {
        format!("/dev/fd/{}", self.file.as_raw_fd())
    }

    /// Returns the file that the shell must inherit under its own number.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Returns the exit codes of the last pipeline; empty where they say nothing about `exit_code`.
    pub(super) fn read(&self, exit_code: i32) -> Vec<i32> {
        let mut file = &*self.file;
        let mut answer = String::new();
        let found = file.seek(SeekFrom::Start(self.script_bytes));
        let read = found.and_then(|_| file.take(MOST_BYTES).read_to_string(&mut answer));
        let codes = answer.split_whitespace().map(str::parse).collect::<Result<Vec<i32>, _>>();
        match (read, codes) {
            (Ok(_), Ok(codes)) if gives(&codes, exit_code) => codes,
            _ => Vec::new(),
        }
    }
}

/// Whether `codes` are a pipeline whose own exit code is `exit_code`, `pipefail` or not.
fn gives(codes: &[i32], exit_code: i32) -> bool {
    let pipefail = codes.iter().rev().find(|&&code| code != 0);
    codes.len() > 1 && (codes.last() == Some(&exit_code) || pipefail == Some(&exit_code))
}

/// Whether `command` has a `|` that is no part of `||`. A quoted one counts, which does no harm.
fn has_pipeline(command: &str) -> bool {
    let mut rest = command;
    while let Some(at) = rest.find('|') {
        match rest[at..].strip_prefix("||") {
            Some(after) => rest = after,
            None => return true,
        }
    }
    false
}

/// Whether `command` may switch on `set -v`, which would print the trap.
fn echoes_input(command: &str) -> bool {
    let flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('v');
    command.contains("verbose")
        || command.split("set ").skip(1).any(|after| after.split_whitespace().take(1).any(flag))
}
