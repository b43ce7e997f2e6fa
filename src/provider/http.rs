//! One server over HTTP: its address, its client, its time limits, and what its failures mean.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};

use super::error::{ProviderError, Silence};
use super::options::{KeySource, Options};
use super::roots;

/// How long a server may stay silent. There is no limit on a whole reply as long as it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// Generous, since a local model reads a long conversation for minutes before it answers.
    pub first_byte: Duration,
    /// Between two reads; any byte counts, comments too.
    pub idle: Duration,
    /// Without anything of the reply, whatever else says that the server is there.
    pub reply: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(10),
            idle: Duration::from_mins(5),
            reply: Duration::from_mins(30),
        }
    }
}

/// A server that requests go to, with one connection that is kept alive.
pub(super) struct Server {
    client: Client,
    headers: HeaderMap,
    /// What people call it: host, and port where it is not the usual one.
    pub(super) host: String,
    pub(super) timeouts: Timeouts,
    /// Whether any secret was given that proves who asks.
    pub(super) keyed: bool,
    /// Where the key comes from, or should.
    pub(super) key_from: KeySource,
    /// What must not appear in any text: the key and the values of extra headers.
    secrets: Vec<String>,
    pub(super) loopback: bool,
}

impl Server {
    /// Prepares a client for the host of `url`. Nothing is connected and no certificate is read.
    pub(super) fn new(url: &Url, options: &Options) -> Result<Server, ProviderError> {
        let Options { headers: extra, timeouts, .. } = options;
        let timeouts = *timeouts;
        let host = spoken_host(url);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = options.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {key}"), "the key")?);
        }
        for (name, value) in extra {
            let what = format!("the extra header `{name}`");
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
                return Err(ProviderError::Header { what });
            };
            headers.insert(name, secret(value, &what)?);
        }
        let failed = |why: String| ProviderError::Client { host: host.clone(), why };
        let tls = roots::tls(options.certificates.as_deref())
            .map_err(|error| failed(error.to_string()))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("snick/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect);
        let loopback = is_loopback(url);
        if loopback {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| failed(error.to_string()))?;
        let secrets = key.into_iter().chain(extra.iter().map(|(_, value)| value.as_str()));
        let secrets = secrets.filter(|text| text.len() >= 8).map(str::to_owned).collect();
        let keyed = key.is_some() || !extra.is_empty();
        let key_from = options.key_from.clone();
        Ok(Server { client, headers, host, timeouts, keyed, key_from, secrets, loopback })
    }

    /// Sends `name` with every request from now on.
    pub(super) fn add_header(&mut self, name: &'static str, value: &'static str) {
        self.headers.insert(name, HeaderValue::from_static(value));
    }

    pub(super) fn get(&self, url: Url) -> RequestBuilder {
        self.client.get(url).headers(self.headers.clone())
    }

    pub(super) fn post(&self, url: Url, body: Vec<u8>) -> RequestBuilder {
        self.client.post(url).headers(self.headers.clone()).body(body)
    }

    /// Sends `request` and waits for the head of the answer, whatever its status.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, ProviderError> {
        match tokio::time::timeout(self.timeouts.first_byte, request.send()).await {
            Ok(answer) => answer.map_err(|error| self.unsent(error)),
            Err(_) => Err(self.silent(Silence::FirstByte)),
        }
    }

    /// Reads at most `limit` bytes of a body; what cannot be read any more is left out.
    pub(super) async fn read_some(&self, response: &mut Response, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        let all = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                body.extend_from_slice(&bytes);
                if body.len() >= limit {
                    break;
                }
            }
        };
        // An error page is worth a short wait only: its status has been told already.
        tokio::time::timeout(self.timeouts.idle.min(Duration::from_secs(10)), all).await.ok();
        body.truncate(limit);
        body
    }

    pub(super) fn silent(&self, phase: Silence) -> ProviderError {
        let after = match phase {
            Silence::Connect => self.timeouts.connect,
            Silence::FirstByte => self.timeouts.first_byte,
            Silence::Idle => self.timeouts.idle,
            Silence::Reply => self.timeouts.reply,
        };
        ProviderError::Timeout { host: self.host.clone(), phase, after }
    }

    /// Says why the body of an answer could not be read on.
    pub(super) fn broken(&self, error: reqwest::Error) -> ProviderError {
        let error = error.without_url();
        ProviderError::Broken { host: self.host.clone(), why: self.why(&error) }
    }

    /// Takes every secret out of `text`, also one that was cut off after a good part of it.
    pub(super) fn redact(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            let text = text.replace(secret.as_str(), "[key]");
            without_starts(text, secret)
        })
    }

    /// Says in a few words what lies at the bottom of an error.
    fn why(&self, error: &Cause) -> String {
        let root = causes(error).last().map(ToString::to_string).unwrap_or_default();
        let kind = causes(error).filter_map(io_kind).last();
        match kind {
            Some(io::ErrorKind::ConnectionReset) => "the connection was reset".to_owned(),
            Some(io::ErrorKind::UnexpectedEof) => "the connection was closed".to_owned(),
            _ if root == "connection closed before message completed" => {
                "the connection was closed".to_owned()
            }
            _ if causes(error).any(is_not_tls) => {
                "it does not speak TLS, which https:// needs".to_owned()
            }
            _ => self.redact(root),
        }
    }

    /// Says why no answer came to a request.
    fn unsent(&self, error: reqwest::Error) -> ProviderError {
        let error = error.without_url();
        let host = self.host.clone();
        if error.is_timeout() {
            return self.silent(Silence::Connect);
        }
        let mut causes = causes(&error);
        if causes.any(|cause| io_kind(cause) == Some(io::ErrorKind::ConnectionRefused)) {
            return ProviderError::Refused { host, loopback: self.loopback };
        }
        let why = self.why(&error);
        if !error.is_connect() {
            return ProviderError::Broken { host, why };
        }
        if self::causes(&error).any(|cause| tls_error(cause).is_some()) {
            return ProviderError::Tls { host, why };
        }
        if self::causes(&error).any(|cause| cause.to_string().starts_with("dns error")) {
            return ProviderError::Dns { host, why };
        }
        ProviderError::Connect { host, why }
    }
}

/// Takes out of `text` what begins like `secret`, as far as it goes on like it.
fn without_starts(text: String, secret: &str) -> String {
    /// What is shorter may be a word that many keys begin with.
    const LEAST: usize = 12;
    let Some(start) = secret.get(..LEAST).filter(|_| secret.len() > LEAST) else { return text };
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(start) {
        let (before, from) = rest.split_at(at);
        let same = from.chars().zip(secret.chars()).take_while(|(one, other)| one == other);
        let length: usize = same.map(|(character, _)| character.len_utf8()).sum();
        out.extend([before, "[key]"]);
        rest = &from[length..];
    }
    out + rest
}

fn secret(value: &str, what: &str) -> Result<HeaderValue, ProviderError> {
    let value = HeaderValue::from_str(value);
    let mut value = value.map_err(|_| ProviderError::Header { what: what.to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns host and port as they are typed, without user name, path and query.
pub(super) fn spoken_host(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

type Cause = dyn StdError + 'static;

fn causes<'a>(error: &'a Cause) -> impl Iterator<Item = &'a Cause> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error: &'a Cause = next?;
        next = error.source();
        Some(error)
    })
}

fn io_kind(error: &Cause) -> Option<io::ErrorKind> {
    error.downcast_ref::<io::Error>().map(io::Error::kind)
}

fn tls_error(error: &Cause) -> Option<&rustls::Error> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(error);
    }
    // An I/O error does not name what it wraps as its source.
    let inner: &Cause = error.downcast_ref::<io::Error>()?.get_ref()?;
    tls_error(inner)
}

fn is_not_tls(error: &Cause) -> bool {
    matches!(tls_error(error), Some(rustls::Error::InvalidMessage(_)))
}
