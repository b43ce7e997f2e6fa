//! A small workspace with a scripted model and prepared answers, and the log it gives.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use snick::agent::{
    AfterEdits, Agent, Conversation, Frontend, Leads, Options, Patience, TurnEnd, TurnError,
};
use snick::approval::{Approver, Asked, Decision, Ground, Mode, Policy};
use snick::event::Recorded;
use snick::index::Index;
use snick::message::{CallId, Message, Reply, ToolCall};
use snick::provider::Scripted;
use snick::session::{Header, Prefix, Record, Session};
use snick::tools::{self, CommandOptions};
use snick::workspace::{self, Workspace};

/// Something done when a question is asked, before it is answered.
type Meanwhile = Box<dyn FnMut(&[Asked<'_>]) + Send>;

/// A workspace in a temporary folder, and everything a turn needs.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) agent: Agent,
    pub(crate) conversation: Conversation,
    pub(crate) events: Recorded,
    pub(crate) answers: Answers,
    pub(crate) cancel: CancellationToken,
    scripted: Arc<Scripted>,
}

/// Answers questions with prepared decisions; says nobody is there when they run out.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) decisions: Mutex<VecDeque<Decision>>,
    /// Titles of what was asked, one line a question batch.
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
}

#[async_trait]
impl Approver for Answers {
    async fn decide(&self, asked: &[Asked<'_>]) -> Vec<Decision> {
        let titles: Vec<&str> = asked.iter().map(|asked| asked.title).collect();
        self.asked.lock().unwrap().push(titles.join(" + "));
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().as_mut() {
            meanwhile(asked);
        }
        let mut decisions = self.decisions.lock().unwrap();
        asked.iter().map(|_| decisions.pop_front().unwrap_or(Decision::Unanswered)).collect()
    }
}

/// Returns a call with arguments given as JSON.
pub(crate) fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: CallId(String::new()), name: name.to_owned(), arguments: arguments.to_string() }
}

/// Returns a reply whose calls have the ids `a`, `b`, ...
pub(crate) fn reply(text: &str, calls: Vec<ToolCall>) -> Reply {
    let letters = ('a'..='z').map(|letter| CallId(letter.to_string()));
    let calls = calls.into_iter().zip(letters).map(|(call, id)| ToolCall { id, ..call });
    Reply::new(text, calls.collect())
}

impl World {
    /// Lays `files` in a new folder and prepares the model's `replies`.
    pub(crate) fn new(mode: Mode, files: &[(&str, &str)], replies: Vec<Reply>) -> World {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let start = folder.path().to_owned();
        let workspace =
            Workspace::open(workspace::Options { start, ..workspace::Options::default() }).unwrap();
        let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")];
        let start = workspace.start().to_owned();
        let ground = Ground { home: None, roots: vec![start.clone()], start, links: vec![] };
        let scripted = Arc::new(Scripted::new(replies));
        let index = Arc::new(Index::unkept(workspace.root()));
        let agent = Agent {
            provider: Box::new(scripted.clone()),
            tools: tools::builtin().unwrap(),
            workspace,
            index,
            policy: Arc::new(Mutex::new(Policy { mode, ground, ..Policy::default() })),
            commands: CommandOptions {
                default_timeout: 20,
                max_timeout: 60,
                environment: environment.map(|(name, value)| (name.into(), value.into())).to_vec(),
                most_memory: None,
                sandbox: None,
                own_keys: Vec::new(),
            },
            after_edits: AfterEdits::default(),
            leads: Leads::default(),
            keep_rule: None,
            options: Options { max_requests: 20, max_cost: None, patience: Patience::default() },
        };
        let header = Header::new(folder.path().to_owned(), folder.path().to_owned(), "scripted");
        let mut conversation = Conversation::new(Session::in_memory(header));
        let tools = agent.specs();
        let prefix = Prefix { system: "system".to_owned(), tools, instructions: Vec::new() };
        conversation.append(Record::Prefix(prefix)).unwrap();
        World {
            folder,
            agent,
            conversation,
            events: Recorded::default(),
            answers: Answers::default(),
            cancel: CancellationToken::new(),
            scripted,
        }
    }

    /// Prepares answers to questions.
    pub(crate) fn answering(self, decisions: impl IntoIterator<Item = Decision>) -> World {
        self.answers.decisions.lock().unwrap().extend(decisions);
        self
    }

    /// Does `meanwhile` whenever something is asked.
    pub(crate) fn meanwhile(self, meanwhile: impl FnMut(&[Asked<'_>]) + Send + 'static) -> World {
        *self.answers.meanwhile.lock().unwrap() = Some(Box::new(meanwhile));
        self
    }

    /// Runs one turn.
    pub(crate) async fn turn(&mut self, prompt: &str) -> Result<TurnEnd, TurnError> {
        let front =
            Frontend { events: &self.events, approver: &self.answers, cancel: &self.cancel };
        self.agent.turn(&mut self.conversation, prompt.to_owned(), front).await
    }

    /// Takes up a turn that broke off.
    pub(crate) async fn go_on(&mut self) -> Result<TurnEnd, TurnError> {
        let front =
            Frontend { events: &self.events, approver: &self.answers, cancel: &self.cancel };
        self.agent.go_on(&mut self.conversation, front).await
    }

    /// Returns the messages of the last request, as text.
    pub(crate) fn last_request(&self) -> String {
        let requests = self.scripted.requests();
        let messages = requests.last().map(|request| request.messages.join("\n"));
        self.without_folder(&messages.unwrap_or_default())
    }

    /// Returns the text of a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Returns what was asked, one line a batch.
    pub(crate) fn asked(&self) -> String {
        self.answers.asked.lock().unwrap().join("\n")
    }

    /// Returns the log after the prefix, one short line a record, the folder's name left out.
    pub(crate) fn log(&self) -> String {
        let mut log = String::new();
        for record in self.conversation.session.records() {
            match record {
                Record::Message { message: Message::User(user) } => {
                    writeln!(log, "user: {}", user.text()).unwrap();
                }
                Record::Message { message: Message::Assistant(reply) } => {
                    writeln!(log, "model: {}", reply.text).unwrap();
                    for call in &reply.calls {
                        writeln!(log, "  {} {}", call.id, call.name).unwrap();
                    }
                }
                Record::Message { message: Message::Tool(result) } => {
                    let status = format!("{:?}", result.outcome.status).to_lowercase();
                    writeln!(log, "{} {status}: {}", result.call, result.outcome.text.trim_end())
                        .unwrap();
                }
                Record::Started { call } => writeln!(log, "{call} started").unwrap(),
                Record::Approval { call, verdict, by } => {
                    writeln!(log, "{call} {verdict} by {by}").unwrap();
                }
                Record::Note { text, .. } => writeln!(log, "note: {text}").unwrap(),
                Record::Compaction { summary, kept, window, .. } => {
                    let window = window.map_or("unknown".to_owned(), |tokens| tokens.to_string());
                    writeln!(log, "compaction: {kept} records kept, window {window}").unwrap();
                    writeln!(log, "{summary}").unwrap();
                }
                Record::Spent { usage } => {
                    let usage = serde_json::to_string(usage).unwrap();
                    writeln!(log, "spent: {usage}").unwrap();
                }
                Record::Prefix(_) | Record::Unknown(_) => {}
            }
        }
        self.without_folder(&log)
    }

    fn without_folder(&self, text: &str) -> String {
        let folder: &Path = self.agent.workspace.start();
        text.replace(folder.to_str().unwrap(), "FOLDER")
    }
}
