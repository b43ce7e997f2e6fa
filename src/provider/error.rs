//! Why a request to the model failed, and whether the same request may work later.

/// Why a request to the model failed.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("the reply ended before it was complete")]
    Interrupted,
}
