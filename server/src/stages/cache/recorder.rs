//! Keeps a copy of a body on its way through, and stores it when it has come to its end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;

use super::key::UriKey;
use super::stored::{Store, Stored};
use super::vary::Asked;
use crate::body::{Body, BodyError};

pub fn record(body: Body, stored: Stored, store: Store, uri: UriKey, asked: Asked) -> Body {
    let mut recorder =
        Recorder { inner: body, copy: BytesMut::new(), plan: Some(Plan { stored, store, uri, asked }) };
    if recorder.inner.is_end_stream() {
        recorder.complete();
    }
    recorder.boxed_unsync()
}

struct Plan {
    stored: Stored,
    store: Store,
    uri: UriKey,
    asked: Asked,
}

struct Recorder {
    inner: Body,
    copy: BytesMut,
    /// Gone when the body turned out too large, or has been stored.
    plan: Option<Plan>,
}

impl Recorder {
    fn keep(&mut self, data: &Bytes) {
        let Some(plan) = &self.plan else { return };
        if self.copy.len() + data.len() > plan.store.largest {
            (self.plan, self.copy) = (None, BytesMut::new());
        } else {
            self.copy.extend_from_slice(data);
        }
    }

    fn complete(&mut self) {
        if let Some(Plan { mut stored, store, uri, asked }) = self.plan.take() {
            stored.body = std::mem::take(&mut self.copy).freeze();
            store.put(uri, &asked, stored);
        }
    }
}

impl HttpBody for Recorder {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => match frame.data_ref() {
                Some(data) => {
                    self.keep(data);
                    // With a known length the last byte is the end; nobody may ask for more.
                    if self.inner.is_end_stream() {
                        self.complete();
                    }
                }
                // Trailers are not stored, and an answer without them would not be the same.
                None => self.plan = None,
            },
            Some(Err(_)) => self.plan = None,
            None => self.complete(),
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
