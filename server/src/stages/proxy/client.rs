//! Connections to upstreams, pooled per gateway thread.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client as Pooled;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower::Service;

use crate::body::Body;

pub type Client = Pooled<Connector, Body>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Idle connections are kept for so long, and so many for each target.
const IDLE: Duration = Duration::from_secs(60);
const MOST_IDLE: usize = 512;
/// Head of an answer.
const LARGEST_HEAD: usize = 64 << 10;

/// A client for each time that upstreams allow for connecting.
#[derive(Default)]
pub struct Clients {
    by_timeout: Mutex<HashMap<Duration, Client>>,
}

impl Clients {
    pub fn with(&self, connect_timeout: Duration) -> Client {
        let mut clients = self.by_timeout.lock().unwrap_or_else(PoisonError::into_inner);
        clients.entry(connect_timeout).or_insert_with(|| client(connect_timeout)).clone()
    }
}

fn client(timeout: Duration) -> Client {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let https =
        HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().wrap_connector(http);
    Pooled::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MOST_IDLE)
        .http1_max_buf_size(LARGEST_HEAD)
        .build(Connector { https, timeout })
}

/// Connects within a time that covers name look-up, TCP and TLS.
#[derive(Clone)]
pub struct Connector {
    https: HttpsConnector<HttpConnector>,
    timeout: Duration,
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.https.call(uri);
        let timeout = self.timeout;
        Box::pin(async move { tokio::time::timeout(timeout, connecting).await? })
    }
}
