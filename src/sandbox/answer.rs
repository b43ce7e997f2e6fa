//! A command of the person's settings that prints a key.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::{SandboxError, child};

/// How long such a command may take; it may ask the person for a passphrase.
const LONGEST: Duration = Duration::from_mins(1);

/// Runs `text` with the person's whole environment and returns the first line that it prints.
///
/// It is the person's own command, so it runs unconfined, in a shell that is not of `roots`. It is ended when its time is up.
///
/// # Errors
/// A shell that cannot be started, a command that fails or takes too long, and one that prints
/// nothing. No error holds what it printed.
pub async fn answer(
    text: &str,
    directory: &Path,
    environment: &[(OsString, OsString)],
    roots: &[&Path],
) -> Result<String, SandboxError> {
    let failed = |why: String| SandboxError::Answer { why };
    let mut command = child::new(&child::find_program("sh", environment, roots)?);
    command.arg("-c").arg(text).current_dir(directory).env_clear();
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut command = tokio::process::Command::from(command);
    let output = tokio::time::timeout(LONGEST, command.kill_on_drop(true).output()).await;
    let output = match output {
        Ok(Ok(output)) => output,
        Ok(Err(source)) => return Err(SandboxError::Start { program: "sh".to_owned(), source }),
        Err(_) => return Err(failed(format!("took longer than {} s", LONGEST.as_secs()))),
    };
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    match printed.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned()),
        None => Err(failed("printed nothing".to_owned())),
    }
}
