//! `bash`: runs a command and tells what came of it.

mod capture;
mod report;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{self, Access, Effect, Execute, Grant, Named, ReadOnly};
use crate::sandbox;
use crate::sandbox::{Command, End};
use crate::workspace::{Located, Place, Workspace, credentials};

use capture::Capture;
pub(super) use report::exceeded;

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
        let effect = Effect::Execute(command_of(command, access, cx.workspace));
        Ok(Prepared { title, effect, action: Box::new(RunCommand { timeout }) })
    }
}

/// Finds out where the paths lead that `command` names: a path that leads nowhere harms nobody.
pub fn command_of(
    command: String,
    access: Option<(Access, String)>,
    workspace: &Workspace,
) -> Execute {
    let named = Named::parse(&command);
    // A command that changes its folder may mean a path from there.
    let folders: Vec<PathBuf> =
        named.folders.iter().map(|folder| workspace.start().join(folder)).collect();
    let places = |paths: &[String]| -> Vec<Located> {
        let places = paths.iter().flat_map(|path| {
            let here = workspace.locate_to_read(path).ok();
            let there = folders.iter().map(move |folder| folder.join(path));
            here.into_iter().chain(there.filter_map(|path| workspace.locate_path(&path).ok()))
        });
        places.collect()
    };
    let here = |path: &str| workspace.locate_path(Path::new(path)).ok();
    let (mut reads, mut through): (Vec<Located>, Vec<Located>) = (Vec::new(), Vec::new());
    if let Some(listed) = ReadOnly::parse(&command) {
        reads.extend(listed.paths.iter().filter_map(|path| here(path)));
        let folders =
            listed.through.iter().filter_map(|(path, hidden)| Some((here(path)?, *hidden)));
        let folders: Vec<_> = folders.collect();
        through.extend(folders.iter().map(|(at, _)| at.clone()));
        let kept =
            folders.into_iter().filter_map(|(at, hidden)| credentials::beneath(at.path(), hidden));
        reads.extend(kept.filter_map(|path| workspace.locate_path(&path).ok()));
    }
    reads.extend(places(&named.reads));
    let overwrites = named.moves.iter().any(|(sources, target)| {
        let target = places(std::slice::from_ref(target));
        target.iter().any(|at| workspace.loses(at, sources))
    });
    let (words, writes) = (places(&named.words), places(&named.writes));
    through.extend(places(&named.through));
    let mut changes = places(&named.changes);
    for (sources, target) in &named.placed {
        let folders: Vec<Located> = places(std::slice::from_ref(target));
        for folder in folders.iter().filter(|folder| folder.path().is_dir()) {
            let files = sources.iter().filter_map(|source| Path::new(source).file_name());
            let inside =
                files.filter_map(|name| workspace.locate_path(&folder.path().join(name)).ok());
            changes.extend(inside);
        }
    }
    let unknown = if named.programs.is_empty() {
        None
    } else {
        let made: Vec<Located> = places(&named.made).into_iter().chain(writes.clone()).collect();
        let programs = places(&named.programs);
        let mut programs = programs.into_iter();
        programs.find(|at| may_be_any(at, &made, workspace)).map(Box::new)
    };
    let named: Vec<Located> = words.into_iter().chain(reads.iter().cloned()).collect();
    let shut = named.iter().find(|at| workspace.shuts(at)).map(|at| at.shown().to_owned());
    Execute {
        command,
        access,
        reads,
        through: through.into(),
        named,
        writes: writes.into(),
        changes: changes.into(),
        overwrites,
        unknown,
        shut,
        ..Execute::default()
    }
}

/// Whether the program at `at`, named by a path of the workspace, may be any of the machine's: scripts
/// are what they are.
fn may_be_any(at: &Located, made: &[Located], workspace: &Workspace) -> bool {
    let is_of_workspace = workspace.roots().any(|root| at.written().starts_with(root));
    let is_made = || made.iter().any(|made| made.path() == at.path());
    let is_script = || at.place() == Place::Workspace && workspace.begins_as_text(at);
    is_of_workspace && (is_made() || !is_script())
}

/// Reads a time limit as the model wrote it.
fn seconds(timeout: f64) -> Result<Duration, ToolError> {
    let wrong =
        |what: &str| ToolError::Failed(format!("`timeout` is {timeout}; {what}. Nothing was run"));
    if timeout.is_nan() || timeout <= 0.0 {
        return Err(wrong("it must be seconds above 0"));
    }
    Duration::try_from_secs_f64(timeout)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| wrong(if timeout < 1.0 { "it is too small" } else { "it is too large" }))
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
        // What runs unasked by its name must be the machine's program of that name.
        let programs = approval::programs_by_name(&execute);
        let environment = if programs.is_empty() {
            Cow::Borrowed(cx.commands.environment.as_slice())
        } else {
            let found: Vec<&str> =
                ["bash"].into_iter().chain(programs.iter().map(String::as_str)).collect();
            sandbox::without_planted(&cx.commands.environment, &found, &roots)
        };
        let command = Command {
            text: &execute.command,
            directory: cx.workspace.start(),
            environment: &environment,
            roots: &roots,
            timeout: Some(timeout),
            most_memory: cx.commands.most_memory,
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
            End::Exited(_) | End::Signalled(_) | End::TimedOut | End::Exceeded(_) => {
                Ok(Output { text, ..Output::default() })
            }
        }
    }
}
