//! The loop where no cursor can be moved: lines are read, text is printed, questions are answered in words.

use std::io;
use std::io::BufRead as _;
use std::io::IsTerminal as _;
use std::io::Read as _;
use std::io::Write;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ExitKind;
use super::ReplOptions;
use super::command::Command;
use super::command::Meaning;
use super::command::meaning;
use super::desk::GoingOn;
use super::dialog::Act;
use super::dialog::Dialog;
use super::editor::Written;
use super::help;
use super::link::Link;
use super::link::Message;
use super::status;
use super::transcript::Transcript;
use crate::agent::Frontend;
use crate::event::Stop;
use crate::frontend::Host;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// Bytes of a line; a longer one is taken in pieces.
const LONGEST: u64 = 1 << 20;
/// Lines read ahead.
const AHEAD: usize = 64;
/// Lines are never broken: whoever reads them breaks them.
const COLUMNS: usize = usize::MAX / 4;

/// Where the lines come from.
#[derive(Debug)]
pub struct Lines {
    pub receiver: mpsc::Receiver<String>,
    /// Whether a person types them, so that prefixes act.
    pub typed: bool,
}

/// Runs on standard input and output until the input ends or the person leaves.
///
/// # Errors
/// The output cannot be written.
pub(super) async fn run(host: &dyn Host, options: ReplOptions) -> anyhow::Result<ExitKind> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    // A blocked read cannot be cancelled: a thread of its own ends with the process.
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = read_line(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let lines = Lines { receiver, typed: io::stdin().is_terminal() };
    run_plain(lines, &mut io::stdout(), host, options).await
}

/// Runs on `lines` and `out`.
///
/// # Errors
/// The output cannot be written.
pub async fn run_plain(
    lines: Lines,
    out: &mut dyn Write,
    host: &dyn Host,
    options: ReplOptions,
) -> anyhow::Result<ExitKind> {
    let transcript = Transcript::new(options.detail, COLUMNS, options.theme);
    let link = Link::default();
    Plain { lines, out, host, link: &link, options, transcript }.run().await
}

struct Plain<'a> {
    lines: Lines,
    out: &'a mut dyn Write,
    host: &'a dyn Host,
    link: &'a Link,
    options: ReplOptions,
    transcript: Transcript,
}

impl Plain<'_> {
    async fn run(mut self) -> anyhow::Result<ExitKind> {
        let said = self.host.said().await;
        self.transcript.said(said);
        self.flush()?;
        let is_open = self.host.status().is_open && self.options.prompt.is_none();
        if is_open && self.agrees(GoingOn::BrokenOff).await? {
            self.turn(None).await?;
        }
        if let Some(prompt) = self.options.prompt.take() {
            self.turn(Some(prompt)).await?;
        }
        loop {
            self.print("\n> ")?;
            let Some(text) = self.lines.receiver.recv().await else {
                self.print("\n")?;
                return Ok(ExitKind::Quit);
            };
            match meaning(&Written { text, typed: self.lines.typed }) {
                Meaning::Nothing => {}
                Meaning::Prompt(prompt) => self.turn(Some(prompt)).await?,
                Meaning::Shell { command, hidden } => self.shell(&command, hidden).await?,
                Meaning::Command(Command::Quit) => return Ok(ExitKind::Quit),
                Meaning::Command(command) => self.command(command).await?,
                Meaning::Mistake(why) => self.note(&why)?,
            }
        }
    }

    /// Runs a turn to its end, and goes on past the request limit as often as it is wanted.
    async fn turn(&mut self, prompt: Option<String>) -> anyhow::Result<()> {
        let mut prompt = prompt;
        loop {
            let (host, link, cancel) = (self.host, self.link, CancellationToken::new());
            let stopper = cancel.clone();
            let words = prompt.take();
            let work = async move {
                let front = Frontend { events: link, approver: link, cancel: &cancel };
                match words {
                    Some(words) => host.turn(words, front).await,
                    None => host.go_on(front).await,
                }
            };
            let stop = self.watch(work, &stopper).await?;
            self.transcript.close_turn();
            self.flush()?;
            match stop {
                Ok(Stop::RequestLimit) if self.agrees(GoingOn::Limit).await? => {}
                Ok(Stop::Repetition) if self.agrees(GoingOn::Repetition).await? => {}
                Ok(_) => return Ok(()),
                Err(error) => return self.note(&format!("{error:#}")),
            }
        }
    }

    /// Asks whether to go on.
    async fn agrees(&mut self, why: GoingOn) -> anyhow::Result<bool> {
        self.print(&format!("{} [y/n] ", why.question()))?;
        let answer = self.lines.receiver.recv().await;
        Ok(matches!(answer.as_deref().map(str::trim), Some("y" | "yes")))
    }

    async fn shell(&mut self, command: &str, hidden: bool) -> anyhow::Result<()> {
        self.transcript.shell_started(command, hidden);
        // The line as typed is on the screen already.
        self.transcript.take_printed();
        let (host, link, cancel) = (self.host, self.link, CancellationToken::new());
        let stopper = cancel.clone();
        let work = async move {
            let front = Frontend { events: link, approver: link, cancel: &cancel };
            host.shell(command, hidden, front).await
        };
        let end = self.watch(work, &stopper).await?;
        self.transcript.shell_ended(&end.unwrap_or_else(|error| format!("{error:#}")));
        self.flush()
    }

    /// Prints what `work` has to say and answers what it asks, until it is done. Ctrl-C stops it.
    async fn watch<T>(
        &mut self,
        work: impl Future<Output = T>,
        stopper: &CancellationToken,
    ) -> anyhow::Result<T> {
        let mut work = std::pin::pin!(work);
        let mut interrupts = interrupts()?;
        loop {
            tokio::select! {
                biased;
                message = self.link.next() => self.message(message, stopper).await?,
                done = &mut work => {
                    while let Some(message) = self.link.take() {
                        self.message(message, stopper).await?;
                    }
                    return Ok(done);
                }
                _ = interrupts.recv() => stopper.cancel(),
            }
        }
    }

    async fn message(
        &mut self,
        message: Message,
        stopper: &CancellationToken,
    ) -> anyhow::Result<()> {
        match message {
            Message::Event(event) => {
                self.transcript.event(event, Instant::now());
                self.flush()
            }
            Message::Question(question) => {
                let view = ViewOptions { width: None, ..self.transcript.view() };
                let (dialog, lines) = Dialog::open(question, view);
                self.transcript.reviewed(dialog.changes());
                self.transcript.diff(lines);
                self.flush()?;
                self.answer(dialog, stopper).await
            }
        }
    }

    /// Asks until there is an answer. The end of the input is a no.
    async fn answer(
        &mut self,
        mut dialog: Dialog,
        stopper: &CancellationToken,
    ) -> anyhow::Result<()> {
        let mut interrupts = interrupts()?;
        let mut words: Option<String> = None;
        loop {
            match &words {
                Some(before) => self.print(before)?,
                None => self.question(&dialog)?,
            }
            let line = tokio::select! {
                line = self.lines.receiver.recv() => line,
                _ = interrupts.recv() => None,
            };
            let Some(line) = line else {
                // Dropping the dialog answers it.
                stopper.cancel();
                return Ok(());
            };
            let act = dialog.typed(&line);
            let act = match act {
                Act::Edit { text, suffix } => dialog.edited(&self.host.edit(&text, &suffix).await?),
                act => act,
            };
            words = None;
            match act {
                Act::Stay => self.transcript.note("that is no answer here; ? explains", Ink::Text),
                Act::Words(before) => words = Some(before),
                Act::Print(lines) => self.transcript.diff(lines),
                Act::Done(unseen) => {
                    self.transcript.diff(unseen);
                    return self.flush();
                }
                // The answer to an edited text is never another edit.
                Act::Edit { .. } => {}
            }
            self.flush()?;
        }
    }

    async fn command(&mut self, command: Command) -> anyhow::Result<()> {
        let host = self.host;
        let text = match command {
            Command::Help | Command::Quit => return self.show(help::commands()),
            Command::Status => {
                host.look_up().await;
                return self.show(status::lines(&host.status()));
            }
            Command::Compact(words) => self.compact(words.as_deref()).await?,
            Command::Resume(Some(id)) => return self.resume(&id).await,
            Command::Model(None) => host.models().await.map(|names| names.join("\n")),
            Command::Model(Some(name)) => {
                host.set_model(&name).await.map(|()| format!("the model is now `{name}`"))
            }
            Command::Mode(mode) => {
                mode.inspect(|mode| host.set_mode(*mode));
                Ok(format!("the mode is `{}`", host.status().mode.name()))
            }
            Command::Rules => Ok(host.rules()),
            Command::New => host.new_session().await.map(|()| "a new session".to_owned()),
            Command::Resume(None) => host.sessions().map(|sessions| {
                let rows = sessions.iter().map(|line| format!("{}  {}\n", line.id, line.title));
                rows.collect::<String>() + "go on with one: /resume ID"
            }),
            Command::Diff => host.session_diff().await,
            Command::Undo => host.undo().await,
            Command::Redo => host.redo().await,
        };
        self.note(&text.unwrap_or_else(|error| format!("{error:#}")))
    }

    async fn compact(&mut self, words: Option<&str>) -> anyhow::Result<anyhow::Result<String>> {
        let (host, link, cancel) = (self.host, self.link, CancellationToken::new());
        let stopper = cancel.clone();
        let work = async move {
            let front = Frontend { events: link, approver: link, cancel: &cancel };
            host.compact(words, front).await
        };
        self.watch(work, &stopper).await
    }

    async fn resume(&mut self, id: &str) -> anyhow::Result<()> {
        match self.host.resume(id).await {
            Ok(said) => self.transcript.said(said),
            Err(error) => self.transcript.note(&format!("{error:#}"), Ink::Error),
        }
        self.flush()
    }

    fn question(&mut self, dialog: &Dialog) -> anyhow::Result<()> {
        let mut text = String::new();
        for line in dialog.lines() {
            text.push_str(&line.draw(self.options.theme));
            text.push('\n');
        }
        self.print(&(text + "> "))
    }

    fn show(&mut self, lines: Vec<Line>) -> anyhow::Result<()> {
        self.transcript.lines(lines);
        self.flush()
    }

    fn note(&mut self, text: &str) -> anyhow::Result<()> {
        self.transcript.note(text, Ink::Text);
        self.flush()
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let mut text = String::new();
        for line in self.transcript.take_printed() {
            text.push_str(&line.draw(self.options.theme));
            text.push('\n');
        }
        self.print(&text)
    }

    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }
}

fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

/// Returns the next line without its end; bytes that are not UTF-8 are replaced.
fn read_line(input: &mut io::StdinLock<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    (read > 0).then(|| text.trim_end_matches(['\n', '\r']).to_owned())
}
