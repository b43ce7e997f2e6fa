//! A host that plays prepared turns and writes down what it was asked for.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use snick::agent::Frontend;
use snick::approval::Asked;
use snick::approval::Decision;
use snick::approval::Effect;
use snick::approval::Mode;
use snick::approval::Verdict;
use snick::event::Event;
use snick::event::Stop;
use snick::frontend::Host;
use snick::frontend::Said;
use snick::frontend::SessionLine;
use snick::frontend::Status;
use snick::message::CallId;
use snick::message::Outcome;
use snick::message::ToolCall;
use snick::provider::Window;
use snick::provider::WindowSource;

/// One thing a prepared turn does.
pub(super) enum Beat {
    Event(Event),
    /// Goes on when the turn is cancelled.
    UntilCancelled,
    /// Goes on when the test lets it.
    UntilTold,
    Ask(Vec<(String, Effect, Verdict)>),
}

/// Turns that are played in order; without any left a turn ends at once.
#[derive(Default)]
pub(super) struct Scripted {
    pub turns: Mutex<VecDeque<(Vec<Beat>, Stop)>>,
    pub told: tokio::sync::Notify,
    /// Every request of the front end, one a line.
    pub log: Mutex<Vec<String>>,
    pub status: Mutex<Status>,
    pub edited: Mutex<Option<String>>,
}

impl Scripted {
    pub(super) fn new(turns: Vec<Vec<Beat>>) -> Scripted {
        let turns = turns.into_iter().map(|beats| (beats, Stop::EndTurn)).collect();
        let status = Status {
            session: "0a1b2c".to_owned(),
            model: "tiny".to_owned(),
            server: "localhost".to_owned(),
            mode: Mode::Ask,
            workspace: "/w".into(),
            start: "/w".into(),
            rung: "none",
            ..Status::default()
        };
        Scripted { turns: Mutex::new(turns), status: Mutex::new(status), ..Scripted::default() }
    }

    pub(super) fn note(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    async fn play(&self, front: Frontend<'_>) -> anyhow::Result<Stop> {
        let (beats, stop) =
            self.turns.lock().unwrap().pop_front().unwrap_or((Vec::new(), Stop::EndTurn));
        front.events.emit(Event::TurnStarted).await;
        let mut stop = stop;
        for beat in beats {
            match beat {
                Beat::Event(event) => front.events.emit(event).await,
                Beat::UntilCancelled => {
                    front.cancel.cancelled().await;
                    stop = Stop::Cancelled;
                }
                Beat::UntilTold => self.told.notified().await,
                Beat::Ask(asked) => {
                    let decisions = self.ask(&asked, front).await;
                    if decisions.contains(&Decision::Reject { words: None }) {
                        stop = Stop::Denied;
                    }
                    if decisions.contains(&Decision::Cancelled) {
                        stop = Stop::Cancelled;
                    }
                }
            }
        }
        let text = String::new();
        let (changed_files, denied_calls) = (Vec::new(), Vec::new());
        front.events.emit(Event::TurnEnded { stop, text, changed_files, denied_calls }).await;
        Ok(stop)
    }

    async fn ask(&self, asked: &[(String, Effect, Verdict)], front: Frontend<'_>) -> Vec<Decision> {
        let ids: Vec<CallId> = (0..asked.len()).map(|index| CallId(index.to_string())).collect();
        let questions: Vec<Asked<'_>> = asked
            .iter()
            .zip(&ids)
            .map(|((title, effect, verdict), call)| Asked { call, title, effect, verdict })
            .collect();
        let decisions = front.approver.decide(&questions).await;
        self.note(format!("decided {decisions:?}"));
        decisions
    }
}

#[async_trait]
impl Host for Scripted {
    async fn turn(&self, prompt: String, front: Frontend<'_>) -> anyhow::Result<Stop> {
        self.note(format!("turn {prompt:?}"));
        self.play(front).await
    }

    async fn go_on(&self, front: Frontend<'_>) -> anyhow::Result<Stop> {
        self.note("go on");
        self.play(front).await
    }

    async fn said(&self) -> Vec<Said> {
        Vec::new()
    }

    fn status(&self) -> Status {
        self.status.lock().unwrap().clone()
    }

    fn set_mode(&self, mode: Mode) {
        self.status.lock().unwrap().mode = mode;
    }

    async fn models(&self) -> anyhow::Result<Vec<String>> {
        Ok(vec!["tiny".to_owned(), "large".to_owned()])
    }

    async fn set_model(&self, name: &str) -> anyhow::Result<()> {
        self.note(format!("model {name}"));
        name.clone_into(&mut self.status.lock().unwrap().model);
        Ok(())
    }

    async fn compact(&self, words: Option<&str>, front: Frontend<'_>) -> anyhow::Result<String> {
        self.note(format!("compact {words:?}"));
        let text = "the older part is being replaced".to_owned();
        front.events.emit(Event::Notice { text }).await;
        if words == Some("wait") {
            front.cancel.cancelled().await;
            return Ok("stopped; nothing was replaced".to_owned());
        }
        Ok("about 9000 tokens of conversation are now about 800".to_owned())
    }

    async fn look_up(&self) {
        let source = WindowSource::Server;
        self.status.lock().unwrap().window = Some(Window { tokens: 131_072, source });
    }

    async fn new_session(&self) -> anyhow::Result<()> {
        self.note("new session");
        Ok(())
    }

    fn sessions(&self) -> anyhow::Result<Vec<SessionLine>> {
        let line = |id: &str, title: &str, age, messages| SessionLine {
            id: id.to_owned(),
            created: String::new(),
            age,
            title: title.to_owned(),
            messages,
        };
        Ok(vec![line("aa", "fix the test", 90, 4), line("bb", "add a flag", 7200, 1)])
    }

    async fn resume(&self, id: &str) -> anyhow::Result<Vec<Said>> {
        self.note(format!("resume {id}"));
        Ok(vec![
            Said::Person("add a flag".to_owned()),
            Said::Call { title: "edit src/cli.rs".to_owned(), done: true },
            Said::Model("Done.".to_owned()),
        ])
    }

    async fn session_diff(&self) -> anyhow::Result<String> {
        Ok("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n".to_owned())
    }

    async fn undo(&self) -> anyhow::Result<String> {
        self.note("undo");
        Ok("took back 1 change: a.txt".to_owned())
    }

    async fn redo(&self) -> anyhow::Result<String> {
        anyhow::bail!("nothing was undone")
    }

    async fn shell(
        &self,
        command: &str,
        hidden: bool,
        front: Frontend<'_>,
    ) -> anyhow::Result<String> {
        self.note(format!("shell {command:?} hidden: {hidden}"));
        if command == "wait" {
            front.cancel.cancelled().await;
            return Ok("[cancelled]".to_owned());
        }
        for delta in ["one\ntw", "o\n"] {
            let call = CallId("shell".to_owned());
            front.events.emit(Event::CallOutput { call, delta: delta.to_owned() }).await;
        }
        Ok("[exit code: 0]".to_owned())
    }

    async fn edit(&self, text: &str, suffix: &str) -> anyhow::Result<String> {
        self.note(format!("edit {text:?} as {suffix}"));
        Ok(self.edited.lock().unwrap().take().unwrap_or_else(|| text.to_owned()))
    }

    async fn complete_files(&self, query: &str) -> Vec<String> {
        let files = ["src/", "src/main.rs", "src/lib.rs", "README.md"];
        files.iter().filter(|file| file.contains(query)).map(|file| (*file).to_owned()).collect()
    }
}

/// Text of the model, in one piece.
pub(super) fn text(delta: &str) -> Beat {
    Beat::Event(Event::Text { delta: delta.to_owned() })
}

/// The start of a call.
pub(super) fn started(id: &str, name: &str, title: &str, effect: &'static str) -> Beat {
    let call =
        ToolCall { id: CallId(id.to_owned()), name: name.to_owned(), arguments: "{}".to_owned() };
    Beat::Event(Event::CallStarted { call, title: title.to_owned(), effect })
}

/// More output of a call.
pub(super) fn output(id: &str, delta: &str) -> Beat {
    let call = CallId(id.to_owned());
    Beat::Event(Event::CallOutput { call, delta: delta.to_owned() })
}

/// The end of a call.
pub(super) fn finished(id: &str, outcome: Outcome) -> Beat {
    Beat::Event(Event::CallFinished { call: CallId(id.to_owned()), outcome })
}
