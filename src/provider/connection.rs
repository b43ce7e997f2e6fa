//! A server, the address of the model there, and how it is asked: what every wire format has alike.

use reqwest::{RequestBuilder, Url};

use super::address;
use super::error::ProviderError;
use super::http::Server;
use super::options::Options;

/// A server with the address that requests go to. Nothing is connected before the first one.
pub(super) struct Connection {
    pub(super) server: Server,
    pub(super) endpoint: Url,
    pub(super) options: Options,
}

impl Connection {
    /// Prepares to ask at the address of `options`, whose path ends in `path`.
    ///
    /// # Errors
    /// No address or model, an address that is none, a key or header that cannot be sent.
    pub(super) fn new(options: Options, path: &str) -> Result<Connection, ProviderError> {
        options.check()?;
        let endpoint = address::endpoint(&options.url, path)?;
        let server = Server::new(&endpoint, &options)?;
        Ok(Connection { server, endpoint, options })
    }

    /// Returns a request of `body`, ready to be sent.
    pub(super) fn post(&self, body: Vec<u8>) -> RequestBuilder {
        self.server.post(self.endpoint.clone(), body)
    }

    /// Returns the address of another part of the server, such as `/models`.
    pub(super) fn beside(&self, ending: &str) -> Url {
        address::beside(&self.endpoint, ending)
    }

    /// Names who writes replies here, as logs have it.
    pub(super) fn origin(&self) -> String {
        format!("{} at {}", self.options.model, self.server.host)
    }

    /// Names the wire format `name` as it is spoken here: only this host reads the sealed parts of
    /// its replies.
    pub(super) fn wire(&self, name: &str) -> String {
        format!("{name} {}", self.server.host)
    }
}
