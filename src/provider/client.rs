//! A model behind a server, whichever wire format it speaks.

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::message::Message;

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::connection::Connection;
use super::error::ProviderError;
use super::exchange::{self, Protocol as _};
use super::options::Options;
use super::responses::Responses;
use super::{Chunk, Encoded, Facts, ModelInfo, Provider, Request, models, window};

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
pub struct Client {
    speaker: Speaker,
}

/// One that speaks the wire format of the server.
enum Speaker {
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
        let speaker = match wire {
            Wire::Chat => Speaker::Chat(Chat::new(options)?),
            Wire::Anthropic => Speaker::Anthropic(Anthropic::new(options)?),
            Wire::Responses => Speaker::Responses(Responses::new(options)?),
        };
        Ok(Client { speaker })
    }

    /// Returns host and port of the server, as people say them.
    pub fn host(&self) -> &str {
        &self.connection().server.host
    }

    /// Asks the server for its models. It also proves that the server is there and takes the key.
    ///
    /// # Errors
    /// As for any request; a server without such a list gives [`ProviderError::Status`].
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        models::list(self.connection()).await
    }

    /// Asks the server how many tokens the model reads. `models` is what it lists.
    pub async fn asked_window(&self, models: &[ModelInfo]) -> Option<u64> {
        window::ask(self.connection(), models).await
    }

    /// Asks the server for what it tells of the model.
    pub async fn facts(&self) -> Facts {
        let models = self.models().await.unwrap_or_default();
        let listed = models.iter().find(|listed| listed.id == self.model());
        let price = listed.and_then(|listed| listed.price);
        Facts { window: self.asked_window(&models).await, price }
    }

    pub(super) fn is_on_this_machine(&self) -> bool {
        self.connection().server.loopback
    }

    /// Reads an answer to `request` whose bytes are there already, cut into `pieces` as a network
    /// may cut them; gives what [`Provider::stream`] would.
    pub async fn read(
        &self,
        request: Request<'_>,
        pieces: &[&[u8]],
    ) -> Vec<Result<Chunk, ProviderError>> {
        match &self.speaker {
            Speaker::Chat(chat) => exchange::read(chat, request, pieces).await,
            Speaker::Anthropic(anthropic) => exchange::read(anthropic, request, pieces).await,
            Speaker::Responses(responses) => exchange::read(responses, request, pieces).await,
        }
    }

    fn connection(&self) -> &Connection {
        match &self.speaker {
            Speaker::Chat(chat) => chat.connection(),
            Speaker::Anthropic(anthropic) => anthropic.connection(),
            Speaker::Responses(responses) => responses.connection(),
        }
    }
}

impl Provider for Client {
    fn model(&self) -> &str {
        &self.connection().options.model
    }

    fn encode(&self, message: &Message) -> Encoded {
        match &self.speaker {
            Speaker::Chat(chat) => chat.encode(message),
            Speaker::Anthropic(anthropic) => anthropic.encode(message),
            Speaker::Responses(responses) => responses.encode(message),
        }
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        match &self.speaker {
            Speaker::Chat(chat) => exchange::stream(chat, request),
            Speaker::Anthropic(anthropic) => exchange::stream(anthropic, request),
            Speaker::Responses(responses) => exchange::stream(responses, request),
        }
    }
}
