//! A session with what is derived from it: encoded messages, and files as the model knows them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::change::view::LeftBefore;
use crate::change::{Journal, JournalError};

use crate::message::{FileTouch, Message, Outcome, Status, ToolCall, ToolResult, Usage};
use crate::provider::{Encoded, Provider};
use crate::session::{Prefix, Record, Session, SessionError};
use crate::tools::Ledger;
use crate::workspace::Workspace;

use super::meter::Meter;
use super::step::{Step, next_step};
use super::watch::Watch;

/// A session in use.
pub struct Conversation {
    pub session: Session,
    pub(super) derived: Derived,
    /// Messages in the provider's form, and how many records they were made from.
    encoded: Vec<Encoded>,
    encoded_records: usize,
    /// Opened at the first write.
    pub(super) journal: Option<Arc<Mutex<Journal>>>,
    pub(super) watch: Watch,
    /// Outputs that commands in a view left.
    pub(super) left_before: Box<LeftBefore>,
    pub(super) meter: Meter,
    /// Whether the last of `encoded` is a word that goes with one request only.
    has_word: bool,
    /// Whether the turn has not written yet.
    turn_begun: bool,
}

/// What the records come to, kept up to date at each one, so that no step walks the log.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) ledger: Ledger,
    /// Files that outcomes name and that nobody has looked at for instructions near them yet.
    touched: BTreeSet<PathBuf>,
    /// Files that outcomes name and whose bytes are to be kept against what commands do.
    seen: Vec<PathBuf>,
    /// Folders looked into for instructions, files loaded, and files the session itself wrote.
    instructions: BTreeSet<PathBuf>,
    prefix: Option<Arc<Prefix>>,
    /// About how many bytes of each request the prefix is.
    prefix_bytes: usize,
    /// The window in tokens, as a server told when the conversation was too long, and of which
    /// model; logs of older versions do not say of which.
    window: Option<(u64, Option<String>)>,
    totals: Totals,
}

impl Derived {
    fn take_in(&mut self, record: &Record) {
        match record {
            Record::Prefix(prefix) => {
                self.instructions.extend(prefix.instructions.iter().cloned());
                self.prefix = Some(Arc::new(prefix.clone()));
                let tools = serde_json::to_string(&prefix.tools).map_or(0, |tools| tools.len());
                self.prefix_bytes = prefix.system.len() + tools;
            }
            Record::Note { instructions, .. } => {
                self.instructions.extend(instructions.iter().cloned());
            }
            Record::Message { message: Message::Tool(result) } => {
                self.ledger.note(&result.outcome.files);
                for file in &result.outcome.files {
                    let path = PathBuf::from(&file.path);
                    if file.touch == FileTouch::Written {
                        self.instructions.insert(path.clone());
                    }
                    self.seen.push(path.clone());
                    self.touched.insert(path);
                }
            }
            Record::Message { message: Message::Assistant(reply) } => self.totals.add(reply.usage),
            Record::Spent { usage } => self.totals.add(Some(*usage)),
            Record::Compaction { window, model, usage, .. } => {
                if let Some(tokens) = window {
                    self.window = Some((*tokens, model.clone()));
                }
                self.totals.usage = self.totals.usage.plus(&usage.unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Sums over the replies of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub requests: u64,
    /// Tokens and money, summed.
    pub usage: Usage,
    /// Input tokens of the last request: the present size of the conversation.
    pub last_input: u64,
}

impl Totals {
    fn add(&mut self, usage: Option<Usage>) {
        self.requests += 1;
        let Some(usage) = usage else { return };
        self.last_input = usage.input;
        self.usage = self.usage.plus(&usage);
    }
}

impl Conversation {
    /// Takes up `session`, new or resumed.
    pub fn new(session: Session) -> Conversation {
        let mut derived = Derived::default();
        for record in session.records() {
            derived.take_in(record);
        }
        Conversation {
            session,
            derived,
            encoded: Vec::new(),
            encoded_records: 0,
            journal: None,
            watch: Watch::default(),
            left_before: Box::default(),
            meter: Meter::default(),
            has_word: false,
            turn_begun: true,
        }
    }

    /// Returns what stands before every message, if the session has begun.
    pub fn prefix(&self) -> Option<&Arc<Prefix>> {
        self.derived.prefix.as_ref()
    }

    /// Returns what was touched since the last call, and forgets it.
    pub(super) fn take_touched(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.derived.touched)
    }

    /// Returns the files that outcomes named since the last call, and forgets them.
    pub(super) fn take_seen(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.derived.seen)
    }

    /// Returns what need not be looked at for instructions again.
    pub(super) fn known_instructions(&mut self) -> &mut BTreeSet<PathBuf> {
        &mut self.derived.instructions
    }

    /// Begins a turn: what it writes is taken back together.
    pub(super) fn begin_turn(&mut self) {
        self.turn_begun = true;
        self.watch.begin_turn();
    }

    /// Opens the journal for a write, if the session keeps one.
    pub(super) fn open_journal(&mut self) -> Result<(), JournalError> {
        if let (None, Some(folder)) = (&self.journal, self.session.folder()) {
            let journal = Journal::open(&folder.join("journal"))?;
            self.journal = Some(Arc::new(Mutex::new(journal)));
        }
        if let Some(journal) = &self.journal
            && std::mem::take(&mut self.turn_begun)
        {
            journal.lock().unwrap_or_else(PoisonError::into_inner).begin_turn();
        }
        Ok(())
    }

    /// Returns the journal, if there is one and something was written.
    pub fn journal(&mut self) -> Result<Option<MutexGuard<'_, Journal>>, JournalError> {
        self.open_journal()?;
        let journal = self.journal.as_ref();
        Ok(journal.map(|journal| journal.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns the sums over the session so far.
    pub fn totals(&self) -> Totals {
        self.derived.totals
    }

    /// Returns the window of `model` in tokens, where its server has told it by refusing.
    pub fn window(&self, model: &str) -> Option<u64> {
        let (tokens, of) = self.derived.window.as_ref()?;
        of.as_ref().is_none_or(|name| name == model).then_some(*tokens)
    }

    /// Returns about how many bytes the next request has.
    pub(super) fn request_bytes(&mut self, provider: &dyn Provider) -> usize {
        self.encoded(provider);
        self.encoded_bytes()
    }

    /// Returns about how many bytes a request of what is encoded has.
    pub(super) fn encoded_bytes(&self) -> usize {
        let messages = self.encoded.iter().map(|Encoded(text)| text.len()).sum::<usize>();
        self.derived.prefix_bytes + messages
    }

    /// Returns every message for a request.
    pub(super) fn messages(&self) -> &[Encoded] {
        &self.encoded
    }

    /// Adds `record` to the log and to what is derived from it.
    pub fn append(&mut self, record: Record) -> Result<(), SessionError> {
        self.derived.take_in(&record);
        self.session.append(record)
    }

    /// Notes what a request has used whose reply is not kept.
    pub(super) fn spend(&mut self, usage: Option<Usage>) -> Result<(), SessionError> {
        usage.map_or(Ok(()), |usage| self.append(Record::Spent { usage }))
    }

    /// Forgets the encoded messages, since another wire will carry them.
    pub fn forget_encoding(&mut self) {
        self.encoded.clear();
        self.encoded_records = 0;
        self.has_word = false;
    }

    /// Encodes every message for a request, and after them a word that goes with it alone.
    pub(super) fn encode_with(&mut self, provider: &dyn Provider, word: Option<Encoded>) {
        self.encoded(provider);
        self.has_word = word.is_some();
        self.encoded.extend(word);
    }

    /// Encodes what is new.
    fn encoded(&mut self, provider: &dyn Provider) {
        if std::mem::take(&mut self.has_word) {
            self.encoded.pop();
        }
        // Several words to the model in a row go as one message, since some servers refuse two.
        let mut words: Vec<String> = Vec::new();
        let records = self.session.records();
        for (index, record) in records.iter().enumerate().skip(self.encoded_records) {
            if let Record::Compaction { summary, kept, .. } = record {
                self.encoded.clear();
                words = vec![summary.clone()];
                for record in stays(&records[..index], *kept) {
                    add(record, provider, &mut self.encoded, &mut words);
                }
            } else {
                add(record, provider, &mut self.encoded, &mut words);
            }
        }
        self.encoded.extend(joined(provider, &mut words));
        self.encoded_records = records.len();
    }

    /// Returns US dollars spent in the session, as far as the server told.
    pub(super) fn spent(&self) -> f64 {
        self.derived.totals.usage.cost.unwrap_or(0.0)
    }

    /// Returns the files, as shown, that are not as the model last saw them.
    pub fn changed_files(&self, workspace: &Workspace) -> Vec<String> {
        self.derived.ledger.changed(workspace)
    }

    /// Whether the last turn did not come to its end: it broke off, was stopped or met a limit.
    pub fn is_open(&self) -> bool {
        next_step(self.session.records()) != Step::Done
    }

    /// Whether the last three calls were the same, with the same result.
    pub(super) fn repeats(&self) -> bool {
        let mut last: Option<(&ToolCall, &Outcome)> = None;
        let mut same = 0;
        let mut results: Vec<&ToolResult> = Vec::new();
        for record in self.session.records().iter().rev() {
            let reply = match record {
                Record::Note { .. } | Record::Message { message: Message::User(_) } => {
                    return false;
                }
                Record::Message { message: Message::Tool(result) } => {
                    results.push(result);
                    continue;
                }
                Record::Message { message: Message::Assistant(reply) } => reply,
                _ => continue,
            };
            for call in reply.calls.iter().rev() {
                let Some(result) = results.iter().find(|result| result.call == call.id) else {
                    return false;
                };
                let outcome = &result.outcome;
                let equal = last.is_none_or(|(other, before)| {
                    (&other.name, &other.arguments, before)
                        == (&call.name, &call.arguments, outcome)
                });
                if !equal {
                    return false;
                }
                last = Some((call, outcome));
                same += 1;
                if same == 3 {
                    return true;
                }
            }
            results.clear();
        }
        false
    }

    /// Gives every open call an outcome, before new words of the person.
    pub(super) fn settle_all(&mut self) -> Result<(), SessionError> {
        self.settle_started()?;
        for call in self.open() {
            self.answer(
                &call,
                Status::Cancelled,
                "cancelled before it was started; nothing was done",
            )?;
        }
        if self.is_open() {
            let text = "The turn was stopped here. If you had answered, your answer did not \
                        arrive, and nothing of it was done.";
            self.append(Record::note(text))?;
        }
        Ok(())
    }

    /// Gives open calls that had started the outcome "interrupted", since nobody knows what they did.
    pub(super) fn settle_started(&mut self) -> Result<(), SessionError> {
        for call in self.open() {
            let started = self.session.records().iter().rev();
            let mut started = started.take_while(|record| {
                !matches!(record, Record::Message { message: Message::Assistant(_) })
            });
            if started
                .any(|record| matches!(record, Record::Started { call: id } if *id == call.id))
            {
                let text = "interrupted: it had started, and its effect is unknown. Look before \
                            you repeat it";
                self.answer(&call, Status::Cancelled, text)?;
            }
        }
        Ok(())
    }

    fn open(&self) -> Vec<ToolCall> {
        match next_step(self.session.records()) {
            Step::Perform(calls) => calls.into_iter().cloned().collect(),
            Step::Ask | Step::Done => Vec::new(),
        }
    }

    fn answer(&mut self, call: &ToolCall, status: Status, text: &str) -> Result<(), SessionError> {
        let outcome = Outcome::new(status, text);
        let result = ToolResult { call: call.id.clone(), outcome };
        self.append(Record::Message { message: Message::Tool(result) })
    }
}

/// Adds what `record` says to `encoded`, or to the `words` that wait for more.
fn add(
    record: &Record,
    provider: &dyn Provider,
    encoded: &mut Vec<Encoded>,
    words: &mut Vec<String>,
) {
    match record {
        Record::Message { message: Message::User(user) } => words.push(user.text()),
        Record::Note { text, to_model: true, .. } => {
            words.push(format!("<note>\n{text}\n</note>"));
        }
        Record::Message { message } => {
            encoded.extend(joined(provider, words));
            encoded.push(provider.encode(message));
        }
        Record::Note { to_model: false, .. }
        | Record::Prefix(_)
        | Record::Started { .. }
        | Record::Approval { .. }
        | Record::Compaction { .. }
        | Record::Spent { .. }
        | Record::Unknown(_) => {}
    }
}

/// Returns the last `kept` of `records`; outcomes whose call is not among them are left out, such
/// as when damage has taken a record between.
fn stays(records: &[Record], kept: usize) -> &[Record] {
    let last = &records[records.len().saturating_sub(kept)..];
    let is_start = |record: &Record| {
        matches!(record, Record::Message { message: Message::User(_) | Message::Assistant(_) })
    };
    let start = last.iter().position(is_start).unwrap_or(last.len());
    &last[start..]
}

/// Encodes `words` as one message and forgets them; nothing if there are none.
fn joined(provider: &dyn Provider, words: &mut Vec<String>) -> Option<Encoded> {
    let text = std::mem::take(words).join("\n\n");
    (!text.is_empty()).then(|| provider.encode(&Message::user(text)))
}
