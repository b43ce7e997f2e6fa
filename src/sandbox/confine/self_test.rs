//! Which rung holds here, tried out and not believed.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use super::super::SandboxError;
use super::super::child;
use super::super::command::End;
use super::policy::{Order, send};
use super::{Helper, Sandbox, SandboxOptions, Told, Wish, system};
use crate::approval::{Barred, Rung};

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
pub(super) fn run(sandbox: &Sandbox, wish: &Wish) -> Tested {
    let strongest = sandbox.options.strongest;
    if !strongest.confines() {
        return Tested { rung: Rung::None, why: "switched off".to_owned() };
    }
    let mut reasons = Vec::new();
    let rungs = [Rung::Namespaces, Rung::Bubblewrap, Rung::Landlock];
    for rung in rungs.into_iter().skip_while(|&rung| rung != strongest) {
        match trial(sandbox, rung, wish) {
            Ok(()) => return Tested { rung, why: reasons.join("; ") },
            // A repository is not to choose a weaker rung.
            Err(why) if rung != Rung::Landlock && holds_elsewhere(sandbox, rung) => {
                reasons.push(format!("{}, for what is in the workspace: {why}", rung.name()));
                break;
            }
            Err(why) => reasons.push(format!("{}: {why}", rung.name())),
        }
    }
    Tested { rung: Rung::None, why: reasons.join("; ") }
}

/// Whether `rung`, which fails, holds in a workspace where nothing is.
fn holds_elsewhere(sandbox: &Sandbox, rung: Rung) -> bool {
    let Ok(folder) = sandbox.temporary().map(|folder| folder.join("empty")) else { return false };
    let made = DirBuilder::new().mode(0o700).create(&folder).is_ok();
    let options = SandboxOptions { roots: vec![folder.clone()], ..sandbox.options.clone() };
    let holds = made && trial(&Sandbox::new(options), rung, &Wish::default()).is_ok();
    std::fs::remove_dir(folder).ok();
    holds
}

fn said(error: &SandboxError) -> String {
    let error: &dyn std::error::Error = error;
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// What a shell tries in a copy-on-write view, in each of the folders that it is given.
const VIEW_TRIAL: &str = r#"
for root in "${ROOTS[@]}"; do (: >"$root/$NAME") 2>/dev/null || echo "$root cannot be written"; done
echo end
"#;

/// Tries a copy-on-write view of all roots: what is written must be found in it and nowhere else.
pub(super) fn view(sandbox: &Sandbox) -> Result<(), String> {
    let bash = child::find_program("bash", &sandbox.options.environment, &sandbox.roots());
    let bash = bash.map_err(|error| said(&error))?;
    let wish = Wish { view: true, ..Wish::default() };
    let policy = sandbox.policy(Rung::Namespaces, &wish).map_err(|error| said(&error))?;
    let random = system::random().map_err(|error| error.to_string())?;
    let name = format!(".snick-trial-{:016x}", u64::from_ne_bytes(random));
    let roots = policy.roots.iter().map(|root| quoted(root)).collect::<Vec<String>>().join(" ");
    let order = Order {
        program: bash,
        directory: "/".into(),
        text: format!("ROOTS=({roots})\n{VIEW_TRIAL}"),
        git: false,
        settings: false,
        environment: vec![("NAME".into(), name.clone().into())],
    };
    let mut helper = sandbox.helper(&policy, None).map_err(|error| said(&error))?;
    let view = helper.view.take();
    match finished(helper, &order)?.trim() {
        "end" => {}
        other => return Err(other.lines().next().unwrap_or("no output").to_owned()),
    }
    for layer in view.iter().flat_map(|view| &view.layers) {
        if layer.root.join(&name).symlink_metadata().is_ok() {
            std::fs::remove_file(layer.root.join(&name)).ok();
            return Err("what was written came through".to_owned());
        }
        if layer.upper.join(&name).symlink_metadata().is_err() {
            return Err("what was written is not found again".to_owned());
        }
    }
    Ok(())
}

/// Returns `path` as one word of a shell.
fn quoted(path: &std::ffi::OsStr) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// Gives a helper its order and returns what the shell printed, when all of it has ended.
fn finished(mut helper: Helper, order: &Order) -> Result<String, String> {
    send(&helper.control, &order.encode()).ok();
    let printed = read_all(helper.output).map_err(|error| error.to_string())?;
    // Its output has ended, so its end is near.
    while helper.process.try_wait().map_err(|error| error.to_string())?.is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // A program between may have printed why it did not come so far.
    let first = printed.lines().next().map(|line| format!(" ({line})")).unwrap_or_default();
    let told = Told::new(helper.control).settle(End::Exited(0), 0);
    told.map_err(|error| format!("{}{first}", said(&error)))?;
    Ok(printed)
}

/// Runs the trial on `rung`; what went wrong.
fn trial(sandbox: &Sandbox, rung: Rung, wish: &Wish) -> Result<(), String> {
    let bash = child::find_program("bash", &sandbox.options.environment, &sandbox.roots());
    let bash = bash.map_err(|error| said(&error))?;
    own_folders(&sandbox.options, rung)?;
    let barred = Barred::default();
    let wish = Wish { network: false, view: false, barred, ..wish.clone() };
    let policy = sandbox.policy(rung, &wish).map_err(|error| said(&error))?;
    let temporary = policy.temporary.clone();
    // A file of this process's own, beside the private folder.
    let mut outside = temporary.clone();
    outside.push(".trial");
    std::fs::write(&outside, "").map_err(|error| error.to_string())?;
    let inner = if rung == Rung::Landlock { temporary } else { "/tmp".into() };
    let environment: Vec<(OsString, OsString)> =
        vec![("OUTSIDE".into(), outside.clone()), ("TMPDIR".into(), inner)];
    let order = Order {
        program: bash,
        directory: "/".into(),
        text: TRIAL.to_owned(),
        git: false,
        settings: false,
        environment,
    };
    let result = (|| {
        let helper = sandbox.helper(&policy, None).map_err(|error| said(&error))?;
        match finished(helper, &order)?.trim() {
            // Whatever the shell wrote there, it must not be here.
            "end" if std::fs::metadata(&outside).is_ok_and(|found| found.len() == 0) => Ok(()),
            "end" => Err("a file outside could be written".to_owned()),
            other => Err(other.lines().next().unwrap_or("no output").to_owned()),
        }
    })();
    std::fs::remove_file(outside).ok();
    result
}

/// Makes sure that Snick's own folders can be shut away where they lie in what commands may change.
fn own_folders(options: &SandboxOptions, rung: Rung) -> Result<(), String> {
    let is_within = |path: &Path| options.roots.iter().any(|root| path.starts_with(root));
    for folder in with_targets(&options.private).iter().filter(|folder| is_within(folder)) {
        if rung == Rung::Landlock {
            let text = "it cannot keep commands from Snick's own folder";
            return Err(format!("{text} `{}`, which lies in the workspace", folder.display()));
        }
        // Only what is there can be covered.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        if made.is_err() || folder.canonicalize().ok().as_ref() != Some(folder) {
            let text = "Snick's own folder cannot be shut away, since it is none or behind a link";
            return Err(format!("{text}: `{}`", folder.display()));
        }
    }
    Ok(())
}

/// Returns `folders`, and where links at or on the way to them lead, without those that lie in
/// another: around these the other would be shown again.
pub(super) fn with_targets(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = folders.to_vec();
    all.extend(folders.iter().filter_map(|folder| folder.canonicalize().ok()));
    all.sort();
    // What lies in a folder comes right after it.
    all.dedup_by(|folder, before| folder.starts_with(before));
    all
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
