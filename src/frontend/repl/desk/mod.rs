//! The one task that owns keys, screen and the running turn: it waits, takes what happened, draws.

mod commands;
mod draw;
mod input;
mod jobs;
mod questions;

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::jobs::Done;
use self::jobs::EditFor;
use self::jobs::Slot;
pub(super) use self::questions::GoingOn;
use self::questions::PickFor;
use super::ExitKind;
use super::ReplOptions;
use super::complete::Popup;
use super::complete::Token;
use super::dialog::Dialog;
use super::editor::Editor;
use super::editor::Written;
use super::history::History;
use super::keys;
use super::keys::Wish;
use super::link::Link;
use super::link::Message;
use super::link::Question;
use super::pick::Pick;
use super::screen::Screen;
use super::terminal::End;
use super::terminal::Input;
use super::terminal::Size;
use super::terminal::Terminal;
use super::transcript::Transcript;
use crate::frontend::Host;

/// The least time between two pictures of streaming text.
const FRAME: Duration = Duration::from_millis(16);
/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(250);
/// How long a hint stays.
const HINT: Duration = Duration::from_secs(2);
/// How long a turn may take to settle when the program is to end.
const SETTLE: Duration = Duration::from_secs(3);

/// What was waited for.
enum Happened {
    Input(Input),
    Message(Message),
    Done(Done),
    Edited(anyhow::Result<String>),
    Completed(Token, Vec<String>),
    Tick,
}

/// When a key or a paste came last, and whether it answered a question.
struct LastKey {
    at: Instant,
    answered: bool,
}

/// Everything the loop holds.
pub(super) struct Desk<'a> {
    terminal: &'a mut dyn Terminal,
    host: &'a dyn Host,
    link: &'a Link,
    options: ReplOptions,
    screen: Screen,
    size: Size,
    transcript: Transcript,
    editor: Editor,
    history: History,
    /// What was sent while something ran.
    queue: VecDeque<Written>,
    /// What runs: a turn, the person's command, a question to the server.
    job: Slot<'a, Done>,
    /// What was asked of the host while a turn runs.
    aside: Slot<'a, Done>,
    /// Stops it, where it can be stopped.
    cancel: Option<CancellationToken>,
    completion: Slot<'a, (Token, Vec<String>)>,
    popup: Option<Popup>,
    /// The token whose list was closed by hand.
    dismissed: Option<Token>,
    edit: Slot<'a, anyhow::Result<String>>,
    edit_for: EditFor,
    dialog: Option<Dialog>,
    /// Questions behind the open one.
    asked: VecDeque<Question>,
    /// What stands before the words that the dialog waits for.
    words: Option<String>,
    pick: Option<(Pick, PickFor)>,
    /// Why the person is asked whether to go on.
    going_on: Option<GoingOn>,
    search: Option<input::Search>,
    /// Whether the keys are shown.
    panel: bool,
    hint: Option<(String, Instant)>,
    last_key: LastKey,
    interrupted: Option<Instant>,
    drawn: Instant,
    dirty: bool,
    leaving: Option<(ExitKind, Instant)>,
}

impl<'a> Desk<'a> {
    /// Prepares the loop; [`Desk::run`] runs it.
    pub(super) fn new(
        terminal: &'a mut dyn Terminal,
        host: &'a dyn Host,
        link: &'a Link,
        options: ReplOptions,
    ) -> Desk<'a> {
        let (size, now) = (terminal.size(), Instant::now());
        Desk {
            screen: Screen::new(options.theme, size),
            transcript: Transcript::new(
                options.detail,
                size.columns.saturating_sub(1).max(1),
                options.theme,
            ),
            history: History::open(options.history.clone()),
            terminal,
            host,
            link,
            options,
            size,
            editor: Editor::default(),
            queue: VecDeque::new(),
            job: None,
            aside: None,
            cancel: None,
            completion: None,
            popup: None,
            dismissed: None,
            edit: None,
            edit_for: EditFor::Input,
            dialog: None,
            asked: VecDeque::new(),
            words: None,
            pick: None,
            going_on: None,
            search: None,
            panel: false,
            hint: None,
            last_key: LastKey { at: now, answered: false },
            interrupted: None,
            drawn: now,
            dirty: false,
            leaving: None,
        }
    }

    /// Runs until the person leaves.
    pub(super) async fn run(mut self) -> ExitKind {
        self.greet();
        let host = self.host;
        self.start(async { Done::Said(host.said().await) });
        if let Some(text) = self.options.prompt.take() {
            self.submit(Written { text, typed: false });
        }
        loop {
            if let Some((exit, deadline)) = self.leaving
                && (self.job.is_none() || Instant::now() >= deadline)
            {
                self.finish(exit);
                return exit;
            }
            self.draw();
            let happened = self.wait().await;
            self.take(happened).await;
        }
    }

    /// Waits for the next thing. Keys come first, so that they are never late.
    async fn wait(&mut self) -> Happened {
        let away = self.edit.is_some();
        let gone = matches!(self.leaving, Some((ExitKind::Hangup, _)));
        let tick = self.next_tick();
        let Desk { terminal, link, job, aside, completion, edit, .. } = self;
        tokio::select! {
            biased;
            // A terminal that is gone says so again and again.
            input = terminal.next(), if !gone => Happened::Input(input),
            text = jobs::ready(edit) => Happened::Edited(text),
            // While the terminal is away nothing can be shown, and the turn waits.
            message = link.next(), if !away => Happened::Message(message),
            done = jobs::ready(job) => Happened::Done(done),
            done = jobs::ready(aside) => Happened::Done(done),
            (token, found) = jobs::ready(completion) => Happened::Completed(token, found),
            () = until(tick) => Happened::Tick,
        }
    }

    async fn take(&mut self, happened: Happened) {
        let streams = matches!(happened, Happened::Message(_));
        match happened {
            Happened::Input(input) => self.input(input).await,
            Happened::Message(message) => {
                self.message(message);
                self.drain();
            }
            Happened::Done(done) => {
                self.drain();
                self.done(done);
            }
            Happened::Edited(text) => self.edited(text),
            Happened::Completed(token, found) => self.completed(token, found),
            Happened::Tick => {}
        }
        self.dirty = streams;
    }

    /// Takes what else has come, so that it is drawn at once.
    fn drain(&mut self) {
        while let Some(message) = self.link.take() {
            self.message(message);
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Event(event) => self.transcript.event(event, Instant::now()),
            Message::Question(question) => self.ask(question),
        }
    }

    async fn input(&mut self, input: Input) {
        match input {
            Input::Key(key) if keys::wish(key) == Wish::Suspend => self.suspend().await,
            Input::Key(key) => self.key(key),
            Input::Paste(text) => self.paste(&text),
            Input::Resized => self.resized(),
            Input::Continued => {
                self.terminal.give_back();
                self.take_terminal();
            }
            Input::End(End::Terminated) => self.leave(ExitKind::Terminated),
            Input::End(End::Hangup) => self.leave(ExitKind::Hangup),
        }
    }

    /// Takes the terminal again after it was with others. One that is gone ends the program.
    fn take_terminal(&mut self) {
        if self.terminal.take().is_err() {
            self.leave(ExitKind::Hangup);
        }
        self.screen.forget();
        self.resized();
    }

    fn resized(&mut self) {
        self.size = self.terminal.size();
        self.screen.resize(self.size);
        let columns = self.columns();
        self.transcript.resize(columns);
        if let Some(dialog) = &mut self.dialog {
            dialog.resize(columns);
        }
    }

    /// Returns the columns that lines may take: the last one stays free.
    fn columns(&self) -> usize {
        self.size.columns.saturating_sub(1).max(1)
    }

    /// Ends the program, once what runs has settled. Asked again, it does not wait.
    fn leave(&mut self, exit: ExitKind) {
        let now = Instant::now();
        let deadline = match self.leaving {
            // A terminal that goes as well is no second wish.
            Some((_, deadline)) if exit == ExitKind::Hangup => deadline,
            Some(_) => now,
            None => now + SETTLE,
        };
        self.leaving = Some((exit, deadline));
        self.stop();
    }

    /// Stops what runs.
    fn stop(&mut self) {
        match &self.cancel {
            Some(cancel) => cancel.cancel(),
            // A question to the server leaves nothing behind.
            None => self.job = None,
        }
        // Questions that stand are answered by being dropped.
        self.dialog = None;
        self.asked.clear();
        self.words = None;
        self.going_on = None;
    }

    fn hint(&mut self, text: &str) {
        self.hint = Some((text.to_owned(), Instant::now() + HINT));
    }

    /// Returns when something is to be drawn though nothing happens.
    fn next_tick(&self) -> Option<Instant> {
        let leaving = self.leaving.as_ref().map(|(_, deadline)| *deadline);
        if self.edit.is_some() {
            return leaving;
        }
        let soon = self.dirty.then(|| self.drawn + FRAME);
        let moves = self.transcript.moves() || self.job.is_some();
        let tick = moves.then(|| self.drawn + TICK);
        let hint = self.hint.as_ref().map(|(_, until)| *until);
        [soon, tick, hint, leaving].into_iter().flatten().min()
    }
}

async fn until(tick: Option<Instant>) {
    match tick {
        Some(tick) => tokio::time::sleep_until(tick).await,
        None => std::future::pending().await,
    }
}
