//! Which rung holds here, tried out and not believed.

use std::ffi::OsString;
use std::io;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use super::super::SandboxError;
use super::super::child;
use super::super::command::End;
use super::policy::{Order, send};
use super::{Sandbox, Told, Wish};
use crate::approval::Rung;

/// How long a trial may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a shell tries. Each line that it prints is something that must not be possible, but the
/// last.
const TRIAL: &str = r#"
try() { (exec 3>>"$1") 2>/dev/null && echo "$1 can be written"; }
try /etc/passwd
(echo >>"$OUTSIDE") 2>/dev/null
(exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null && echo "the network can be reached"
try /tmp/../etc/hosts
(: >"$TMPDIR/trial") 2>/dev/null || echo "the temporary folder cannot be written"
rm -f "$TMPDIR/trial" "$OUTSIDE" 2>/dev/null
echo end
"#;

/// What a trial came to.
pub(super) struct Tested {
    pub(super) rung: Rung,
    /// Why no stronger one.
    pub(super) why: String,
}

/// Tries the rungs, strongest first.
pub(super) fn run(sandbox: &Sandbox) -> Tested {
    let strongest = sandbox.options.strongest;
    if !strongest.confines() {
        return Tested { rung: Rung::None, why: "switched off".to_owned() };
    }
    let mut reasons = Vec::new();
    let rungs = [Rung::Namespaces, Rung::Landlock];
    for rung in rungs.into_iter().skip_while(|&rung| rung != strongest) {
        match trial(sandbox, rung) {
            Ok(()) => return Tested { rung, why: reasons.join("; ") },
            Err(why) => reasons.push(format!("{}: {why}", rung.name())),
        }
    }
    Tested { rung: Rung::None, why: reasons.join("; ") }
}

/// Runs the trial on `rung`; what went wrong.
fn trial(sandbox: &Sandbox, rung: Rung) -> Result<(), String> {
    let said = |error: SandboxError| {
        let error: &dyn std::error::Error = &error;
        match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        }
    };
    let bash = child::find_program("bash", &sandbox.options.environment).map_err(said)?;
    let policy = sandbox.policy(rung, &Wish::default()).map_err(said)?;
    let temporary = policy.temporary.clone();
    // A file of this process's own, beside the private folder.
    let mut outside = temporary.clone();
    outside.push(".trial");
    std::fs::write(&outside, "").map_err(|error| error.to_string())?;
    let inner = if rung == Rung::Namespaces { "/tmp".into() } else { temporary };
    let environment: Vec<(OsString, OsString)> =
        vec![("OUTSIDE".into(), outside.clone()), ("TMPDIR".into(), inner)];
    let order = Order {
        program: bash,
        directory: "/".into(),
        text: TRIAL.to_owned(),
        git: false,
        kept: None,
        environment,
    };
    let result = (|| {
        let mut prepared = sandbox.ready(policy).map_err(said)?;
        send(&prepared.control, &order.encode()).ok();
        let printed = read_all(prepared.output).map_err(|error| error.to_string())?;
        // Its output has ended, so its end is near.
        while prepared.process.try_wait().map_err(|error| error.to_string())?.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Told::new(prepared.control).settle(End::Exited(0), 0).map_err(said)?;
        match printed.trim() {
            // Whatever the shell wrote there, it must not be here.
            "end" if std::fs::metadata(&outside).is_ok_and(|found| found.len() == 0) => Ok(()),
            "end" => Err("a file outside could be written".to_owned()),
            other => Err(other.lines().next().unwrap_or("no output").to_owned()),
        }
    })();
    std::fs::remove_file(outside).ok();
    result
}

/// Reads all that comes out of `output` until it ends.
fn read_all(output: std::os::fd::OwnedFd) -> io::Result<String> {
    let mut text = String::new();
    let mut block = [0; 4096];
    let timeout = Timespec::try_from(PATIENCE).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut file = std::fs::File::from(output);
    loop {
        let mut waiting = [PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)];
        if rustix::event::poll(&mut waiting, Some(&timeout))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match file.read(&mut block) {
            Ok(0) => return Ok(text),
            Ok(length) => text.push_str(&String::from_utf8_lossy(&block[..length])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
