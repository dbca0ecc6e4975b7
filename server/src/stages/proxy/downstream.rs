//! The upstream's answer on its way down.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::upload::Upload;
use super::{cookies, request};
use crate::body::{Body, BodyError};
use crate::catalog::upstream::InFlight;
use crate::stages::breaker::{Call, Failure};

/// Takes away what is between the upstream and Toll.
pub fn tidy(headers: &mut HeaderMap, is_upgrade: bool) {
    let protocol = is_upgrade.then(|| headers.get(header::UPGRADE).cloned()).flatten();
    request::remove_hop_by_hop(headers);
    request::remove_toll(headers);
    cookies::refuse_session(headers);
    if let Some(protocol) = protocol {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
}

pub fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// The body, which keeps the call open until it ends, and reports it if it breaks.
pub fn body(inner: Incoming, call: Call, in_flight: InFlight, upload: Upload, idle: Duration) -> Body {
    UpstreamBody { inner, call, idle, timer: None, _in_flight: in_flight, _upload: upload }.boxed_unsync()
}

struct UpstreamBody {
    inner: Incoming,
    call: Call,
    idle: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    _in_flight: InFlight,
    _upload: Upload,
}

impl HttpBody for UpstreamBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            this.timer = None;
            if matches!(frame, Some(Err(_))) {
                this.call.failed(Failure::Broken);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Upstream)));
        }
        let idle = this.idle;
        let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        ready!(timer.as_mut().poll(cx));
        this.call.failed(Failure::TimedOut);
        Poll::Ready(Some(Err(BodyError::UpstreamIdle)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
