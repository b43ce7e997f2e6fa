//! `snick tool`: one tool, or a batch of calls, exactly as the model would run them.

use std::io::{BufRead as _, Read as _, StdinLock, Write as _};

use anyhow::Context as _;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use super::headless::cancelled_by_signals;
use super::setup::{Setup, UsageError};
use super::{Exit, MOST_STDIN, print, too_much, whole_stdin};
use crate::agent::{Agent, Conversation, Frontend};
use crate::approval::{Approver, Nobody, Yes};
use crate::change::{Change, diff};
use crate::event::{Event, EventSink};
use crate::frontend::diff_view::{self, ViewOptions};
use crate::frontend::style::Line;
use crate::message::{CallId, Message, Outcome, Reply, Status, ToolCall};
use crate::provider::Scripted;
use crate::session::Record;
use crate::workspace::name::shown;

/// One line of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    tool: String,
    #[serde(default)]
    args: Value,
}

/// What a line gives.
#[derive(Serialize)]
struct Answer {
    status: Status,
    ok: bool,
    output: String,
    /// The diff as a person sees it, without colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<String>,
}

/// Runs `asked`, or every line of stdin as a call of one session, until a signal ends it.
pub(super) async fn run(
    setup: Setup,
    yes: bool,
    asked: Option<(String, Option<String>)>,
) -> anyhow::Result<Exit> {
    let cancel = CancellationToken::new();
    tokio::select! {
        // First, so that arguments from stdin are read while a signal still ends the program.
        biased;
        exit = run_calls(setup, yes, asked, &cancel) => exit,
        () = cancelled_by_signals(&cancel) => Ok(Exit::Interrupted),
    }
}

async fn run_calls(
    setup: Setup,
    yes: bool,
    asked: Option<(String, Option<String>)>,
    cancel: &CancellationToken,
) -> anyhow::Result<Exit> {
    let agent = setup.agent(Box::new(Scripted::new([])))?;
    let session = setup.new_session("none")?;
    let mut runner =
        Runner { agent, conversation: Conversation::new(session), yes, calls: 0, left_out: false };
    runner
        .agent
        .workspace
        .set_outputs(runner.conversation.session.folder().map(|folder| folder.join("outputs")));
    match asked {
        Some((name, arguments)) => {
            let arguments = match arguments.as_deref() {
                None => "{}".to_owned(),
                Some("-") => String::from_utf8(whole_stdin()?).context("stdin cannot be read")?,
                Some(text) => text.to_owned(),
            };
            if !runner.agent.tools.iter().any(|(spec, _)| spec.name == name) {
                let names: Vec<String> =
                    runner.agent.tools.iter().map(|(spec, _)| spec.name.clone()).collect();
                let text = format!(
                    "there is no tool `{}`; the tools are: {}",
                    shown(&name),
                    names.join(", ")
                );
                return Err(UsageError(text).into());
            }
            let answer = runner.call(name, arguments, cancel).await?;
            let newline = if answer.output.ends_with('\n') { "" } else { "\n" };
            print(&format!("{}{newline}", answer.output))?;
            Ok(match answer.status {
                Status::Done if runner.left_out => Exit::Denied,
                Status::Done => Exit::Done,
                Status::Failed => Exit::Error,
                Status::Denied => Exit::Denied,
                Status::Cancelled => Exit::Interrupted,
            })
        }
        None => runner.batch(cancel).await,
    }
}

struct Runner {
    agent: Agent,
    conversation: Conversation,
    yes: bool,
    calls: usize,
    /// Whether something that the last command changed was not kept.
    left_out: bool,
}

impl Runner {
    async fn batch(&mut self, cancel: &CancellationToken) -> anyhow::Result<Exit> {
        let mut lines = lines();
        loop {
            let line = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(Exit::Interrupted),
                line = lines.recv() => line,
            };
            let Some(line) = line else { return Ok(Exit::Done) };
            let line = line.context("stdin cannot be read")?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match serde_json::from_slice::<Asked>(&line) {
                Ok(Asked { tool, args }) => {
                    let arguments = match args {
                        Value::Null => String::new(),
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    self.call(tool, arguments, cancel).await?
                }
                Err(error) => Answer {
                    status: Status::Failed,
                    ok: false,
                    output: format!("the line is not {{\"tool\",\"args\"}}: {error}"),
                    display: None,
                },
            };
            let mut out = std::io::stdout().lock();
            serde_json::to_writer(&mut out, &answer)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }

    async fn call(
        &mut self,
        name: String,
        arguments: String,
        cancel: &CancellationToken,
    ) -> anyhow::Result<Answer> {
        self.calls += 1;
        let call = ToolCall { id: CallId(format!("call_{}", self.calls)), name, arguments };
        let reply = Reply::new("", vec![call.clone()]);
        self.conversation.append(Record::Message { message: Message::Assistant(reply) })?;
        let shown = Shown::default();
        let approver: &dyn Approver = if self.yes { &Yes } else { &Nobody };
        let front = Frontend { events: &shown, approver, cancel };
        let performed = self.agent.perform(&mut self.conversation, vec![call], front).await?;
        self.left_out = performed.left_out;
        let shown = shown.0.into_inner();
        let outcome = shown.outcome.context("the call ended without an outcome")?;
        Ok(Answer {
            status: outcome.status,
            ok: outcome.status == Status::Done,
            output: outcome.text,
            display: shown.display,
        })
    }
}

/// Returns the lines of stdin as they come, read beside what is done for a line: a signal is heard
/// meanwhile.
fn lines() -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Some(line) = next_line(&mut input) {
            let is_last = line.is_err();
            // Nobody takes it any more when the program ends.
            if sender.blocking_send(line).is_err() || is_last {
                break;
            }
        }
    });
    lines
}

/// Reads one line, without its end; `None` at the end of all.
fn next_line(input: &mut StdinLock<'_>) -> Option<std::io::Result<Vec<u8>>> {
    let mut line = Vec::new();
    match input.by_ref().take(MOST_STDIN + 1).read_until(b'\n', &mut line) {
        Ok(0) => None,
        Ok(read) if read as u64 > MOST_STDIN => Some(Err(too_much("a line of it"))),
        Ok(_) => {
            line.pop_if(|byte| *byte == b'\n');
            Some(Ok(line))
        }
        Err(error) => Some(Err(error)),
    }
}

/// Keeps what one call came to.
#[derive(Default)]
struct Shown(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    outcome: Option<Outcome>,
    display: Option<String>,
}

#[async_trait]
impl EventSink for Shown {
    async fn emit(&self, event: Event) {
        let mut seen = self.0.lock().await;
        match event {
            Event::CallFinished { outcome, .. } => seen.outcome = Some(outcome),
            Event::Change { change, .. } => seen.display = Some(display(&change)),
            _ => {}
        }
    }
}

/// Returns the diff as a person sees it, without colour.
fn display(change: &Change) -> String {
    let options = ViewOptions { width: None, colour: false, folded: true };
    let lines = diff_view::render(&diff::diff(change), options);
    let lines: Vec<String> = lines.iter().map(Line::text).collect();
    lines.join("\n")
}
