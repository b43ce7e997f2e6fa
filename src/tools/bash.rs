//! `bash`: runs a command and tells what came of it.

mod capture;
mod report;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Access, Effect, Execute, Grant, ReadOnly};
use crate::sandbox;
use crate::sandbox::{Command, End};
use crate::workspace::{Located, Workspace};

use capture::Capture;

/// How much of a command its title shows.
const TITLE_CHARACTERS: usize = 100;

/// The tool of `tools/bash.json`.
pub struct Bash;

/// The arguments as the model sends them.
#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout: Option<f64>,
    access: Option<Access>,
    why: Option<String>,
}

#[async_trait]
impl Tool for Bash {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let Arguments { command, timeout, access, why } = arguments::parse(cx.spec, arguments)?;
        if command.trim().is_empty() {
            return Err(ToolError::Failed("`command` is empty; nothing was run".to_owned()));
        }
        if command.contains('\0') {
            let text = "`command` holds a NUL character, which bash cannot take; nothing was run";
            return Err(ToolError::Failed(text.to_owned()));
        }
        let timeout = timeout.map(seconds).transpose()?;
        let access = match (access, why.filter(|why| !why.trim().is_empty())) {
            (Some(access), Some(why)) => Some((access, why)),
            (Some(_), None) => {
                let text = "`access` needs `why`: the reason, for the person who is asked";
                return Err(ToolError::Failed(text.to_owned()));
            }
            (None, _) => None,
        };
        let title = title(&command);
        let reads = reads(&command, cx.workspace);
        let effect = Effect::Execute(Execute { command, access, reads });
        Ok(Prepared { title, effect, action: Box::new(RunCommand { timeout }) })
    }
}

/// Returns where the paths of a read-only command lead; nothing for other commands.
fn reads(command: &str, workspace: &Workspace) -> Vec<Located> {
    let paths = ReadOnly::parse(command).map_or(Vec::new(), |command| command.paths);
    // A path that leads nowhere is read by nobody.
    paths.iter().filter_map(|path| workspace.locate_path(Path::new(path)).ok()).collect()
}

/// Reads a time limit as the model wrote it.
fn seconds(timeout: f64) -> Result<Duration, ToolError> {
    let duration = Duration::try_from_secs_f64(timeout).ok().filter(|time| !time.is_zero());
    duration.ok_or_else(|| {
        ToolError::Failed(format!("`timeout` is {timeout}; it must be seconds above 0"))
    })
}

/// Returns a short line for people.
fn title(command: &str) -> String {
    let mut lines = command.trim().lines();
    let first = lines.next().unwrap_or_default();
    let short: String = first.chars().take(TITLE_CHARACTERS).collect();
    let more = if short.len() < first.len() || lines.next().is_some() { " ..." } else { "" };
    format!("run {short}{more}")
}

/// A command that may run. Its text is the grant's: the person may have changed it.
struct RunCommand {
    timeout: Option<Duration>,
}

#[async_trait]
impl Action for RunCommand {
    async fn run(self: Box<Self>, grant: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let Grant::Execute(execute) = grant else {
            let text = "the grant is of another kind than the call; nothing was run";
            return Err(ToolError::Failed(text.to_owned()));
        };
        let most = Duration::from_secs(cx.commands.max_timeout);
        let default = Duration::from_secs(cx.commands.default_timeout);
        let timeout = self.timeout.unwrap_or(default).min(most);
        let roots: Vec<&Path> = cx.workspace.roots().collect();
        let environment = match ReadOnly::parse(&execute.command) {
            // It may run unasked, so it is the machine's program that must run.
            Some(command) => {
                let programs = ["bash", command.program];
                sandbox::without_planted(&cx.commands.environment, programs, &roots)
            }
            None => Cow::Borrowed(cx.commands.environment.as_slice()),
        };
        let command = Command {
            text: &execute.command,
            directory: cx.workspace.start(),
            environment: &environment,
            timeout: Some(timeout),
            confined: cx.commands.sandbox.as_deref().zip(cx.wish),
        };
        if let Some(sandbox) = &cx.commands.sandbox {
            sandbox.guard();
        }
        let mut capture = Capture::new(cx);
        let screen = capture.screen();
        let run = async {
            let finished = sandbox::run(&command, &mut capture, cx.cancel).await;
            let captured = capture.finish().await;
            screen.close();
            (finished, captured)
        };
        let ((finished, captured), ()) = tokio::join!(run, screen.show(cx.events, cx.call));
        let finished = finished.map_err(|error| {
            ToolError::Failed(format!("{}; nothing was run", report::chain(&error)))
        })?;
        let limit = report::Limit { timeout, most };
        let text =
            report::text(captured, &finished, &limit, command.confined.map(|(_, wish)| wish));
        match finished.end {
            End::Cancelled => Err(ToolError::Cancelled(text)),
            End::Exited(_) | End::Signalled(_) | End::TimedOut => {
                Ok(Output { text, ..Output::default() })
            }
        }
    }
}
