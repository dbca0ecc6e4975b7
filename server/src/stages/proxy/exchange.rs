//! One request to one target, up to the head of its answer.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{CONNECTION, HOST, UPGRADE};
use http::{Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;

use super::interim::Client;
use super::pool::{Kind, Lease, Pool, Wish};
use super::upload::Progress;
use crate::body::Body;
use crate::catalog::Target;
use crate::ledger::Entry;

/// Why there was no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection: the target knows nothing of the request.
    Unreachable,
    /// No connection, because this machine has run out of files or ports.
    Short,
    /// The target itself says that it did not begin with the request (RFC 9113 §8.7).
    Refused,
    /// A connection that had carried others was closed without a word: most likely just as the request was sent.
    Stale,
    TimedOut,
    /// Closed, garbage, or over a limit.
    Off,
}

pub struct Exchange<'e> {
    pub pool: Arc<Pool>,
    pub target: &'e Target,
    pub wish: Wish,
    pub connect_timeout: Duration,
    /// From the last byte of the request to the head of the answer.
    pub timeout: Duration,
    pub progress: Progress,
    /// Who gets interim answers.
    pub client: Option<Client>,
}

type Sent = Result<Response<Incoming>, TrySendError<Request<Body>>>;

impl Exchange<'_> {
    /// Tells `entry` when a connection takes the request.
    pub async fn run(
        mut self,
        request: Request<Body>,
        entry: &mut Entry,
    ) -> Result<(Response<Incoming>, Lease), Broken> {
        let mut request = Some(request);
        // A connection that closes before any of the request is written hands it back: it goes on another one, whatever
        // its method. That is no retry, nothing was sent. The second one is fresh, so that this ends.
        while let Some(to_send) = request.take() {
            let mut lease = self.pool.lease(self.target, self.wish, self.connect_timeout).await?;
            entry.sent();
            let mut error = match self.send(&mut lease, to_send).await {
                None => return Err(Broken::TimedOut),
                Some(Ok(response)) => return Ok((response, lease)),
                Some(Err(error)) => error,
            };
            match error.take_message() {
                Some(unsent) if lease.is_reused && !self.wish.fresh => {
                    entry.not_sent();
                    self.wish.fresh = true;
                    request = Some(unsent);
                }
                // Taken in by a connection that had just been opened, and then not written: nobody knows why.
                Some(_) => return Err(Broken::Off),
                None => return Err(why(error.error(), &lease)),
            }
        }
        Err(Broken::Off)
    }

    /// `None`: the time was over.
    async fn send(&self, lease: &mut Lease, request: Request<Body>) -> Option<Sent> {
        match &mut lease.kind {
            Kind::Http1(connection) => {
                connection.watch.begin();
                let mut request = origin_form(request, self.target);
                self.client.iter().for_each(|client| client.hears(&mut request));
                let response = connection.sender.try_send_request(request);
                self.head_in_time(response).await
            }
            Kind::Http2(sender) => {
                let response = sender.try_send_request(without_upgrade(request));
                self.head_in_time(response).await
            }
            Kind::Gone => None,
        }
    }

    /// Wakes the client's connection, for it to write an interim answer.
    async fn interim(&self) {
        match &self.client {
            Some(client) => client.has_heard().await,
            None => std::future::pending().await,
        }
    }

    /// `None`: the time was over. It counts from the last progress of the upload, so that a slow client is not taken
    /// for a slow upstream.
    async fn head_in_time<F: Future>(&self, response: F) -> Option<F::Output> {
        tokio::pin!(response);
        let mut deadline = Instant::now() + self.timeout;
        loop {
            tokio::select! {
                biased;
                done = &mut response => return Some(done),
                () = self.interim() => {}
                () = tokio::time::sleep_until(deadline.into()) => {
                    let later = self.progress.last() + self.timeout;
                    if later <= Instant::now() {
                        return None;
                    }
                    deadline = later;
                }
            }
        }
    }
}

/// As HTTP/1.1 writes it: the path alone, and the host in a field (RFC 9112 §3.2.1).
fn origin_form(mut request: Request<Body>, target: &Target) -> Request<Body> {
    let path = std::mem::take(request.uri_mut()).into_parts().path_and_query;
    *request.uri_mut() = path.map(Uri::from).unwrap_or_default();
    request.headers_mut().insert(HOST, target.host.clone());
    request
}

/// HTTP/2 has no upgrades; an upstream is free to go on without (RFC 9110 §7.8).
fn without_upgrade(mut request: Request<Body>) -> Request<Body> {
    *request.version_mut() = Version::HTTP_2;
    request.headers_mut().remove(UPGRADE);
    request.headers_mut().remove(CONNECTION);
    request
}

fn why(error: &hyper::Error, lease: &Lease) -> Broken {
    tracing::debug!(error = chain(error), "an exchange failed");
    match &lease.kind {
        Kind::Http1(connection) if lease.is_reused && !connection.watch.heard() => Broken::Stale,
        Kind::Http2(_) => match h2_error(error) {
            Some(h2) if h2.reason() == Some(h2::Reason::REFUSED_STREAM) => Broken::Refused,
            Some(h2) if h2.is_go_away() && h2.is_remote() => Broken::Refused,
            // The stream was reset: that is an answer, if a poor one.
            Some(h2) if h2.is_reset() => Broken::Off,
            _ if lease.is_reused => Broken::Stale,
            _ => Broken::Off,
        },
        _ => Broken::Off,
    }
}

fn h2_error(error: &hyper::Error) -> Option<&h2::Error> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(h2) = error.downcast_ref() {
            return Some(h2);
        }
        source = error.source();
    }
    None
}

fn chain(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
