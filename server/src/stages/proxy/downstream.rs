//! The upstream's answer on its way down.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::pool::Lease;
use super::upload::Upload;
use super::{cookies, judge, request, trailers};
use crate::body::{Body, BodyError};
use crate::catalog::upstream::InFlight;
use crate::stages::breaker::{Call, Failure};

/// Takes away what is between the upstream and Toll.
pub fn tidy(parts: &mut Parts) {
    let is_upgrade = parts.status == StatusCode::SWITCHING_PROTOCOLS;
    let headers = &mut parts.headers;
    let protocol = is_upgrade.then(|| headers.get(header::UPGRADE).cloned()).flatten();
    request::remove_hop_by_hop(headers);
    request::remove_toll(headers);
    cookies::refuse_session(headers);
    if let Some(protocol) = protocol {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    if is_upgrade || parts.status == StatusCode::NO_CONTENT {
        // RFC 9110 §8.6: there is none to tell of.
        headers.remove(header::CONTENT_LENGTH);
    } else if headers.get_all(header::CONTENT_LENGTH).iter().nth(1).is_some()
        && let Ok(Some(length)) = judge::length(headers)
    {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
}

/// The same for an answer before the answer, which has no body (RFC 9110 §8.6).
pub fn tidy_interim(headers: &mut HeaderMap) {
    request::remove_hop_by_hop(headers);
    request::remove_toll(headers);
    cookies::refuse_session(headers);
    headers.remove(header::CONTENT_LENGTH);
}

pub fn is_event_stream(headers: &HeaderMap) -> bool {
    const KIND: &[u8] = b"text/event-stream";
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
        let kind = kind.as_bytes().trim_ascii_start();
        kind.len() >= KIND.len() && kind[..KIND.len()].eq_ignore_ascii_case(KIND)
    })
}

/// What is held until a body has ended.
pub struct Held {
    pub call: Call,
    #[expect(dead_code, reason = "it counts until it is dropped")]
    pub in_flight: InFlight,
    pub upload: Upload,
    pub lease: Lease,
    /// The status has counted against the upstream already.
    pub has_failed: bool,
}

/// The body, which keeps the call open until it ends, and reports it if it breaks.
pub fn body(inner: Incoming, held: Held, idle: Duration) -> Body {
    UpstreamBody { inner, held: Some(held), has_ended: false, idle, timer: None, is_armed: false }
        .boxed_unsync()
}

struct UpstreamBody {
    inner: Incoming,
    /// Gone only when this is dropped.
    held: Option<Held>,
    has_ended: bool,
    idle: Duration,
    /// Made at the first pause, and set anew at each.
    timer: Option<Pin<Box<Sleep>>>,
    is_armed: bool,
}

impl UpstreamBody {
    fn failed(&mut self, failure: Failure) {
        if let Some(held) = &mut self.held
            && !std::mem::replace(&mut held.has_failed, true)
        {
            held.call.failed(failure);
        }
    }

    /// Ready when the upstream has paused for too long.
    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let idle = self.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        if !std::mem::replace(&mut self.is_armed, true) {
            timer.as_mut().reset((Instant::now() + idle).into());
        }
        timer.as_mut().poll(cx)
    }
}

impl HttpBody for UpstreamBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) else {
            ready!(this.poll_pause(cx));
            this.failed(Failure::TimedOut);
            return Poll::Ready(Some(Err(BodyError::UpstreamIdle)));
        };
        this.is_armed = false;
        Poll::Ready(match frame {
            None => {
                this.has_ended = true;
                None
            }
            Some(Ok(mut frame)) => {
                if let Some(trailers) = frame.trailers_mut() {
                    trailers::tidy(trailers);
                    this.has_ended = true;
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => {
                this.failed(Failure::Broken);
                Some(Err(BodyError::Upstream(error)))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for UpstreamBody {
    /// Whole: its connection is free for the next. Not whole: the client has left, or the upstream; the connection ends.
    fn drop(&mut self) {
        let is_whole = self.has_ended || self.inner.is_end_stream();
        if let Some(Held { lease, upload, .. }) = self.held.take()
            && is_whole
        {
            lease.give_back(upload.is_held());
        }
    }
}
