//! One request to one target, up to the head of its answer.

use std::time::{Duration, Instant};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::capture_connection;

use super::client::Client;
use super::upload::Progress;
use crate::body::Body;

/// Why there was no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection: the target knows nothing of the request.
    Unreachable,
    TimedOut,
    /// Closed, garbage, or over a limit.
    Off,
}

pub struct Exchange {
    pub client: Client,
    /// From the last byte of the request to the head of the answer.
    pub timeout: Duration,
    pub progress: Progress,
}

impl Exchange {
    /// `sent` is called once, when a connection has taken the request.
    pub async fn run(
        self,
        mut request: Request<Body>,
        sent: impl FnOnce(),
    ) -> Result<Response<Incoming>, Broken> {
        let mut connection = capture_connection(&mut request);
        let response = self.client.request(request);
        tokio::pin!(response);
        let mut result = None;
        tokio::select! {
            biased;
            done = &mut response => result = Some(done),
            metadata = connection.wait_for_connection_metadata() => drop(metadata),
        }
        let is_connected = connection.connection_metadata().is_some();
        if is_connected || matches!(result, Some(Ok(_))) {
            sent();
        }
        let result = match result {
            Some(result) => result,
            None => self.head_in_time(response).await.ok_or(Broken::TimedOut)?,
        };
        result.map_err(|error| {
            tracing::debug!(%error, source = error_chain(&error), "exchange failed");
            if error.is_connect() || !is_connected { Broken::Unreachable } else { Broken::Off }
        })
    }

    /// `None`: the time was over. It counts from the last progress of the upload, so that a slow client is not taken
    /// for a slow upstream.
    async fn head_in_time<F: Future + Unpin>(&self, mut response: F) -> Option<F::Output> {
        let mut deadline = Instant::now() + self.timeout;
        loop {
            tokio::select! {
                biased;
                done = &mut response => return Some(done),
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

fn error_chain(error: &dyn std::error::Error) -> String {
    let mut chain = String::new();
    let mut source = error.source();
    while let Some(error) = source {
        chain.push_str(&error.to_string());
        chain.push_str("; ");
        source = error.source();
    }
    chain
}
