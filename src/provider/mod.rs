//! The model behind one trait: one file per wire format, retry as a decorator, a scripted fake.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::message::{Message, Reply, ToolSpec};

mod address;
mod anthropic;
mod chat;
mod client;
mod connection;
mod document;
mod error;
mod exchange;
mod failure;
mod http;
mod known;
mod models;
mod options;
mod replay;
mod responses;
mod retry;
mod roots;
mod scripted;
mod sendable;
mod sse;
mod told;
mod window;
mod written;

pub use client::{Client, Wire};
pub use error::{LONGEST_WAIT, ProviderError, Remedy, Silence};
pub use known::{Facts, Known};
pub use models::ModelInfo;
pub use options::{KeySource, Options, Timeouts};
pub use retry::{Patience, Retrying};
pub use scripted::{Made, Scripted};
pub use window::{Window, WindowSource};

/// A message in a wire's own form: JSON values joined by commas, ready to be sent.
///
/// The agent keeps these, so that a long history is serialised once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded(pub String);

/// One request: the prefix of the session and every message so far.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub system: &'a str,
    pub tools: &'a [ToolSpec],
    /// As [`Provider::encode`] of the same provider gave them.
    pub messages: &'a [Encoded],
}

/// A part of a reply, in arrival order.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    Text(String),
    Reasoning(String),
    /// The model has begun to write a call of this name.
    Call(String),
    /// The request failed and is made again after `wait`; what had arrived is void.
    Restarted {
        why: String,
        wait: Duration,
    },
    /// The whole reply: always the last item of a stream that succeeds.
    Done(Reply),
}

/// A model that answers requests.
///
/// The stream reports every failure, a refused connection included, as its last item;
/// dropping it cancels the request. Implementations hold no history.
pub trait Provider: Send + Sync {
    /// Returns the model's name, as people say it.
    fn model(&self) -> &str;

    /// Returns `message` in this wire's form; nothing at all for a message it cannot carry.
    fn encode(&self, message: &Message) -> Encoded;

    /// Asks. Every stream ends with [`Chunk::Done`] or an error.
    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>>;

    /// Returns how many tokens the model reads, as far as that is known; `None` where nothing limits
    /// them.
    fn window(&self) -> Option<Window> {
        None
    }

    /// Asks the server, once, for what it tells of the model beside its replies. A failure is no
    /// news: then nothing more is known.
    fn look_up(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl<P: Provider + ?Sized> Provider for std::sync::Arc<P> {
    fn model(&self) -> &str {
        (**self).model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        (**self).encode(message)
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        (**self).stream(request)
    }

    fn window(&self) -> Option<Window> {
        (**self).window()
    }

    fn look_up(&self) -> BoxFuture<'_, ()> {
        (**self).look_up()
    }
}
