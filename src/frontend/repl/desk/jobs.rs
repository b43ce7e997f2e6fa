//! What runs beside the keys: turns, the person's commands, questions to the server, the editor.

use std::future::Future;
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use super::Desk;
use super::Instant;
use super::questions::GoingOn;
use super::questions::PickFor;
use crate::agent::Frontend;
use crate::event::Stop;
use crate::frontend::Said;
use crate::frontend::repl::complete::Popup;
use crate::frontend::repl::complete::Token;
use crate::frontend::repl::editor::Written;
use crate::frontend::repl::pick::Item;
use crate::frontend::repl::pick::Pick;
use crate::frontend::repl::status;
use crate::frontend::style::Ink;

/// Something that runs, or nothing.
pub(super) type Slot<'a, T> = Option<Pin<Box<dyn Future<Output = T> + 'a>>>;

/// What a job came to.
pub(super) enum Done {
    Turn(anyhow::Result<Stop>),
    Shell(anyhow::Result<String>),
    Models(anyhow::Result<Vec<String>>),
    New(anyhow::Result<()>),
    Resumed(anyhow::Result<Vec<Said>>),
    Said(Vec<Said>),
    /// The model of this name is used from now on.
    Model(String, anyhow::Result<()>),
    Compacted(anyhow::Result<String>),
    /// The status is as true as it gets.
    Status,
    /// A text to show, and what to say when it is empty.
    Text(anyhow::Result<String>, &'static str),
}

/// Whose text is in the external editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditFor {
    Input,
    Dialog,
}

/// Waits for what is in `slot` and empties it; for ever where there is nothing.
///
/// The wait can be given up without losing anything.
pub(super) async fn ready<T>(slot: &mut Slot<'_, T>) -> T {
    match slot {
        Some(future) => {
            let output = future.await;
            *slot = None;
            output
        }
        None => std::future::pending().await,
    }
}

impl<'a> Desk<'a> {
    /// Starts a turn with `prompt`, or goes on with the last one.
    pub(super) fn start_turn(&mut self, prompt: Option<String>) {
        self.going_on = None;
        let (host, link, cancel) = (self.host, self.link, self.new_cancel());
        self.job = Some(Box::pin(async move {
            let front = Frontend { events: link, approver: link, cancel: &cancel };
            Done::Turn(match prompt {
                Some(prompt) => host.turn(prompt, front).await,
                None => host.go_on(front).await,
            })
        }));
    }

    /// Starts the person's own command.
    pub(super) fn start_shell(&mut self, command: String, hidden: bool) {
        self.transcript.shell_started(&command, hidden);
        let (host, link, cancel) = (self.host, self.link, self.new_cancel());
        self.job = Some(Box::pin(async move {
            let front = Frontend { events: link, approver: link, cancel: &cancel };
            Done::Shell(host.shell(&command, hidden, front).await)
        }));
    }

    /// Starts to compact the conversation; `words` say what counts.
    pub(super) fn start_compaction(&mut self, words: Option<String>) {
        let (host, link, cancel) = (self.host, self.link, self.new_cancel());
        self.job = Some(Box::pin(async move {
            let front = Frontend { events: link, approver: link, cancel: &cancel };
            Done::Compacted(host.compact(words.as_deref(), front).await)
        }));
    }

    /// Starts a job that is given up by being dropped: beside a turn where one runs.
    pub(super) fn start(&mut self, job: impl Future<Output = Done> + 'a) {
        let slot = if self.job.is_none() { &mut self.job } else { &mut self.aside };
        *slot = Some(Box::pin(job));
    }

    /// Gives the terminal to the person's editor, with `text` in it.
    pub(super) fn start_edit(&mut self, text: String, suffix: String, edit_for: EditFor) {
        self.give_terminal_away();
        let host = self.host;
        self.edit_for = edit_for;
        self.edit = Some(Box::pin(async move { host.edit(&text, &suffix).await }));
    }

    /// Takes what the person saved in the editor.
    pub(super) fn edited(&mut self, text: anyhow::Result<String>) {
        self.take_terminal();
        self.last_key.at = Instant::now();
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                return self.transcript.note(&format!("{error:#}"), Ink::Error);
            }
        };
        match self.edit_for {
            EditFor::Input => {
                let text = text.trim_end_matches('\n').to_owned();
                // A prefix that stood there before was typed; one that is new may come from anywhere.
                let before = self.editor.written();
                let same = text.chars().next() == before.text.chars().next();
                self.editor.set(&Written { text, typed: before.typed && same });
            }
            EditFor::Dialog => {
                if let Some(dialog) = &mut self.dialog {
                    let act = dialog.edited(&text);
                    self.act(act);
                }
            }
        }
    }

    /// Looks for files that match the token before the cursor.
    pub(super) fn start_completion(&mut self, token: Token) {
        let Token::File { query, .. } = &token else { return };
        let (host, query) = (self.host, query.clone());
        self.completion = Some(Box::pin(async move {
            let found = host.complete_files(&query).await;
            (token, found)
        }));
    }

    /// Shows what was found, if it is still what the person writes.
    pub(super) fn completed(&mut self, token: Token, found: Vec<String>) {
        if Token::find(&self.editor).as_ref() == Some(&token) {
            self.popup = Popup::files(token, found);
        }
    }

    /// Takes what a job came to, and goes on with what was queued.
    pub(super) fn done(&mut self, done: Done) {
        match done {
            Done::Turn(stop) => self.turn_done(stop),
            Done::Shell(end) => {
                let stopped = self.cancel.take().is_some_and(|cancel| cancel.is_cancelled());
                let failed = stopped || end.is_err();
                let end = end.unwrap_or_else(|error| format!("{error:#}"));
                self.transcript.shell_ended(&end);
                if failed {
                    self.take_back_queue();
                }
            }
            Done::Models(models) => self.pick_model(models),
            Done::New(Ok(())) => self.transcript.note("a new session", Ink::Faint),
            Done::Resumed(Ok(said)) => {
                self.transcript.said(said);
                self.transcript.note("— resumed —", Ink::Faint);
                self.offer_if_open();
            }
            Done::New(Err(error)) | Done::Resumed(Err(error)) | Done::Model(_, Err(error)) => {
                self.transcript.note(&format!("{error:#}"), Ink::Error);
            }
            Done::Said(said) => {
                self.transcript.said(said);
                self.offer_if_open();
            }
            Done::Model(name, Ok(())) => {
                self.transcript.note(&format!("the model is now `{name}`"), Ink::Faint);
            }
            Done::Compacted(came_to) => {
                self.cancel = None;
                match came_to {
                    Ok(came_to) => self.transcript.note(&came_to, Ink::Faint),
                    Err(error) => self.transcript.note(&format!("{error:#}"), Ink::Error),
                }
            }
            Done::Status => self.transcript.lines(status::lines(&self.host.status())),
            Done::Text(text, nothing) => self.show(text, nothing),
        }
        self.send_queued();
    }

    /// Sends what was queued, as long as nothing runs and nothing is asked.
    pub(super) fn send_queued(&mut self) {
        while self.job.is_none()
            && self.going_on.is_none()
            && self.pick.is_none()
            && self.leaving.is_none()
        {
            let Some(next) = self.queue.pop_front() else { return };
            self.perform(&next);
        }
    }

    fn turn_done(&mut self, stop: anyhow::Result<Stop>) {
        self.transcript.close_turn();
        self.cancel = None;
        self.dialog = None;
        self.asked.clear();
        self.words = None;
        match stop {
            Ok(Stop::RequestLimit) => self.offer_to_go_on(GoingOn::Limit),
            Ok(Stop::Repetition) => self.offer_to_go_on(GoingOn::Repetition),
            Ok(Stop::Cancelled | Stop::Denied) => self.take_back_queue(),
            Ok(_) => {}
            Err(error) => {
                self.transcript.note(&format!("✗ {error:#}"), Ink::Error);
                self.take_back_queue();
            }
        }
    }

    /// Puts what was queued into the input: the person stopped, and may want to say something else.
    fn take_back_queue(&mut self) {
        let mut waiting: Vec<Written> = self.queue.drain(..).collect();
        if waiting.is_empty() {
            return;
        }
        if !self.editor.is_empty() {
            waiting.push(self.editor.written());
        }
        let typed = waiting.len() == 1 && waiting[0].typed;
        let texts: Vec<String> = waiting.into_iter().map(|written| written.text).collect();
        self.editor.set(&Written { text: texts.join("\n"), typed });
    }

    fn pick_model(&mut self, models: anyhow::Result<Vec<String>>) {
        let models = match models {
            Ok(models) if models.is_empty() => {
                return self.transcript.note("the server lists no models", Ink::Warning);
            }
            Ok(models) => models,
            Err(error) => return self.transcript.note(&format!("{error:#}"), Ink::Error),
        };
        let item = |name: String| Item { value: name.clone(), label: name, about: String::new() };
        let items = models.into_iter().map(item).collect();
        self.pick = Some((Pick::new("Which model?", items), PickFor::Model));
    }

    fn new_cancel(&mut self) -> CancellationToken {
        let cancel = CancellationToken::new();
        self.cancel = Some(cancel.clone());
        cancel
    }
}
