//! A provider whose server does not tell the cost, with the prices of the settings.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::message::{Message, Price};

use super::error::ProviderError;
use super::{Chunk, Encoded, Provider, Request};

/// Adds the cost to each reply that comes without one.
pub struct Priced<P> {
    inner: P,
    price: Price,
}

impl<P: Provider> Priced<P> {
    pub fn new(inner: P, price: Price) -> Priced<P> {
        Priced { inner, price }
    }
}

impl<P: Provider> Provider for Priced<P> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        self.inner.encode(message)
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let priced = |chunk| match chunk {
            Ok(Chunk::Done(mut reply)) => {
                if let Some(usage) = &mut reply.usage {
                    let cost = self.price.of(usage);
                    usage.cost.get_or_insert(cost);
                }
                Ok(Chunk::Done(reply))
            }
            other => other,
        };
        self.inner.stream(request).map(priced).boxed()
    }
}
