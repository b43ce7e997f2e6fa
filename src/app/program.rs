//! The program around one session: what a front end can ask of it while it runs turns.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use super::complete::Files;
use super::connect::Connected;
use super::setup::{Setup, host_of, note_changes};
use super::shell;
use super::taking_back::{self, Told};
use crate::agent::{Agent, Conversation, Frontend, TurnEnd};
use crate::approval::{Mode, Policy, Rung};
use crate::change::{Journal, diff, net_changes};
use crate::config::{RuleFiles, ServerChoice};
use crate::event::{Event, Stop};
use crate::frontend::{Host, Said, SessionLine, Status};
use crate::message::{Message, Status as CallStatus};
use crate::sandbox::interactive::{self, Editor};
use crate::session::{Record, Scope, Session};
use crate::workspace::Workspace;

/// One program run: the agent, the session in use, and the settings they were built from.
pub(super) struct Program {
    setup: Setup,
    turn: AsyncMutex<Running>,
    policy: Arc<Mutex<Policy>>,
    /// The server in use; none for scripted replies.
    server: Mutex<Option<ServerChoice>>,
    status: Mutex<Status>,
    files: Files,
}

/// What only one turn at a time may use.
struct Running {
    agent: Agent,
    conversation: Conversation,
    /// Told at the next turn's begin.
    notices: Vec<String>,
    rule_files: RuleFiles,
}

impl Program {
    /// Builds the agent and opens the session that the command line asks for.
    pub(super) async fn open(setup: Setup) -> anyhow::Result<Program> {
        let Connected { provider, server } = setup.connect().await?;
        let model = provider.model().to_owned();
        let mut agent = setup.agent(provider)?;
        let (session, mut notices) = setup.session(&model)?;
        notices.splice(0..0, setup.config.notices.iter().cloned());
        agent.workspace.set_outputs(session.folder().map(|folder| folder.join("outputs")));
        let mut conversation = Conversation::new(session);
        note_changes(&setup, &mut conversation)?;
        let policy = agent.policy.clone();
        let rule_files = setup.config.rule_files.clone();
        let files = Files::new(Arc::clone(&agent.index), agent.workspace.start());
        let program = Program {
            setup,
            turn: AsyncMutex::new(Running { agent, conversation, notices, rule_files }),
            policy,
            server: Mutex::new(server),
            status: Mutex::new(Status::default()),
            files,
        };
        program.refresh(&*program.turn.lock().await);
        Ok(program)
    }

    /// Runs one turn and returns all that is known of its end.
    pub(super) async fn run_turn(
        &self,
        prompt: Option<String>,
        front: Frontend<'_>,
    ) -> anyhow::Result<TurnEnd> {
        let running = &mut *self.turn.lock().await;
        running.notices.extend(self.renew_rules(&mut running.rule_files));
        for text in running.notices.drain(..) {
            front.events.emit(Event::Notice { text }).await;
        }
        if running.conversation.prefix().is_none() {
            let prefix = self.setup.prefix(&running.agent.specs())?;
            running.conversation.append(Record::Prefix(prefix))?;
        }
        let (agent, conversation) = (&running.agent, &mut running.conversation);
        let ended = match prompt {
            Some(prompt) => agent.turn(conversation, prompt, front).await,
            None => agent.go_on(conversation, front).await,
        };
        self.refresh(running);
        ended.map_err(explained)
    }

    /// Takes the rules as they are in their files now; the last good ones stay if they are wrong.
    fn renew_rules(&self, files: &mut RuleFiles) -> Vec<String> {
        match files.read_changed() {
            None => Vec::new(),
            Some(Ok((rules, notices))) => {
                let mut policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
                policy.rules = Arc::new(rules);
                notices
            }
            Some(Err(error)) => vec![format!("{error}; the rules as they were before still hold")],
        }
    }

    /// Tells who is there and with what: the first event.
    pub(super) async fn announce(&self, front: Frontend<'_>) {
        let status = self.status();
        let event = Event::Session {
            id: status.session,
            version: env!("CARGO_PKG_VERSION"),
            workspace: status.workspace,
            model: status.model,
            rung: status.rung,
            instructions: status.instructions,
        };
        front.events.emit(event).await;
    }

    fn used_server(&self) -> Option<ServerChoice> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refresh(&self, running: &Running) {
        let Running { agent, conversation, .. } = running;
        let totals = conversation.totals();
        let instructions = match conversation.prefix() {
            Some(prefix) => prefix.instructions.clone(),
            None => self.setup.instructions().loaded,
        };
        let server = self.used_server().map(|server| host_of(&server.url)).unwrap_or_default();
        let session = &conversation.session;
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Status {
            session: session.header().id.clone(),
            model: agent.provider.model().to_owned(),
            server,
            mode: Mode::default(),
            workspace: agent.workspace.root().to_owned(),
            start: agent.workspace.start().to_owned(),
            rung: self.setup.sandbox.known_rung().map_or("not tried yet", Rung::name),
            instructions,
            requests: totals.requests,
            usage: totals.usage,
            last_input: totals.last_input,
            window: agent.window(conversation),
            log: session.log_path(),
            is_open: conversation.is_open(),
        };
    }

    async fn use_session(&self, session: Session) -> anyhow::Result<()> {
        let running = &mut *self.turn.lock().await;
        running.agent.workspace.set_outputs(session.folder().map(|folder| folder.join("outputs")));
        running.conversation = Conversation::new(session);
        note_changes(&self.setup, &mut running.conversation)?;
        let mut policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        // Resume restores no grant of the session before.
        policy.changes_allowed = false;
        policy.commands_allowed.clear();
        running.agent.after_edits.forget_answers();
        drop(policy);
        self.refresh(running);
        Ok(())
    }
}

#[async_trait]
impl Host for Program {
    async fn turn(&self, prompt: String, front: Frontend<'_>) -> anyhow::Result<Stop> {
        Ok(self.run_turn(Some(prompt), front).await?.stop)
    }

    async fn go_on(&self, front: Frontend<'_>) -> anyhow::Result<Stop> {
        Ok(self.run_turn(None, front).await?.stop)
    }

    fn status(&self) -> Status {
        let mode = self.policy.lock().unwrap_or_else(PoisonError::into_inner).mode;
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = self.setup.sandbox.known_rung().map_or(status.rung, Rung::name);
        Status { mode, rung, ..status.clone() }
    }

    fn rules(&self) -> String {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        super::rules::shown(&policy.rules, &self.setup)
    }

    fn set_mode(&self, mode: Mode) {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).mode = mode;
    }

    async fn models(&self) -> anyhow::Result<Vec<String>> {
        let used = self.used_server();
        let server = match &used {
            Some(server) => server,
            None => self.setup.server()?,
        };
        let models = self.setup.offered(server).await?;
        let mut names: Vec<String> = models.into_iter().map(|model| model.id).collect();
        names.extend(self.setup.offered_elsewhere(server).await);
        Ok(names)
    }

    async fn set_model(&self, name: &str) -> anyhow::Result<()> {
        let chosen = self.setup.switched(self.used_server().as_ref(), name)?;
        let Connected { provider, server } = self.setup.connect_to(chosen).await?;
        let running = &mut *self.idle()?;
        running.agent.provider = provider;
        running.conversation.forget_encoding();
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
        self.refresh(running);
        Ok(())
    }

    async fn compact(&self, words: Option<&str>, front: Frontend<'_>) -> anyhow::Result<String> {
        let running = &mut *self.idle()?;
        let (agent, conversation) = (&running.agent, &mut running.conversation);
        let compacted = agent.compact_now(conversation, words, front).await;
        self.refresh(running);
        Ok(match compacted.map_err(explained)? {
            Some(compacted) => format!("{compacted}; the log keeps all of it"),
            None if front.cancel.is_cancelled() => "stopped; nothing was replaced".to_owned(),
            None => "there is no older part that a summary could replace".to_owned(),
        })
    }

    async fn look_up(&self) {
        let Ok(running) = self.turn.try_lock() else { return };
        let window = running.agent.window(&running.conversation);
        if window.is_some_and(|window| !window.is_known()) {
            running.agent.provider.look_up().await;
            self.refresh(&running);
        }
    }

    async fn new_session(&self) -> anyhow::Result<()> {
        let session = self.setup.new_session(&self.status().model)?;
        self.use_session(session).await
    }

    fn sessions(&self) -> anyhow::Result<Vec<SessionLine>> {
        let found = self.setup.store.list(Scope::Workspace(self.setup.workspace.root()));
        Ok(found.into_iter().map(super::manage::line).collect())
    }

    async fn resume(&self, id: &str) -> anyhow::Result<Vec<Said>> {
        let (session, damage) = self.setup.store.open(id)?;
        let said = said(session.records());
        self.use_session(session).await?;
        if !damage.is_none() {
            self.turn.lock().await.notices.push(damage.to_string());
        }
        Ok(said)
    }

    async fn said(&self) -> Vec<Said> {
        said(self.turn.lock().await.conversation.session.records())
    }

    async fn session_diff(&self) -> anyhow::Result<String> {
        let running = &mut *self.idle()?;
        let Some(journal) = running.conversation.journal()? else { return Ok(String::new()) };
        let changes = net_changes(&running.agent.workspace, &journal)?;
        Ok(changes.iter().map(diff::unified).collect())
    }

    async fn undo(&self) -> anyhow::Result<String> {
        self.take_back(taking_back::undo)
    }

    async fn redo(&self) -> anyhow::Result<String> {
        self.take_back(taking_back::redo)
    }

    async fn shell(
        &self,
        command: &str,
        hidden: bool,
        front: Frontend<'_>,
    ) -> anyhow::Result<String> {
        let Running { agent, conversation, .. } = &mut *self.turn.lock().await;
        let environment = self.setup.environment.variables();
        let text = shell::run(command, environment, agent, conversation, front).await?;
        if !hidden {
            let note = format!("The person ran this command: {command}\n{text}");
            conversation.append(Record::note(note))?;
        }
        Ok(text.trim_end().lines().last().unwrap_or_default().to_owned())
    }

    async fn edit(&self, text: &str, suffix: &str) -> anyhow::Result<String> {
        let editor = self.setup.config.editor.as_deref().unwrap_or("vi");
        let environment = &self.setup.environment;
        let editor = Editor {
            command: editor,
            directory: self.setup.workspace.start(),
            environment: environment.variables(),
            roots: &self.setup.workspace.roots().collect::<Vec<&Path>>(),
            temporary: &environment.temporary,
        };
        Ok(interactive::edit(&editor, &format!("snick{suffix}"), text).await?)
    }

    async fn complete_files(&self, query: &str) -> Vec<String> {
        self.files.matching(query).await
    }
}

impl Program {
    /// Returns what a turn uses, if none runs.
    fn idle(&self) -> anyhow::Result<MutexGuard<'_, Running>> {
        self.turn.try_lock().context("not while a turn runs; stop it first")
    }

    fn take_back(
        &self,
        work: impl FnOnce(&Workspace, &mut Journal) -> anyhow::Result<Told>,
    ) -> anyhow::Result<String> {
        let Running { agent, conversation, .. } = &mut *self.idle()?;
        let Some(mut journal) = conversation.journal()? else {
            return Ok("this session is kept nowhere, so nothing can be taken back".to_owned());
        };
        let told = work(&agent.workspace, &mut journal);
        agent.index.note_activity();
        let told = told?;
        drop(journal);
        if let Some(text) = told.model {
            conversation.append(Record::note(text))?;
        }
        Ok(told.person)
    }
}

/// Returns what was said in `records`, for a person to read again.
pub(super) fn said(records: &[Record]) -> Vec<Said> {
    let mut said = Vec::new();
    // Ids are unique within their reply only: a result belongs to the latest call of its id.
    let mut open = HashMap::new();
    for record in records {
        let Record::Message { message } = record else { continue };
        match message {
            Message::User(user) => said.push(Said::Person(user.text())),
            Message::Assistant(reply) => {
                if !reply.text.is_empty() {
                    said.push(Said::Model(reply.text.clone()));
                }
                for call in &reply.calls {
                    open.insert(&call.id, said.len());
                    said.push(Said::Call { title: title(call), done: false });
                }
            }
            Message::Tool(result) => {
                let call = open.remove(&result.call).and_then(|index| said.get_mut(index));
                if let Some(Said::Call { done, .. }) = call {
                    *done = result.outcome.status == CallStatus::Done;
                }
            }
        }
    }
    said
}

/// Returns a line for a call of the past, whose title is not in the log.
fn title(call: &crate::message::ToolCall) -> String {
    let arguments = call.object().unwrap_or_default();
    let first = arguments.values().find_map(|value| value.as_str()).unwrap_or_default();
    let first: String = first.lines().next().unwrap_or_default().chars().take(100).collect();
    format!("{} {first}", call.name)
}

/// Adds what to do about it to a failure of the provider.
fn explained(error: crate::agent::TurnError) -> anyhow::Error {
    let hint = match &error {
        crate::agent::TurnError::Provider(error) | crate::agent::TurnError::StillTooLong(error) => {
            error.hint()
        }
        crate::agent::TurnError::Session(_) => None,
    };
    let error = anyhow::Error::from(error);
    match hint {
        Some(hint) => anyhow::anyhow!("{error:#}\n{hint}"),
        None => error,
    }
}
