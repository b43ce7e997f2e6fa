//! A model behind a server, whichever wire format it speaks.

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::message::Message;

use super::error::ProviderError;
use super::exchange;
use super::options::Options;
use super::{Anthropic, Chat, Chunk, Encoded, ModelInfo, Provider, Request, Responses};

/// The wire formats, as settings name them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Chat completions, which most servers speak.
    #[default]
    Chat,
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
}

impl Wire {
    /// Returns the wire format whose full addresses end as `url` does.
    pub fn of_address(url: &str) -> Wire {
        let path = url.split(['?', '#']).next().unwrap_or_default().trim().trim_end_matches('/');
        match path.rsplit('/').next() {
            Some("messages") => Wire::Anthropic,
            Some("responses") => Wire::Responses,
            _ => Wire::Chat,
        }
    }

    /// Returns the name that settings use.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Anthropic => "anthropic",
            Wire::Responses => "responses",
        }
    }
}

/// A model behind a server of any wire format.
pub enum Client {
    Chat(Chat),
    Anthropic(Anthropic),
    Responses(Responses),
}

impl Client {
    /// Prepares to ask. Nothing is connected yet.
    ///
    /// # Errors
    /// No address or model, an address that is none, a key or header that cannot be sent.
    pub fn new(wire: Wire, options: Options) -> Result<Client, ProviderError> {
        Ok(match wire {
            Wire::Chat => Client::Chat(Chat::new(options)?),
            Wire::Anthropic => Client::Anthropic(Anthropic::new(options)?),
            Wire::Responses => Client::Responses(Responses::new(options)?),
        })
    }

    /// Returns host and port of the server, as people say them.
    pub fn host(&self) -> &str {
        match self {
            Client::Chat(chat) => chat.host(),
            Client::Anthropic(anthropic) => anthropic.host(),
            Client::Responses(responses) => responses.host(),
        }
    }

    /// Asks the server for its models. It also proves that the server is there and takes the key.
    ///
    /// # Errors
    /// As for any request; a server without such a list gives [`ProviderError::Status`].
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        match self {
            Client::Chat(chat) => chat.models().await,
            Client::Anthropic(anthropic) => anthropic.models().await,
            Client::Responses(responses) => responses.models().await,
        }
    }

    /// Reads an answer to `request` whose bytes are there already, cut into `pieces` as a network
    /// may cut them; gives what [`Provider::stream`] would.
    pub async fn read(
        &self,
        request: Request<'_>,
        pieces: &[&[u8]],
    ) -> Vec<Result<Chunk, ProviderError>> {
        match self {
            Client::Chat(chat) => exchange::read(chat, request, pieces).await,
            Client::Anthropic(anthropic) => exchange::read(anthropic, request, pieces).await,
            Client::Responses(responses) => exchange::read(responses, request, pieces).await,
        }
    }

    /// Asks the server how many tokens the model reads. `models` is what it lists.
    pub async fn window(&self, models: &[ModelInfo]) -> Option<u64> {
        match self {
            Client::Chat(chat) => chat.window(models).await,
            Client::Anthropic(anthropic) => anthropic.window(models).await,
            Client::Responses(responses) => responses.window(models).await,
        }
    }

    fn inner(&self) -> &dyn Provider {
        match self {
            Client::Chat(chat) => chat,
            Client::Anthropic(anthropic) => anthropic,
            Client::Responses(responses) => responses,
        }
    }
}

impl Provider for Client {
    fn model(&self) -> &str {
        self.inner().model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        self.inner().encode(message)
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        self.inner().stream(request)
    }
}
