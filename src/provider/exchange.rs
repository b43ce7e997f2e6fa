//! One request and its answer: sent, read, assembled, in steps that a drop may end anywhere.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;

use crate::message::{Message, Reply, ToolSpec};

use super::connection::Connection;
use super::document::parse;
use super::error::{ProviderError, Silence};
use super::failure::Asked;
use super::http::Server;
use super::sse::{self, Event};
use super::told::{self, Told};
use super::{Chunk, Encoded, Request};

/// The largest reply that is read.
const LARGEST_REPLY: usize = 64 << 20;

/// The most calls and other parts that a reply may have.
pub(super) const MOST_PARTS: usize = 512;

/// The largest error page that is read.
const LARGEST_PAGE: usize = 64 << 10;

/// How long the end of the body may take after the reply is complete.
///
/// A body that was read to its end leaves the connection ready for the next request.
const LAST_BYTES: Duration = Duration::from_millis(250);

/// How long to wait for usage after the server has called the reply ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How often one request is repeated because its server refused a part of its form.
const MOST_LESSONS: usize = 4;

/// A wire format, as far as an exchange depends on it.
pub(super) trait Protocol: Send + Sync {
    /// A reply as far as it has come.
    type Reply: Assemble;

    fn connection(&self) -> &Connection;

    /// Returns `message` in this wire's form; nothing at all for a message it cannot carry.
    fn encode(&self, message: &Message) -> Encoded;

    /// Writes `request`.
    fn body(&self, request: &Request<'_>) -> Vec<u8>;

    /// Begins a reply.
    fn reply(&self) -> Self::Reply;

    /// Learns from a refusal; says what changes where the request is worth repeating.
    fn learn(&self, told: &Told, has_tools: bool) -> Option<String>;

    /// Returns how the encoded outcome of the call `id` begins.
    fn outcome_start(id: &str) -> String;

    /// Takes calls that are written as text out of `reply`; returns the names of those found.
    fn take_spoken_calls(&self, _reply: &mut Reply, _tools: &[ToolSpec]) -> Vec<String> {
        Vec::new()
    }

    /// Does the same to what the model wrote as a call and its own server could not read.
    fn take_written_calls(&self, _reply: &mut Reply, _tools: &[ToolSpec]) -> Vec<String> {
        Vec::new()
    }
}

/// A reply that is put together from the documents of a stream, or from a single one.
pub(super) trait Assemble: Send {
    /// Whether `document`, which is the whole body, is a reply of this wire.
    fn is_whole(document: &Value) -> bool;

    /// Finds an error in a document.
    fn error_in(document: &Value) -> Option<Told>;

    /// Whether `document` brings the reply further, and does not only say that the server is there.
    fn says_more(document: &Value) -> bool;

    /// Returns of how many calls and other parts it is made.
    fn n_parts(&self) -> usize;

    /// Adds one document; what can be shown of it goes to `ready`.
    fn add(&mut self, document: Value, ready: &mut VecDeque<Chunk>);

    /// Whether the server has said that the reply is at its end.
    fn is_ended(&self) -> bool;

    /// Whether nothing more is to come, not even figures.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns what the server calls the end where that is a failure of its own.
    fn failure(&self) -> Option<&str>;

    /// Ends the reply. Ids of calls for which `taken` is true are replaced.
    fn finish(self, taken: impl Fn(&str) -> bool) -> (Reply, VecDeque<Chunk>);
}

/// Asks over `protocol`: every stream ends with a reply or an error.
pub(super) fn stream<'a, P: Protocol>(
    protocol: &'a P,
    request: Request<'a>,
) -> BoxStream<'a, Result<Chunk, ProviderError>> {
    let next = |mut exchange: Exchange<'a, P>| async {
        let item = exchange.next().await?;
        Some((item, exchange))
    };
    stream::unfold(Exchange::new(protocol, request), next).boxed()
}

/// Reads an answer whose bytes are there already, cut into `pieces` as a network may cut them.
pub(super) async fn read<P: Protocol>(
    protocol: &P,
    request: Request<'_>,
    pieces: &[&[u8]],
) -> Vec<Result<Chunk, ProviderError>> {
    let mut exchange = Exchange::new(protocol, request);
    let mut step = Ok(Phase::Read(Box::new(Reading::new(None, protocol.reply()))));
    for piece in pieces {
        step = match step {
            Ok(Phase::Read(reading)) => exchange.take_bytes(reading, piece).await,
            over => over,
        };
    }
    exchange.phase = match step.unwrap_or_else(Phase::Failed) {
        Phase::Read(reading) => exchange.end_of_body(reading).await.unwrap_or_else(Phase::Failed),
        over => over,
    };
    let mut items = Vec::new();
    while let Some(item) = exchange.next().await {
        items.push(item);
    }
    items
}

/// One request on its way.
struct Exchange<'a, P: Protocol> {
    protocol: &'a P,
    request: Request<'a>,
    phase: Phase<P::Reply>,
    /// What has arrived and was not taken yet.
    ready: VecDeque<Chunk>,
    lessons: usize,
}

enum Phase<R> {
    Ask,
    Read(Box<Reading<R>>),
    /// It has failed; what had arrived before comes first.
    Failed(ProviderError),
    Over,
}

/// An answer that is arriving.
struct Reading<R> {
    /// Where the rest comes from; nothing where all of it is there already.
    response: Option<Response>,
    body: Body,
    reply: R,
    /// Bytes so far.
    size: usize,
    /// When something of the reply came last.
    said: Instant,
    /// `[DONE]` has come.
    done: bool,
    /// The reply was made of what the model wrote in vain.
    recovered: bool,
}

impl<R> Reading<R> {
    fn new(response: Option<Response>, reply: R) -> Reading<R> {
        let (body, said) = (Body::Unknown, Instant::now());
        Reading { response, body, reply, size: 0, said, done: false, recovered: false }
    }

    /// Waits for more of the body; `None` at its end.
    async fn chunk(&mut self) -> reqwest::Result<Option<Vec<u8>>> {
        match &mut self.response {
            Some(response) => Ok(response.chunk().await?.map(Vec::from)),
            None => Ok(None),
        }
    }
}

/// The form of a body, known from its first byte: servers do not always call it by its name.
enum Body {
    /// Only blanks have come.
    Unknown,
    Events(sse::Parser),
    Document(Vec<u8>),
}

impl<'a, P: Protocol> Exchange<'a, P> {
    fn new(protocol: &'a P, request: Request<'a>) -> Exchange<'a, P> {
        Exchange { protocol, request, phase: Phase::Ask, ready: VecDeque::new(), lessons: 0 }
    }

    fn connection(&self) -> &'a Connection {
        self.protocol.connection()
    }

    fn server(&self) -> &'a Server {
        &self.connection().server
    }

    /// Returns the next chunk; `None` after the last.
    async fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            let step = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Failed(error) => return Some(Err(error)),
                Phase::Ask => self.ask().await,
                Phase::Read(reading) => self.read(reading).await,
            };
            self.phase = step.unwrap_or_else(Phase::Failed);
        }
    }

    async fn ask(&mut self) -> Result<Phase<P::Reply>, ProviderError> {
        let server = self.server();
        let mut response =
            server.send(self.connection().post(self.protocol.body(&self.request))).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(Phase::Read(Box::new(Reading::new(Some(response), self.protocol.reply()))));
        }
        let page = server.read_some(&mut response, LARGEST_PAGE).await;
        let told = Told::from_body(&page);
        if matches!(status.as_u16(), 400 | 422) && self.lessons < MOST_LESSONS {
            let has_tools = !self.request.tools.is_empty();
            if let Some(lesson) = self.protocol.learn(&told, has_tools) {
                self.lessons += 1;
                let why = format!("{} refused the request: {lesson}", server.host);
                self.ready.push_back(Chunk::Restarted { why, wait: Duration::ZERO });
                return Ok(Phase::Ask);
            }
        }
        if let Some(recovered) = self.written(&told) {
            return Ok(recovered);
        }
        Err(self.asked().failed(status.as_u16(), &told, response.headers()))
    }

    /// Reads a call in what the model wrote, where its own server could not.
    fn written(&mut self, told: &Told) -> Option<Phase<P::Reply>> {
        let mut reply = Reply::new(told.written.as_deref()?, Vec::new());
        let begun = self.protocol.take_written_calls(&mut reply, self.request.tools);
        if begun.is_empty() {
            return None;
        }
        self.ready.extend(begun.into_iter().map(Chunk::Call));
        self.ready.push_back(Chunk::Done(reply));
        Some(Phase::Over)
    }

    async fn read(
        &mut self,
        mut reading: Box<Reading<P::Reply>>,
    ) -> Result<Phase<P::Reply>, ProviderError> {
        let server = self.server();
        let complete = reading.reply.is_ended();
        // Signs of life prolong it, but not without end.
        let most = server.timeouts.reply;
        let most = if complete { most.min(LAST_WORDS) } else { most };
        let left = most.saturating_sub(reading.said.elapsed());
        let (wait, phase) = match reading.size {
            0 => (server.timeouts.first_byte, Silence::FirstByte),
            _ if left < server.timeouts.idle => (left, Silence::Reply),
            _ => (server.timeouts.idle, Silence::Idle),
        };
        if wait.is_zero() {
            // What is there already would be taken although the time is up.
            return if complete { self.end(reading).await } else { Err(server.silent(phase)) };
        }
        match timeout(wait, reading.chunk()).await {
            Ok(Ok(Some(bytes))) => self.take_bytes(reading, &bytes).await,
            Ok(Ok(None)) => self.end_of_body(reading).await,
            Ok(Err(_)) | Err(_) if complete => self.end(reading).await,
            Ok(Err(error)) => Err(server.broken(error)),
            Err(_) => Err(server.silent(phase)),
        }
    }

    async fn take_bytes(
        &mut self,
        mut reading: Box<Reading<P::Reply>>,
        bytes: &[u8],
    ) -> Result<Phase<P::Reply>, ProviderError> {
        reading.size += bytes.len();
        if reading.size > LARGEST_REPLY {
            return Err(self.oversized(LARGEST_REPLY));
        }
        self.take(&mut reading, bytes)?;
        match (reading.recovered, reading.done) {
            (true, _) => Ok(Phase::Over),
            (false, true) => self.end(reading).await,
            (false, false) => Ok(Phase::Read(reading)),
        }
    }

    fn take(&mut self, reading: &mut Reading<P::Reply>, bytes: &[u8]) -> Result<(), ProviderError> {
        let mut bytes = bytes;
        if let Body::Unknown = reading.body {
            let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
            let Some(start) = bytes.iter().position(|byte| !blank(byte)) else { return Ok(()) };
            // Blanks before the first byte belong to nothing, wherever the reads were cut.
            bytes = &bytes[start..];
            reading.body = match bytes[0] {
                b'{' | b'[' | b'<' | b'"' => Body::Document(Vec::new()),
                _ => Body::Events(sse::Parser::default()),
            };
        }
        match &mut reading.body {
            Body::Unknown => Ok(()),
            Body::Document(document) => {
                if document.len() + bytes.len() > sse::LARGEST_EVENT {
                    return Err(self.oversized(sse::LARGEST_EVENT));
                }
                document.extend_from_slice(bytes);
                Ok(())
            }
            Body::Events(parser) => {
                let mut events = Vec::new();
                let fits = parser.push(bytes, &mut events);
                events.into_iter().try_for_each(|event| self.take_event(reading, &event))?;
                fits.map_err(|sse::TooLarge| self.oversized(sse::LARGEST_EVENT))
            }
        }
    }

    fn take_event(
        &mut self,
        reading: &mut Reading<P::Reply>,
        event: &Event,
    ) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if reading.done || reading.recovered || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            reading.done = true;
            return Ok(());
        }
        match parse(data) {
            Some(document) => self.take_document(reading, document),
            // Without blank lines between events, several documents make one.
            None if data.contains('\n') => data.lines().try_for_each(|line| {
                let event = Event { name: String::new(), data: line.to_owned() };
                self.take_event(reading, &event)
            }),
            None if event.name == "error" => Err(self.reported(&Told::from_body(data.as_bytes()))),
            None => Err(self.broken("a part of it is not JSON")),
        }
    }

    fn take_document(
        &mut self,
        reading: &mut Reading<P::Reply>,
        value: Value,
    ) -> Result<(), ProviderError> {
        if let Some(told) = P::Reply::error_in(&value) {
            if self.written(&told).is_some() {
                reading.recovered = true;
                return Ok(());
            }
            return Err(self.reported(&told));
        }
        // Whatever else a server sends between, such as a number, says nothing.
        if value.is_object() {
            let (says_more, was_ended) = (P::Reply::says_more(&value), reading.reply.is_ended());
            reading.reply.add(value, &mut self.ready);
            if says_more || reading.reply.is_ended() != was_ended {
                reading.said = Instant::now();
            }
            if reading.reply.n_parts() > MOST_PARTS {
                return Err(self.overfull());
            }
        }
        reading.done = reading.done || reading.reply.is_over();
        Ok(())
    }

    /// Judges a body that is at its end although nothing had announced that.
    async fn end_of_body(
        &mut self,
        mut reading: Box<Reading<P::Reply>>,
    ) -> Result<Phase<P::Reply>, ProviderError> {
        match std::mem::replace(&mut reading.body, Body::Unknown) {
            Body::Unknown => Err(self.broken("it was empty")),
            Body::Document(document) => {
                self.whole_document(&mut reading, &document)?;
                if reading.recovered { Ok(Phase::Over) } else { self.end(reading).await }
            }
            Body::Events(mut parser) => {
                if let Some(event) = parser.finish() {
                    self.take_event(&mut reading, &event)?;
                }
                if reading.recovered {
                    return Ok(Phase::Over);
                }
                if reading.done || reading.reply.is_ended() {
                    return self.end(reading).await;
                }
                Err(self.broken("the stream ended without saying so"))
            }
        }
    }

    fn whole_document(
        &mut self,
        reading: &mut Reading<P::Reply>,
        body: &[u8],
    ) -> Result<(), ProviderError> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let host = || self.server().host.clone();
        if text.starts_with('<') {
            let found = match told::title(text) {
                Some(title) => format!("a web page (\"{title}\")"),
                None => "a web page".to_owned(),
            };
            return Err(ProviderError::NotAnApi { host: host(), found });
        }
        let Some(document) = parse(text.trim_end()) else {
            return Err(self.broken("it is not whole JSON"));
        };
        if P::Reply::is_whole(&document) {
            return self.take_document(reading, document);
        }
        Err(match Told::from_value(&document) {
            Some(told) => self.reported(&told),
            None => ProviderError::NotAnApi { host: host(), found: "JSON of another kind".into() },
        })
    }

    /// Ends the reply, after the body has been read to its end or nearly so.
    async fn end(
        &mut self,
        mut reading: Box<Reading<P::Reply>>,
    ) -> Result<Phase<P::Reply>, ProviderError> {
        if let Some(word) = reading.reply.failure() {
            let message = format!("the reply ended with `{word}`");
            return Err(self.reported(&Told { message, ..Told::default() }));
        }
        if reading.response.is_some() {
            let rest = async { while let Ok(Some(_)) = reading.chunk().await {} };
            timeout(LAST_BYTES, rest).await.ok();
        }
        let messages = self.request.messages;
        // Some servers count the ids of calls from nought in every reply.
        let is_taken = |id: &str| {
            let start = P::outcome_start(id);
            messages.iter().any(|Encoded(message)| message.starts_with(&start))
        };
        let (mut reply, last) = reading.reply.finish(is_taken);
        self.ready.extend(last);
        let begun = self.protocol.take_spoken_calls(&mut reply, self.request.tools);
        if reply.calls.len() > MOST_PARTS {
            return Err(self.overfull());
        }
        self.ready.extend(begun.into_iter().map(Chunk::Call));
        if let Some(raw) = &mut reply.raw {
            raw.origin = self.connection().origin();
        }
        self.ready.push_back(Chunk::Done(reply));
        Ok(Phase::Over)
    }

    fn asked(&self) -> Asked<'_> {
        Asked::of(self.connection())
    }

    fn reported(&self, told: &Told) -> ProviderError {
        self.asked().reported(told)
    }

    fn broken(&self, why: &str) -> ProviderError {
        ProviderError::Broken { host: self.server().host.clone(), why: why.to_owned() }
    }

    fn overfull(&self) -> ProviderError {
        ProviderError::Overfull { host: self.server().host.clone(), most: MOST_PARTS }
    }

    fn oversized(&self, limit: usize) -> ProviderError {
        ProviderError::Oversized { host: self.server().host.clone(), limit }
    }
}
