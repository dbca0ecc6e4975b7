//! The request's body on its way up: held back where it must be, streamed where it may be.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use app::domain::numbers::count;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::Sleep;

use super::trailers;
use crate::body::{self, Body, BodyError, Limits, hold_back, known_length};
use crate::catalog::Route;
use crate::ledger::Entry;
use crate::listener::Arriving;
use crate::refusal::Refusal;

/// Bodies of known length up to this are read whole before an upstream is bothered.
const SMALL: u64 = 64 << 10;

pub struct Upload {
    body: Source,
    progress: Progress,
}

enum Source {
    Held(Bytes, Option<HeaderMap>),
    Streaming(Option<Body>),
}

/// What has been sent up so far.
#[derive(Clone)]
pub struct Progress {
    shared: Arc<Shared>,
}

struct Shared {
    begun: Instant,
    /// Milliseconds since `begun` of the last byte.
    last: AtomicU64,
    bytes: AtomicU64,
    /// Why the client's body ended early.
    error: Mutex<Option<ClientFault>>,
}

/// What the client did wrong with its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientFault {
    BrokeOff,
    Malformed,
    Stalled,
    TooLarge,
}

impl Upload {
    /// A body of unknown length is held back until it is known to be under the limit, so that one over it never leaves
    /// the gateway; without a limit it streams.
    pub async fn prepare(incoming: Arriving, limits: Limits) -> Result<Upload, ClientFault> {
        let progress = Progress::new();
        let length = known_length(&incoming);
        let holds = match length {
            Some(length) => length <= SMALL,
            None => limits.size.is_some(),
        };
        if length == Some(0) {
            return Ok(Upload { body: Source::Held(Bytes::new(), None), progress });
        }
        let client =
            ClientBody { inner: incoming, idle: limits.idle, timer: None, progress: progress.clone() };
        let body = match holds {
            true => {
                let (bytes, trailers) = hold_back(client, limits).await.map_err(|error| fault_of(&error))?;
                Source::Held(bytes, trailers.filter(|trailers| !trailers.is_empty()))
            }
            false => Source::Streaming(Some(client.boxed_unsync())),
        };
        Ok(Upload { body, progress })
    }

    /// Whether all of it is at hand.
    pub fn is_held(&self) -> bool {
        matches!(self.body, Source::Held(..))
    }

    /// Says in the head how this body is sent, as far as hyper needs to be told.
    pub fn describe(&self, head: &mut HeaderMap) {
        let Source::Held(_, trailers) = &self.body else { return };
        // Its length is known now, whatever the framing was; hyper writes it.
        head.remove(header::CONTENT_LENGTH);
        match trailers {
            Some(trailers) => trailers::announce(trailers, head),
            None => drop(head.remove(header::TRAILER)),
        }
    }

    /// The same upload once more, if it is at hand.
    pub fn again(&self) -> Option<Upload> {
        match &self.body {
            Source::Held(bytes, trailers) => Some(Upload {
                body: Source::Held(bytes.clone(), trailers.clone()),
                progress: self.progress.clone(),
            }),
            Source::Streaming(_) => None,
        }
    }

    pub fn take_body(&mut self) -> Body {
        match &mut self.body {
            Source::Held(bytes, None) => body::full(bytes.clone()),
            Source::Held(bytes, Some(trailers)) => trailers::body(bytes.clone(), trailers.clone()),
            Source::Streaming(body) => body.take().unwrap_or_else(body::empty),
        }
    }

    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    pub fn bytes(&self) -> u64 {
        self.progress.shared.bytes.load(Ordering::Relaxed)
    }

    pub fn error(&self) -> Option<ClientFault> {
        *self.progress.shared.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn new() -> Progress {
        let begun = Instant::now();
        let (last, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Progress { shared: Arc::new(Shared { begun, last, bytes, error: Mutex::new(None) }) }
    }

    pub fn last(&self) -> Instant {
        self.shared.begun + Duration::from_millis(self.shared.last.load(Ordering::Relaxed))
    }

    fn moved(&self, bytes: usize) {
        self.shared.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.shared.last.store(self.shared.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn broke(&self, error: &BodyError) {
        *self.shared.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault_of(error));
    }
}

fn fault_of(error: &BodyError) -> ClientFault {
    match error {
        BodyError::ClientIdle => ClientFault::Stalled,
        BodyError::TooLarge => ClientFault::TooLarge,
        BodyError::Client(error) if is_malformed(error) => ClientFault::Malformed,
        _ => ClientFault::BrokeOff,
    }
}

/// Chunks that are none (the wire and hyper say so by the kind of the error), rather than a connection that is gone.
fn is_malformed(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause
        .is_some_and(|cause| matches!(cause.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput))
}

/// What a client hears whose body did not come whole.
pub fn refuse(fault: &ClientFault, route: &Route, entry: &Entry) -> Refusal {
    let refusal = match fault {
        ClientFault::TooLarge => {
            let limit = route.body_limit.unwrap_or_default();
            let detail =
                format!("the body is longer than the {} that this route takes", count(limit, "byte"));
            Refusal::new(Stage::Proxy, Outcome::BodyTooLarge, detail)
        }
        ClientFault::Stalled => {
            Refusal::new(Stage::Proxy, Outcome::RequestTimeout, "the rest of the body did not come")
        }
        ClientFault::Malformed => {
            Refusal::new(Stage::Proxy, Outcome::BadRequest, "the body's chunks are malformed")
        }
        ClientFault::BrokeOff => Refusal::new(Stage::Proxy, Outcome::ClientGone, "the body broke off"),
    };
    if entry.reached() { refusal.reached(0) } else { refusal }
}

/// The client's body, watched.
struct ClientBody {
    inner: Arriving,
    idle: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    progress: Progress,
}

impl ClientBody {
    fn poll_watched(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(mut frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            self.timer = None;
            if let Some(trailers) = frame.as_mut().and_then(|frame| frame.as_mut().ok()?.trailers_mut()) {
                trailers::tidy(trailers);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Client)));
        }
        let idle = self.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Some(Err(BodyError::ClientIdle)))
    }
}

impl HttpBody for ClientBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(self.poll_watched(cx));
        match &frame {
            Some(Ok(frame)) => self.progress.moved(frame.data_ref().map_or(0, Bytes::len)),
            Some(Err(error)) => self.progress.broke(error),
            None => {}
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
