//! One `bash -c`, from start to end: its output as one stream, its time, and nothing left of it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::child;
use super::child::Running;
use super::confine::{Aftermath, Guarded, Sandbox, Wish};
use super::flood::FloodWatch;
use super::limits::{self, Excess, Limits};

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// How long what is left in the background may still end by itself, once the shell has ended.
const DRAIN: Duration = Duration::from_millis(250);

/// How long processes may take to end after `TERM`.
const GRACE: Duration = Duration::from_secs(1);

/// How many blocks are read between two looks at the processes: more than a pipe holds.
const BLOCKS: usize = 32;

/// How long to wait between two rounds of `KILL`.
const ROUND: Duration = Duration::from_millis(20);

/// How long after `KILL` none of the processes may have ended. What is killed needs the processor
/// once more to end, for which thousands wait in turn on a busy machine.
const KILLED: Duration = Duration::from_secs(5);

/// How long it is tried as long as some end, or they make others meanwhile.
const OUTRUN: Duration = Duration::from_secs(30);

/// A command as bash gets it.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    pub text: &'a str,
    pub directory: &'a Path,
    /// The whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// The folders of the workspace, from which no shell is taken.
    pub roots: &'a [&'a Path],
    /// How long the shell may run; `None` for as long as it likes.
    pub timeout: Option<Duration>,
    /// The most bytes of memory for all that it starts; `None` for three quarters of the machine's.
    pub most_memory: Option<u64>,
    /// What confines it, and how; `None` for nothing.
    pub confined: Option<(&'a Sandbox, &'a Wish)>,
}

/// Takes the output of a command, both streams as one, in the order of writing.
#[async_trait]
pub trait OutputReceiver: Send {
    /// Takes the next bytes. The command is read no further until this returns.
    async fn receive(&mut self, bytes: &[u8]);
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub end: End,
    /// Exit codes of the last pipeline's parts, where it had several and they are known.
    pub pipeline: Vec<i32>,
    /// How many processes were still running when the shell had ended by itself, and were ended.
    pub ended: usize,
    /// How many processes even `KILL` did not end in time.
    pub stuck: usize,
    /// What it did to protected names, and what became of that.
    pub guarded: Vec<Guarded>,
}

/// Why the shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    /// Killed by the signal with this number.
    Signalled(i32),
    TimedOut,
    Cancelled,
    /// It took too much of the machine, so everything was ended.
    Exceeded(Excess),
}

/// Runs `command` until its shell ends, its time is up or `cancel` is cancelled.
///
/// However it ends, also when the future is dropped, nothing that it started is left running.
pub async fn run(
    command: &Command<'_>,
    output: &mut dyn OutputReceiver,
    cancel: &CancellationToken,
) -> Result<Finished, SandboxError> {
    let mut run = Run::start(command)?;
    let end = run.until_end(output, cancel).await?;
    let (ended, stuck) = match end {
        End::Exited(_) | End::Signalled(_) => run.clear(output).await,
        End::TimedOut | End::Cancelled => (0, run.stop(output).await),
        End::Exceeded(_) => (0, run.kill(output).await),
    };
    run.settled = true;
    let (end, ended) = match &mut run.parts.told {
        Some(told) => told.settle(end, ended)?,
        None => (end, ended),
    };
    let pipeline = match (end, &run.parts.pipeline) {
        (End::Exited(code), Some(pipeline)) => pipeline.read(code),
        _ => Vec::new(),
    };
    let guarded = run.parts.aftermath.take().map(Aftermath::settle).unwrap_or_default();
    Ok(Finished { end, pipeline, ended, stuck, guarded })
}

/// A command in progress. Dropped before it is settled, it ends everything at once.
struct Run {
    parts: Running,
    limits: Limits,
    /// Where it has lasted long enough for that.
    flood: Option<FloodWatch>,
    /// When its time is up.
    deadline: Option<Instant>,
    buffer: Vec<u8>,
    /// Whether the pipe may still give something.
    open: bool,
    settled: bool,
}

impl Run {
    fn start(command: &Command<'_>) -> Result<Run, SandboxError> {
        let parts = child::start(command)?;
        let places: Vec<&Path> = parts.places.iter().map(PathBuf::as_path).collect();
        let limits = Limits::now(command.most_memory, &places);
        Ok(Run {
            parts,
            limits,
            flood: None,
            deadline: command.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            buffer: vec![0; BLOCK],
            open: true,
            settled: false,
        })
    }

    /// Passes output on until the shell ends, the time is up or it is cancelled.
    async fn until_end(
        &mut self,
        output: &mut dyn OutputReceiver,
        cancel: &CancellationToken,
    ) -> Result<End, SandboxError> {
        let deadline = self.deadline;
        let time_is_up = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now));
        tokio::pin!(time_is_up);
        let mut look =
            tokio::time::interval_at(Instant::now() + limits::INTERVAL, limits::INTERVAL);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(End::Cancelled),
                () = &mut time_is_up, if deadline.is_some() => return Ok(End::TimedOut),
                _ = look.tick() => {
                    if let Some(excess) = self.excess() {
                        return Ok(End::Exceeded(excess));
                    }
                }
                status = self.parts.child.wait() => return self.reaped(status),
                ready = self.parts.output.readable(), if self.open => {
                    self.open = ready.is_ok();
                    self.read(output).await;
                    // Where there is always more, nobody would look at the clock or hear of keys.
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Returns what it has too much of.
    fn excess(&mut self) -> Option<Excess> {
        if self.flood.is_none() {
            let apart = self.parts.descendants.apart();
            let deadline = self.deadline.map(Instant::into_std);
            let start = |apart| FloodWatch::start(apart, self.limits.tasks(), deadline);
            self.flood = apart.and_then(start);
        }
        let flood = self.flood.as_ref().and_then(FloodWatch::found).map(Excess::Processes);
        flood.or_else(|| self.limits.excess(&self.parts.descendants))
    }

    fn reaped(&mut self, status: io::Result<ExitStatus>) -> Result<End, SandboxError> {
        let lost = |source| SandboxError::Watch { program: "bash".to_owned(), source };
        let status = status.map_err(lost)?;
        self.parts.descendants.shell_reaped();
        if let Some(count) = self.flood.as_ref().and_then(FloodWatch::found) {
            return Ok(End::Exceeded(Excess::Processes(count)));
        }
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, Some(signal)) => End::Signalled(signal),
            (None, None) => End::Exited(-1),
        })
    }

    /// Passes on what the pipe is known to hold, at most one block; whether there may be more.
    async fn read(&mut self, output: &mut dyn OutputReceiver) -> bool {
        let read = self.parts.output.try_read(&mut self.buffer);
        self.take(read, output).await
    }

    /// Does the same with what the pipe holds now, whether or not the runtime has heard of it.
    async fn read_now(&mut self, output: &mut dyn OutputReceiver) -> bool {
        let read = rustix::io::read(&self.parts.output, self.buffer.as_mut_slice());
        self.take(read.map_err(io::Error::from), output).await
    }

    async fn take(&mut self, read: io::Result<usize>, output: &mut dyn OutputReceiver) -> bool {
        match read {
            Ok(length) if length > 0 => {
                output.receive(&self.buffer[..length]).await;
                return true;
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Ok(_) | Err(_) => self.open = false,
        }
        false
    }

    /// Waits a little for what the shell left behind, then ends it. Returns how many were ended,
    /// and how many could not be.
    async fn clear(&mut self, output: &mut dyn OutputReceiver) -> (usize, usize) {
        if self.gone(DRAIN, output).await {
            return (0, 0);
        }
        match self.parts.descendants.living().len() {
            // Something that the command did not start holds the pipe: let it.
            0 => (0, 0),
            left => (left, self.stop(output).await),
        }
    }

    /// Ends everything, shell and all, the polite way first. Returns how many could not be.
    async fn stop(&mut self, output: &mut dyn OutputReceiver) -> usize {
        if !self.limits.has_many_processes() {
            self.parts.descendants.ask_to_end();
            if self.gone(GRACE, output).await {
                return 0;
            }
        }
        self.kill(output).await
    }

    /// Ends everything at once. Returns how many could not be.
    async fn kill(&mut self, output: &mut dyn OutputReceiver) -> usize {
        let start = Instant::now();
        let (mut fewest, mut progress) = (usize::MAX, start);
        loop {
            let is_outrun = self.parts.descendants.kill();
            self.gone(ROUND, output).await;
            let left = self.parts.descendants.living().len();
            if left < fewest || is_outrun {
                (fewest, progress) = (left, Instant::now());
            }
            if left == 0 || progress.elapsed() >= KILLED || start.elapsed() >= OUTRUN {
                return left;
            }
        }
    }

    /// Passes output on until nothing is left of the command; whether that came within `limit`,
    /// and nothing holds the pipe either.
    async fn gone(&mut self, limit: Duration, output: &mut dyn OutputReceiver) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            // The end of the shell is often seen before the runtime hears that the pipe closed;
            // asking the pipe itself saves waiting for that.
            for _ in 0..BLOCKS {
                if !self.open || !self.read_now(output).await {
                    break;
                }
            }
            if let Ok(Some(status)) = self.parts.child.try_wait() {
                // After the first time this gives the same status again.
                self.reaped(Ok(status)).ok();
            }
            if !self.open && self.parts.descendants.living().is_empty() {
                return true;
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            tokio::select! {
                () = tokio::time::sleep(pause.min(left)) => pause *= 2,
                ready = self.parts.output.readable(), if self.open => {
                    self.open = ready.is_ok();
                    self.read(output).await;
                }
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let start = std::time::Instant::now();
        while !self.settled && start.elapsed() < Duration::from_millis(100) {
            self.parts.descendants.kill();
            if let Ok(Some(status)) = self.parts.child.try_wait() {
                self.reaped(Ok(status)).ok();
            }
            self.settled = self.parts.descendants.living().is_empty();
            if !self.settled {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // What the command did by now is looked at all the same.
        if let Some(aftermath) = self.parts.aftermath.take() {
            aftermath.settle_untold();
        }
    }
}
