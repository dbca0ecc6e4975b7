//! The outermost layer: every arrival leaves one record, however it ends.
//!
//! Needs a request from the listener. Gives `Arrived`. Refuses only when the books are full. The record is in the journal before
//! the last byte of the answer is handed to the client.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use bytes::Bytes;
use futures::FutureExt;
use http::header::{CONTENT_LENGTH, HeaderValue, USER_AGENT, VIA};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use tower::Layer;
use uuid::Uuid;

use super::record::End;
use super::{Entry, Lane, entry};
use crate::body::{self, Body, BodyError, known_length};
use crate::listener::Arriving;
use crate::listener::peer::Peer;
use crate::pipeline::{Answer, Arrived, Serve};
use crate::refusal::Refusal;
use crate::stages::proxy::{Moved, Tunnel};

pub fn layer(lane: Arc<Lane>) -> RecordedLayer {
    RecordedLayer { lane }
}

pub struct RecordedLayer {
    lane: Arc<Lane>,
}

impl<S> Layer<S> for RecordedLayer {
    type Service = Recorded<S>;

    fn layer(&self, inner: S) -> Recorded<S> {
        Recorded { lane: self.lane.clone(), inner }
    }
}

pub struct Recorded<S> {
    lane: Arc<Lane>,
    inner: S,
}

impl<S: Serve<Arrived>> Recorded<S> {
    /// Takes a request through the stages.
    pub async fn handle(&self, request: Request<Arriving>, peer: Peer) -> Response<Body> {
        let asked = request_id(request.headers());
        let mut entry = match self.lane.arrive() {
            Ok(entry) => entry,
            Err(full) => {
                let detail = "the gateway has no room left to write down what it does, so it does nothing";
                return refusal(full.id, asked, Outcome::BooksFull, Stage::Route, detail);
            }
        };
        let (id, method) = (entry.id(), request.method().clone());
        describe(&mut entry, &request, asked.clone());
        let arrived = Arrived { request, peer, entry };
        // A panic drops the entry, which then says `internal` at the stage that it was in.
        match AssertUnwindSafe(self.inner.serve(arrived)).catch_unwind().await {
            Ok(answer) => hand_out(answer, &method),
            Err(_panic) => {
                refusal(id, asked, Outcome::Internal, entry::fell_at(), "something went wrong here")
            }
        }
    }
}

/// The client's own name for the request, if it is 1 to 128 visible ASCII characters.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get("x-request-id")?;
    ((1..=128).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)).then(|| id.clone())
}

fn describe(entry: &mut Entry, request: &Request<Arriving>, asked: Option<HeaderValue>) {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    entry.record.request_id = asked.map_or_else(|| entry.id().to_string(), |id| text(&id));
    entry.record.method = request.method().as_str().to_owned();
    entry.record.path = request.uri().path().to_owned();
    entry.record.user_agent = request.headers().get(USER_AGENT).map(text).unwrap_or_default();
}

/// Toll's own answer to a request that has no entry (any more).
fn refusal(
    id: Uuid,
    asked: Option<HeaderValue>,
    outcome: Outcome,
    stage: Stage,
    detail: &'static str,
) -> Response<Body> {
    let mut response = Refusal::new(stage, outcome, detail).response(id);
    let id = id.to_string();
    let request_id = asked.or_else(|| HeaderValue::from_str(&id).ok());
    stamp(response.headers_mut(), stage, outcome, &id, request_id);
    response
}

/// What every response carries.
fn stamp(headers: &mut HeaderMap, stage: Stage, outcome: Outcome, id: &str, request_id: Option<HeaderValue>) {
    headers.insert("x-toll-stage", HeaderValue::from_static(stage.name()));
    headers.insert("x-toll-outcome", HeaderValue::from_static(outcome.name()));
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert("x-toll-id", id);
    }
    if let Some(request_id) = request_id {
        headers.insert("x-request-id", request_id);
    }
    headers.append(VIA, HeaderValue::from_static("1.1 toll"));
}

fn hand_out(answer: Answer, method: &Method) -> Response<Body> {
    let Answer { mut response, entry, end } = answer;
    let request_id = HeaderValue::from_str(&entry.record.request_id).ok();
    let id = entry.id().to_string();
    stamp(response.headers_mut(), end.stage, end.outcome, &id, request_id);
    if let Some(tunnel) = response.extensions_mut().remove::<Tunnel>() {
        let moved = tunnel.moved();
        tokio::spawn(keep_open(tunnel, Upgraded { moved, entry, end }));
        return response;
    }
    if method == Method::HEAD {
        // Nobody will ask for the body; it only tells its length.
        if let Some(length) = known_length(response.body()).filter(|length| *length > 0) {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| length.into());
        }
    }
    if response.status() == StatusCode::RESET_CONTENT {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    if method == Method::HEAD || has_no_content(response.status()) {
        *response.body_mut() = body::empty();
    }
    response.map(|body| RecordedBody::new(body, entry, end).boxed_unsync())
}

/// RFC 9110 §15.3.5, §15.3.6 and §15.4.5, whatever the upstream sends behind such a head.
fn has_no_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The books stay open until the tunnel is closed.
async fn keep_open(tunnel: Tunnel, _upgraded: Upgraded) {
    tunnel.run().await;
}

/// Settles its entry when it is dropped: a tunnel may be cut off when the gateway stops, and what it carried counts.
struct Upgraded {
    moved: Arc<Moved>,
    entry: Entry,
    end: End,
}

impl Drop for Upgraded {
    fn drop(&mut self) {
        self.entry.record.bytes_in += self.moved.from_client();
        self.entry.record.bytes_out += self.moved.from_upstream();
        self.entry.settle(self.end);
    }
}

/// A body that settles its entry before its last byte is handed over.
struct RecordedBody {
    inner: Body,
    /// Gone when settled.
    open: Option<(Entry, End)>,
}

impl RecordedBody {
    fn new(inner: Body, entry: Entry, end: End) -> RecordedBody {
        let mut body = RecordedBody { inner, open: Some((entry, end)) };
        if body.inner.is_end_stream() {
            body.settle(None);
        }
        body
    }

    /// `instead`: the body did not end as the answer would have.
    fn settle(&mut self, instead: Option<(Outcome, u16)>) {
        if let Some((mut entry, mut end)) = self.open.take() {
            if let Some((outcome, status)) = instead {
                (end.outcome, end.status) = (outcome, status);
            }
            entry.settle(end);
        }
    }

    fn broke(&mut self, error: &BodyError) {
        let Some((_, end)) = &self.open else { return };
        let outcome = match error {
            BodyError::UpstreamIdle => Outcome::UpstreamTimeout,
            BodyError::Upstream(_) => Outcome::UpstreamBroken,
            _ => Outcome::Internal,
        };
        self.settle(Some((outcome, end.status)));
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(data), Some((entry, _))) = (frame.data_ref(), &mut self.open) {
                    entry.record.bytes_out += data.len() as u64;
                }
                if frame.is_trailers() || self.inner.is_end_stream() {
                    self.settle(None);
                }
            }
            Some(Err(error)) => self.broke(error),
            None => self.settle(None),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RecordedBody {
    /// Dropped before its end: the client has left.
    fn drop(&mut self) {
        self.settle(Some((Outcome::ClientGone, Outcome::ClientGone.status())));
    }
}
