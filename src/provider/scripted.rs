//! A provider that plays replies: from a file for `--replay`, or from a list in tests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use crate::message::{Message, Reply};

use super::chat;
use super::error::ProviderError;
use super::replay;
use super::{Chunk, Encoded, Provider, Request};

/// Into how many pieces a text is streamed, so that front ends show a stream.
const PIECES: usize = 4;

/// What is played for one request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub(super) reply: Reply,
    pub(super) delay: Duration,
    /// The request fails with these words instead.
    pub(super) error: Option<String>,
}

impl From<Reply> for Scene {
    fn from(reply: Reply) -> Scene {
        Scene { reply, delay: Duration::ZERO, error: None }
    }
}

/// A request as it was made, for tests to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub system: String,
    /// The names of the tools.
    pub tools: Vec<String>,
    /// Each message as JSON of the `chat` wire.
    pub messages: Vec<String>,
}

/// Answers each request with the next prepared reply.
pub struct Scripted {
    name: String,
    scenes: Mutex<Scenes>,
    /// A session may be long, so only lists made for tests remember what was asked.
    keeps_requests: bool,
}

struct Scenes {
    left: VecDeque<Scene>,
    used: usize,
    made: Vec<Made>,
}

impl Scripted {
    /// Plays `replies`, and remembers the requests.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Scripted {
        let scenes = replies.into_iter().map(Scene::from);
        Scripted::of("script".to_owned(), scenes.collect(), true)
    }

    /// Plays the replies in `text`, which is the content of `file`: one JSON object a line, or a
    /// session log.
    ///
    /// # Errors
    /// A line that is not a reply, named by its number.
    pub fn replay(file: &str, text: &str) -> Result<Scripted, ProviderError> {
        Ok(Scripted::of(file.to_owned(), replay::read(file, text)?, false))
    }

    /// Returns every request so far, oldest first.
    pub fn requests(&self) -> Vec<Made> {
        self.lock().made.clone()
    }

    fn of(name: String, left: VecDeque<Scene>, keeps_requests: bool) -> Scripted {
        let scenes = Mutex::new(Scenes { left, used: 0, made: Vec::new() });
        Scripted { name, scenes, keeps_requests }
    }

    fn lock(&self) -> MutexGuard<'_, Scenes> {
        self.scenes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: &Request<'_>) -> Result<Scene, ProviderError> {
        let mut scenes = self.lock();
        if self.keeps_requests {
            scenes.made.push(Made {
                system: request.system.to_owned(),
                tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
                messages: request.messages.iter().map(|Encoded(text)| text.clone()).collect(),
            });
        }
        let (file, used) = (self.name.clone(), scenes.used);
        let scene = scenes.left.pop_front().ok_or(ProviderError::ReplayEnd { file, used })?;
        scenes.used += 1;
        Ok(scene)
    }
}

impl Provider for Scripted {
    fn model(&self) -> &'static str {
        "scripted"
    }

    fn encode(&self, message: &Message) -> Encoded {
        Encoded(chat::encode(message))
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let play = async move {
            // The reply is taken when it is asked for, not when the stream is made.
            match self.next(&request) {
                Ok(scene) => {
                    tokio::time::sleep(scene.delay).await;
                    chunks(scene)
                }
                Err(error) => vec![Err(error)],
            }
        };
        let paced = |chunk| async {
            tokio::task::yield_now().await;
            chunk
        };
        stream::once(play).flat_map(stream::iter).then(paced).boxed()
    }
}

fn chunks(scene: Scene) -> Vec<Result<Chunk, ProviderError>> {
    let Scene { reply, error, .. } = scene;
    let reasoning = pieces(&reply.reasoning).into_iter().map(Chunk::Reasoning);
    let text = pieces(&reply.text).into_iter().map(Chunk::Text);
    let calls = reply.calls.iter().map(|call| Chunk::Call(call.name.clone()));
    let mut chunks: Vec<_> = reasoning.chain(text).chain(calls).map(Ok).collect();
    chunks.push(match error {
        Some(message) => Err(ProviderError::Scripted { message }),
        None => Ok(Chunk::Done(reply)),
    });
    chunks
}

/// Cuts `text` into a few pieces, between characters.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let length = letters.len().div_ceil(PIECES).max(1);
    letters.chunks(length).map(|piece| piece.iter().collect()).collect()
}
