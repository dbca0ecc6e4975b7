//! The body of a request, of which the rest may still be on its way when the answer is known.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// What is waited for before an early answer, and how long.
const MOST: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_millis(100);

pub enum Arriving {
    Alone(Incoming),
    Shared(Arc<Mutex<Incoming>>),
}

/// The listener's hold on a body.
pub struct Rest(Arc<Mutex<Incoming>>);

impl Arriving {
    /// Over HTTP/2 the listener keeps a hold on a body that is not there whole. Not on one that waits to be asked for.
    pub fn of(request: Request<Incoming>) -> (Request<Arriving>, Option<Rest>) {
        let is_short = request.version() >= Version::HTTP_2
            && !request.body().is_end_stream()
            && !request.headers().contains_key(header::EXPECT);
        if !is_short {
            return (request.map(Arriving::Alone), None);
        }
        let (parts, body) = request.into_parts();
        let body = Arc::new(Mutex::new(body));
        (Request::from_parts(parts, Arriving::Shared(body.clone())), Some(Rest(body)))
    }
}

impl Rest {
    /// An answer that ends before its request has h2 reset the stream (RFC 9113 §8.1). There are clients that lose the
    /// answer over it, and what is wrong with the rest of the request goes unsaid. So what nobody else reads is read, if
    /// it comes soon.
    pub async fn finish(self) {
        // An upload that goes on has it.
        let Some(body) = Arc::into_inner(self.0) else { return };
        let mut body = body.into_inner().unwrap_or_else(PoisonError::into_inner);
        let to_the_end = async {
            let mut read = 0;
            while read < MOST
                && let Some(Ok(frame)) = body.frame().await
            {
                read += frame.data_ref().map_or(0, Bytes::len);
            }
        };
        let _late = tokio::time::timeout(PATIENCE, to_the_end).await;
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Arriving::Alone(body) => Pin::new(body).poll_frame(cx),
            Arriving::Shared(body) => Pin::new(&mut *lock(body)).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Arriving::Alone(body) => body.is_end_stream(),
            Arriving::Shared(body) => lock(body).is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Arriving::Alone(body) => body.size_hint(),
            Arriving::Shared(body) => lock(body).size_hint(),
        }
    }
}

fn lock(body: &Mutex<Incoming>) -> MutexGuard<'_, Incoming> {
    body.lock().unwrap_or_else(PoisonError::into_inner)
}
