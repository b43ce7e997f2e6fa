//! Why a request to the model failed, what to set, and whether the same request may work later.

use std::time::Duration;

use super::options::KeySource;

/// The longest wait that a server may ask for and still be waited for.
pub const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Why a request to the model failed. No text of it ever holds a key.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no address of a model server is set")]
    NoUrl,
    #[error("no model is named")]
    NoModel,
    #[error("`{url}` is not the address of a model server: {why}")]
    Url { url: String, why: String },
    #[error("{what} holds characters that an HTTP header cannot carry")]
    Header { what: String },
    #[error("the connection to {host} cannot be set up: {why}")]
    Client { host: String, why: String },
    #[error("{host} refused the connection")]
    Refused { host: String, loopback: bool },
    #[error("the name of {host} cannot be resolved: {why}")]
    Dns { host: String, why: String },
    #[error("there is no secure connection to {host}: {why}")]
    Tls { host: String, why: String },
    #[error("{host} could not be reached: {why}")]
    Connect { host: String, why: String },
    #[error("{host} {phase} for {} s", after.as_secs_f64())]
    Timeout { host: String, phase: Silence, after: Duration },
    /// Any answer but 2xx that has no variant of its own.
    #[error("{host} answered {status}: {message}{}", asked_wait(*wait))]
    Status {
        host: String,
        status: u16,
        message: String,
        /// The wait that the server asked for.
        wait: Option<Duration>,
        /// Whether the server said that trying again makes sense.
        again: Option<bool>,
    },
    /// The key is missing, wrong or not allowed to do this.
    #[error("{host} answered {status}: {message}")]
    Key { host: String, status: u16, message: String, sent: bool, from: KeySource },
    #[error("{host} has no model `{model}`: {message}")]
    ModelNotFound { host: String, model: String, message: String },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for `{model}` at {host}: {message}")]
    Overflow {
        host: String,
        model: String,
        message: String,
        /// The model's limit in tokens, where the server told.
        window: Option<u64>,
    },
    /// The account is out of credit or over its plan.
    #[error("{host} answered {status}: {message}")]
    Quota { host: String, status: u16, message: String },
    /// The server began to answer, then reported an error without an HTTP status.
    #[error("{host} reported an error: {message}")]
    Reported {
        host: String,
        message: String,
        /// The same request would fail again.
        lasting: bool,
    },
    /// The model wrote a call that its own server could not read.
    #[error("{host} could not read the model's call: {message}")]
    BadCall { host: String, message: String },
    #[error("{host} answered with {found}, not with a model's reply")]
    NotAnApi { host: String, found: String },
    #[error("the reply of {host} is larger than {} MiB", limit >> 20)]
    Oversized { host: String, limit: usize },
    #[error("the reply of {host} has more than {most} calls and other parts")]
    Overfull { host: String, most: usize },
    #[error("the reply of {host} broke off before it was complete: {why}")]
    Broken { host: String, why: String },
    #[error("the reply ended before it was complete")]
    Interrupted,
    #[error("the replay `{file}` has no more replies ({used} used)")]
    ReplayEnd { file: String, used: usize },
    #[error("line {line} of the replay `{file}` is not a reply: {why}")]
    ReplayLine { file: String, line: usize, why: String },
    #[error("{message}")]
    Scripted { message: String },
}

/// In which phase a server stayed silent for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    Connect,
    FirstByte,
    Idle,
    /// It said that it was there, and nothing else.
    Reply,
}

impl std::fmt::Display for Silence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Silence::Connect => "took no connection",
            Silence::FirstByte => "sent nothing",
            Silence::Idle => "stopped in the middle of the reply and sent nothing more",
            Silence::Reply => "gave signs of life, but nothing more of the reply,",
        })
    }
}

/// What may help after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The same request would fail again.
    Never,
    /// The same request may work in a moment.
    Soon,
    /// The server is busy: the same request may work in a while.
    Later,
    /// The server named the time.
    After(Duration),
}

impl ProviderError {
    /// Returns how long to wait before the same request may work; `None` if it never will.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.remedy() {
            Remedy::Never => None,
            Remedy::Soon => Some(Duration::from_millis(500)),
            Remedy::Later => Some(Duration::from_secs(2)),
            Remedy::After(wait) => Some(wait),
        }
    }

    /// Judges whether the same request may work later.
    pub fn remedy(&self) -> Remedy {
        match self {
            ProviderError::Status { status, wait, again, .. } => {
                status_remedy(*status, *wait, *again)
            }
            ProviderError::Refused { .. }
            | ProviderError::Dns { .. }
            | ProviderError::Connect { .. }
            | ProviderError::Timeout {
                phase: Silence::Connect | Silence::FirstByte | Silence::Idle,
                ..
            }
            | ProviderError::Reported { lasting: false, .. }
            | ProviderError::Broken { .. }
            | ProviderError::Interrupted => Remedy::Soon,
            ProviderError::NoUrl
            | ProviderError::NoModel
            | ProviderError::Url { .. }
            | ProviderError::Header { .. }
            | ProviderError::Client { .. }
            | ProviderError::Tls { .. }
            | ProviderError::Key { .. }
            | ProviderError::ModelNotFound { .. }
            | ProviderError::Overflow { .. }
            | ProviderError::Quota { .. }
            | ProviderError::BadCall { .. }
            | ProviderError::Reported { lasting: true, .. }
            | ProviderError::NotAnApi { .. }
            | ProviderError::Oversized { .. }
            | ProviderError::Overfull { .. }
            | ProviderError::Timeout { phase: Silence::Reply, .. }
            | ProviderError::ReplayEnd { .. }
            | ProviderError::ReplayLine { .. }
            | ProviderError::Scripted { .. } => Remedy::Never,
        }
    }

    /// Whether the server was not reached at all, so that many tries would only delay the news.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            ProviderError::Refused { .. }
                | ProviderError::Dns { .. }
                | ProviderError::Connect { .. }
                | ProviderError::Timeout { phase: Silence::Connect, .. }
        )
    }

    /// Returns the model's window in tokens, where the server told it because of an overflow.
    pub fn window(&self) -> Option<u64> {
        match self {
            ProviderError::Overflow { window, .. } => *window,
            _ => None,
        }
    }

    /// Whether a shorter conversation would have worked.
    pub fn is_overflow(&self) -> bool {
        matches!(self, ProviderError::Overflow { .. })
    }

    /// Returns what to tell the model so that it does better at the same request.
    pub fn correction(&self) -> Option<String> {
        match self {
            ProviderError::BadCall { message, .. } => Some(format!(
                "Your last call could not be read, and nothing was done ({message}). Make it again: \
                 one of the tools that were offered, its arguments a JSON object, nothing around it."
            )),
            ProviderError::Overfull { most, .. } => Some(format!(
                "Your last reply had more than {most} calls and other parts, and none was run. \
                 Make fewer at once."
            )),
            _ => None,
        }
    }

    /// Says what the person can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            ProviderError::NoUrl => {
                "set AGENT_API_URL, or give --api-url, such as http://localhost:11434/v1"
            }
            ProviderError::NoModel => "set AGENT_MODEL, or give -m NAME",
            ProviderError::Url { .. } => {
                "AGENT_API_URL (--api-url) is a base such as http://localhost:11434/v1, or the full \
                 address ending in /chat/completions"
            }
            ProviderError::Header { .. } => {
                "look for line ends and blanks in the key and in the extra headers"
            }
            ProviderError::Refused { loopback: true, .. } => {
                "is the server running? Start it, or set another address with AGENT_API_URL or \
                 --api-url"
            }
            ProviderError::Refused { .. }
            | ProviderError::Dns { .. }
            | ProviderError::Connect { .. }
            | ProviderError::Timeout { phase: Silence::Connect, .. } => {
                "check the network, its proxy, and the address (AGENT_API_URL, --api-url)"
            }
            ProviderError::Tls { .. } => {
                "an address without TLS begins with http://; where a proxy inspects the traffic, its \
                 certificate must be in the system's store, in the file that SSL_CERT_FILE names, or \
                 in that of `ca_file` in `[providers.NAME]` of the settings file"
            }
            ProviderError::Timeout { phase: Silence::FirstByte, .. } => {
                "the server may be loading the model or reading a long conversation; try again"
            }
            ProviderError::Timeout { phase: Silence::Reply, .. } => {
                "a model that reasons for longer needs more seconds as `reply_timeout` in the \
                 settings file"
            }
            ProviderError::Status { status, message, .. } => return status_hint(*status, message),
            ProviderError::Key { sent: false, from, .. } => {
                return Some(format!("no key was sent: {}", from.to_set()));
            }
            ProviderError::Key { status: 403, .. } => {
                "the key was sent, but it may not be allowed to use this model"
            }
            ProviderError::Key { from, .. } => {
                return Some(format!("the key was sent and not accepted: {}", from.to_check()));
            }
            ProviderError::ModelNotFound { .. } => {
                "`snick models` lists what the server offers; choose with -m NAME or AGENT_MODEL"
            }
            ProviderError::Overflow { .. } => {
                "begin a new conversation, or compact this one; a local server may need a larger \
                 context length"
            }
            ProviderError::Quota { .. } => {
                "this is settled with the provider of the key, or use another model (-m NAME)"
            }
            ProviderError::NotAnApi { .. } => {
                "the address may be wrong (AGENT_API_URL, --api-url), or a proxy wants a login"
            }
            ProviderError::Client { .. }
            | ProviderError::Timeout { phase: Silence::Idle, .. }
            | ProviderError::Reported { .. }
            | ProviderError::BadCall { .. }
            | ProviderError::Oversized { .. }
            | ProviderError::Overfull { .. }
            | ProviderError::Broken { .. }
            | ProviderError::Interrupted
            | ProviderError::ReplayEnd { .. }
            | ProviderError::ReplayLine { .. }
            | ProviderError::Scripted { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

fn status_remedy(status: u16, wait: Option<Duration>, again: Option<bool>) -> Remedy {
    let passing = matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 520..=524 | 529);
    if !again.unwrap_or(passing) {
        return Remedy::Never;
    }
    match wait {
        Some(wait) if wait > LONGEST_WAIT => Remedy::Never,
        Some(wait) => Remedy::After(wait),
        None if matches!(status, 429 | 503 | 529) => Remedy::Later,
        None => Remedy::Soon,
    }
}

fn status_hint(status: u16, message: &str) -> Option<String> {
    let hint = match status {
        300..=399 => "set AGENT_API_URL (--api-url) to the address that the server names",
        404 | 405 => {
            "the address may be wrong: AGENT_API_URL (--api-url) is a base such as \
             http://localhost:11434/v1, or the full address ending in /chat/completions"
        }
        413 => "begin a new conversation, or compact this one",
        400 | 422 if message.contains("tool") => {
            "the model may not support tools; choose another with -m NAME"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn asked_wait(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) if wait > LONGEST_WAIT => format!("; it asks to wait {}", spoken(wait)),
        _ => String::new(),
    }
}

/// Writes a long time as people say it, in its two largest units.
fn spoken(wait: Duration) -> String {
    let seconds = wait.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min {} s", seconds % 60),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}
