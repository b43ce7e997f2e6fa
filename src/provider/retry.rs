//! A provider that asks again where asking again may help.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use crate::message::Message;

use super::error::{LONGEST_WAIT, ProviderError, Remedy};
use super::{Chunk, Encoded, Provider, Request};

/// How often and how patiently a request is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Requests in all, the first one included.
    pub tries: u32,
    /// The same for a server that cannot be reached.
    pub tries_unreachable: u32,
    /// The first wait; each one doubles.
    pub soon: Duration,
    /// The first wait where the server is busy.
    pub later: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            tries: 5,
            tries_unreachable: 3,
            soon: Duration::from_millis(500),
            later: Duration::from_secs(2),
        }
    }
}

impl Patience {
    /// Decides how long to wait after the request failed for the `failures`th time with `error`.
    ///
    /// `None` ends it. `chance` between 0 and 1 spreads the waits of many clients.
    pub fn wait(&self, error: &ProviderError, failures: u32, chance: f64) -> Option<Duration> {
        let tries = if error.is_unreachable() { self.tries_unreachable } else { self.tries };
        if failures >= tries {
            return None;
        }
        let first = match error.remedy() {
            Remedy::Never => return None,
            Remedy::After(wait) => return Some(wait),
            Remedy::Soon => self.soon,
            Remedy::Later => self.later,
        };
        let full = first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_WAIT);
        Some(full.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0))
    }
}

/// Makes requests of `inner` again when they fail in a way that may pass.
///
/// Nothing of a reply is acted on before it is complete, so a stream that broke in its middle is
/// asked for again too. [`Chunk::Restarted`] comes before each wait, which a drop ends.
pub struct Retrying<P> {
    inner: P,
    patience: Patience,
}

impl<P: Provider> Retrying<P> {
    pub fn new(inner: P) -> Retrying<P> {
        Retrying::with(inner, Patience::default())
    }

    pub fn with(inner: P, patience: Patience) -> Retrying<P> {
        Retrying { inner, patience }
    }

    /// Returns the provider that is asked.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

impl<P: Provider> Provider for Retrying<P> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        self.inner.encode(message)
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let tries = Tries { provider: self, request, step: Step::Ask(Duration::ZERO), failures: 0 };
        let next = |mut tries: Tries<'a, P>| async {
            let item = tries.next().await?;
            Some((item, tries))
        };
        stream::unfold(tries, next).boxed()
    }
}

/// One request with all its repetitions.
struct Tries<'a, P> {
    provider: &'a Retrying<P>,
    request: Request<'a>,
    step: Step<'a>,
    failures: u32,
}

enum Step<'a> {
    Ask(Duration),
    Read(BoxStream<'a, Result<Chunk, ProviderError>>),
    Over,
}

impl<'a, P: Provider> Tries<'a, P> {
    async fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        loop {
            let item = match &mut self.step {
                Step::Over => return None,
                Step::Ask(wait) => {
                    // The shortest sleep is a tick of the timer, a millisecond.
                    if !wait.is_zero() {
                        tokio::time::sleep(*wait).await;
                    }
                    let provider: &'a Retrying<P> = self.provider;
                    self.step = Step::Read(provider.inner.stream(self.request));
                    continue;
                }
                Step::Read(stream) => stream.next().await,
            };
            match item.unwrap_or(Err(ProviderError::Interrupted)) {
                Ok(Chunk::Done(reply)) => {
                    self.step = Step::Over;
                    return Some(Ok(Chunk::Done(reply)));
                }
                Ok(chunk) => return Some(Ok(chunk)),
                Err(error) => return Some(self.failed(error)),
            }
        }
    }

    fn failed(&mut self, error: ProviderError) -> Result<Chunk, ProviderError> {
        self.failures += 1;
        let Some(wait) = self.provider.patience.wait(&error, self.failures, chance()) else {
            self.step = Step::Over;
            return Err(error);
        };
        self.step = Step::Ask(wait);
        Ok(Chunk::Restarted { why: error.to_string(), wait })
    }
}

/// Returns a random number between 0 and 1.
fn chance() -> f64 {
    // The keys of a new state are random; hashing anything shows them.
    let random = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or(0);
    f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_limit_and_obey_the_server() {
        let patience = Patience { tries: 12, ..Patience::default() };
        let status = |status, wait, again| ProviderError::Status {
            host: "h".into(),
            status,
            message: "m".into(),
            wait,
            again,
        };
        let seconds = Duration::from_secs;
        let rows = [
            (ProviderError::Interrupted, 1, Some(0.5)),
            (ProviderError::Interrupted, 3, Some(2.0)),
            (ProviderError::Interrupted, 11, Some(60.0)),
            (ProviderError::Interrupted, 12, None),
            (status(503, None, None), 2, Some(4.0)),
            (status(429, Some(seconds(7)), None), 2, Some(7.0)),
            (status(429, Some(seconds(61)), None), 1, None),
            (status(400, None, None), 1, None),
            (status(400, None, Some(true)), 1, Some(0.5)),
            (status(500, None, Some(false)), 1, None),
            (ProviderError::Refused { host: "h".into(), loopback: true }, 3, None),
            (ProviderError::NoUrl, 1, None),
        ];
        for (error, failures, expected) in rows {
            let wait = patience.wait(&error, failures, 1.0);
            assert_eq!(wait.map(|wait| wait.as_secs_f64()), expected, "{error}, {failures}");
        }
        let least = patience.wait(&ProviderError::Interrupted, 1, 0.0);
        assert_eq!(least, Some(Duration::from_millis(250)));
    }
}
