//! Bodies on their way through the gateway.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};

/// Any body, in either direction.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// Why a body ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the client broke off: {0}")]
    Client(#[source] hyper::Error),
    #[error("the client sent nothing for too long")]
    ClientIdle,
    #[error("the body is over the limit")]
    TooLarge,
    #[error("the upstream broke off: {0}")]
    Upstream(#[source] hyper::Error),
    #[error("the upstream sent nothing for too long")]
    UpstreamIdle,
    #[error("the portal broke off: {0}")]
    Portal(String),
}

pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// How much a client may send, and how long it may pause.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes; `None` is unlimited.
    pub size: Option<u64>,
    pub idle: Duration,
}

/// Reads a body of unknown length to its end, so that one over the limit never leaves the gateway.
/// Returns the data and the trailers, if there were any.
pub async fn hold_back<B>(mut body: B, limits: Limits) -> Result<(Bytes, Option<http::HeaderMap>), BodyError>
where
    B: http_body::Body<Data = Bytes, Error = BodyError> + Unpin,
{
    let mut held = BytesMut::new();
    let mut trailers = None;
    loop {
        let frame = match tokio::time::timeout(limits.idle, body.frame()).await {
            Err(_) => return Err(BodyError::ClientIdle),
            Ok(None) => return Ok((held.freeze(), trailers)),
            Ok(Some(frame)) => frame?,
        };
        match frame.into_data() {
            Ok(data) => {
                let size = held.len() as u64 + data.len() as u64;
                if limits.size.is_some_and(|limit| size > limit) {
                    return Err(BodyError::TooLarge);
                }
                held.extend_from_slice(&data);
            }
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
}

/// The exact length of a body, where its framing tells.
pub fn known_length(body: &impl http_body::Body) -> Option<u64> {
    body.size_hint().exact()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { size: Some(4), idle: Duration::from_secs(1) };

    #[tokio::test]
    async fn a_body_at_the_limit_is_held_whole_and_one_byte_more_is_refused() {
        let (held, trailers) = hold_back(full("1234"), LIMITS).await.expect("at the limit");
        assert_eq!(held, "1234");
        assert!(trailers.is_none());
        assert!(matches!(hold_back(full("12345"), LIMITS).await, Err(BodyError::TooLarge)));
    }

    #[tokio::test]
    async fn a_body_that_pauses_too_long_is_given_up() {
        let silent = http_body_util::StreamBody::new(futures::stream::pending());
        let limits = Limits { size: None, idle: Duration::from_millis(20) };
        assert!(matches!(hold_back(silent, limits).await, Err(BodyError::ClientIdle)));
    }
}
