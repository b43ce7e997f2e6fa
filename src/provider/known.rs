//! A model with what is known of it: how much it reads, and what its tokens cost.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::message::{Message, Price};

use super::error::ProviderError;
use super::window::{Window, WindowSource};
use super::{Chunk, Client, Encoded, Provider, Request, Retrying};

/// How long a server may take to tell of a model.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the settings say of a model, or its server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// How many tokens it reads.
    pub window: Option<u64>,
    pub price: Option<Price>,
}

/// Adds the cost to replies that come without one, and knows the window of the model.
pub struct Known {
    client: Retrying<Client>,
    set: Facts,
    told: OnceLock<Facts>,
}

impl Known {
    /// Puts what the settings say over what the server tells.
    pub fn new(client: Retrying<Client>, set: Facts) -> Known {
        Known { client, set, told: OnceLock::new() }
    }

    fn told(&self) -> Facts {
        self.told.get().copied().unwrap_or_default()
    }

    fn price(&self) -> Option<Price> {
        self.set.price.or(self.told().price)
    }
}

impl Provider for Known {
    fn model(&self) -> &str {
        self.client.model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        self.client.encode(message)
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let priced = |chunk| match chunk {
            Ok(Chunk::Done(mut reply)) => {
                if let (Some(usage), Some(price)) = (&mut reply.usage, self.price()) {
                    let cost = price.of(usage);
                    usage.cost.get_or_insert(cost);
                }
                Ok(Chunk::Done(reply))
            }
            other => other,
        };
        self.client.stream(request).map(priced).boxed()
    }

    fn window(&self) -> Option<Window> {
        let window = Window::of(self.model(), self.set.window, self.told().window);
        // A server on this machine gives a model what its memory allows, whatever its name.
        let is_doubtful =
            window.source == WindowSource::Name && self.client.inner().is_on_this_machine();
        Some(if is_doubtful { Window::GUESS } else { window })
    }

    fn look_up(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if self.told.get().is_none() {
                let asking = tokio::time::timeout(PATIENCE, self.client.inner().facts());
                let told = asking.await.unwrap_or_default();
                // Whoever was faster has been told the same.
                self.told.set(told).ok();
            }
        })
    }
}
