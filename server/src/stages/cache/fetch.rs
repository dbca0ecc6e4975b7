//! An answer on its way into the store: its body is read by whoever wants it most, the client that it was fetched for or
//! those who wait for the whole. So neither a slow client nor one that leaves holds the others up.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;

use super::flight::{Landed, Lead};
use super::key::UriKey;
use super::store::Store;
use super::stored::Stored;
use crate::body::{Body, BodyError};

/// Where the answer goes once it is whole.
pub struct Plan {
    pub stored: Stored,
    pub store: Store,
    pub uri: UriKey,
    /// Path and query as they were asked.
    pub path: Box<str>,
    /// Held until the answer is stored, so that nobody comes between and asks again.
    pub lead: Option<Lead>,
}

pub struct Fetch {
    state: Mutex<State>,
    wakers: Arc<Wakers>,
}

struct State {
    /// Gone at its end.
    source: Option<Body>,
    /// Read for others, and not yet taken by the client it was fetched for.
    ahead: VecDeque<Result<Frame<Bytes>, BodyError>>,
    has_client: bool,
    copy: BytesMut,
    /// Gone when the answer is stored, or will not be.
    plan: Option<Plan>,
    /// What became of it, once that is known: `None` within, it is not to be shared.
    landed: Option<Option<Arc<Stored>>>,
}

impl Fetch {
    /// Begins for the client that takes [`Fetch::body`].
    pub fn start(source: Body, plan: Plan) -> Arc<Fetch> {
        let state = State {
            source: Some(source),
            ahead: VecDeque::new(),
            has_client: true,
            copy: BytesMut::new(),
            plan: Some(plan),
            landed: None,
        };
        let fetch = Arc::new(Fetch { state: Mutex::new(state), wakers: Arc::default() });
        let mut state = fetch.lock();
        if state.source.as_ref().is_some_and(HttpBody::is_end_stream) {
            state.complete();
        } else if let Some(lead) = state.plan.as_ref().and_then(|plan| plan.lead.as_ref()) {
            lead.coming(Arc::downgrade(&fetch));
        }
        drop(state);
        fetch
    }

    /// For the client that it was fetched for.
    pub fn body(self: Arc<Fetch>) -> Body {
        ClientSide { fetch: self }.boxed_unsync()
    }

    /// Waits for the end; `None` if the answer is not to be shared after all. Reads on meanwhile.
    pub async fn whole(&self) -> Option<Arc<Stored>> {
        std::future::poll_fn(|cx| {
            let mut state = self.lock();
            loop {
                if let Some(landed) = &state.landed {
                    return Poll::Ready(landed.clone());
                }
                ready!(self.read_on(&mut state, cx));
            }
        })
        .await
    }

    /// One frame more, or the end.
    fn read_on(&self, state: &mut State, cx: &Context<'_>) -> Poll<()> {
        let Some(source) = &mut state.source else { return Poll::Ready(()) };
        self.wakers.add(cx.waker());
        // Whoever polled last may lose interest: news wake all.
        let all = Waker::from(self.wakers.clone());
        let frame = ready!(Pin::new(&mut *source).poll_frame(&mut Context::from_waker(&all)));
        // With a known length the last byte is the end; nobody may ask for more.
        let is_end = source.is_end_stream();
        match frame {
            None => state.complete(),
            Some(Ok(frame)) => state.took(frame, is_end),
            Some(Err(error)) => {
                state.give_up();
                state.source = None;
                state.hand_on(Err(error));
            }
        }
        all.wake();
        Poll::Ready(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn took(&mut self, frame: Frame<Bytes>, is_end: bool) {
        match frame.data_ref() {
            Some(data) => self.keep(data),
            // Trailers are not stored, and an answer without them would not be the same.
            None => self.give_up(),
        }
        self.hand_on(Ok(frame));
        if is_end {
            self.complete();
        }
    }

    fn keep(&mut self, data: &Bytes) {
        let Some(plan) = &self.plan else { return };
        if self.copy.len() + data.len() > plan.store.largest() {
            self.give_up();
        } else {
            self.copy.extend_from_slice(data);
        }
    }

    fn hand_on(&mut self, frame: Result<Frame<Bytes>, BodyError>) {
        if self.has_client {
            self.ahead.push_back(frame);
        }
    }

    fn complete(&mut self) {
        self.source = None;
        if let Some(Plan { mut stored, store, uri, path, lead }) = self.plan.take() {
            stored.body = std::mem::take(&mut self.copy).freeze();
            let shared = store.put(uri, path, stored);
            self.landed = Some(shared.clone());
            if let Some(lead) = lead {
                lead.land(shared.map_or(Landed::Alone, Landed::Shared));
            }
        }
    }

    fn give_up(&mut self) {
        (self.plan, self.copy) = (None, BytesMut::new());
        self.landed.get_or_insert(None);
    }
}

struct ClientSide {
    fetch: Arc<Fetch>,
}

impl HttpBody for ClientSide {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut state = self.fetch.lock();
        loop {
            if let Some(frame) = state.ahead.pop_front() {
                return Poll::Ready(Some(frame));
            }
            if state.source.is_none() {
                return Poll::Ready(None);
            }
            ready!(self.fetch.read_on(&mut state, cx));
        }
    }

    fn is_end_stream(&self) -> bool {
        let state = self.fetch.lock();
        state.ahead.is_empty() && state.source.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let state = self.fetch.lock();
        let data = |frame: &Result<Frame<Bytes>, BodyError>| {
            frame.as_ref().ok().and_then(Frame::data_ref).map_or(0, |data| data.len() as u64)
        };
        let ahead: u64 = state.ahead.iter().map(data).sum();
        let rest = state.source.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + ahead);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + ahead);
        }
        hint
    }
}

impl Drop for ClientSide {
    fn drop(&mut self) {
        let mut state = self.fetch.lock();
        state.has_client = false;
        state.ahead.clear();
    }
}

/// Everybody who waits for the next frame.
#[derive(Default)]
struct Wakers {
    waiting: Mutex<Vec<Waker>>,
}

impl Wakers {
    fn add(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
    }
}
