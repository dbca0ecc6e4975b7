//! A new connection to a target: TCP, TLS where its url says so, and the first bytes of the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower::ServiceExt;

use super::wire::{Watch, Wire};
use crate::body::Body;
use crate::catalog::Target;
use crate::catalog::upstream::Protocol;

/// Head of an answer, in bytes and in fields.
const LARGEST_HEAD: usize = 64 << 10;
const MOST_HEADERS: usize = 128;
/// What an HTTP/2 upstream may send ahead of a slow reader, for each request and for all of them.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// An HTTP/2 connection with requests on it is asked so often whether it lives, and has so long to answer.
const PING: Duration = Duration::from_secs(10);

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A connection that has just been opened.
pub enum Fresh {
    Http1(Http1),
    Http2(http2::SendRequest<Body>),
}

/// A connection that carries one request at a time. Dropped, it is closed when what it carries is over.
pub struct Http1 {
    pub sender: http1::SendRequest<Body>,
    pub watch: Arc<Watch>,
    pub task: tokio::task::AbortHandle,
}

/// Whether this machine has run out of what a connection takes, files or ports: no fault of the target's.
pub fn is_short(error: &BoxError) -> bool {
    use rustix::io::Errno;
    let causes = std::iter::successors(Some(&**error as &dyn std::error::Error), |cause| cause.source());
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    causes
        .filter_map(|cause| cause.downcast_ref().and_then(Errno::from_io_error))
        .any(|error| short.contains(&error))
}

/// Opens connections. Names are looked up, and the addresses of both families tried, by hyper-util's connector.
#[derive(Clone)]
pub struct Dialer {
    tcp: HttpConnector,
    /// The last connection could not be opened for what this machine has run out of.
    is_short: Arc<AtomicBool>,
}

impl Default for Dialer {
    fn default() -> Dialer {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Dialer { tcp, is_short: Arc::default() }
    }
}

impl Dialer {
    /// `only_http1`: for upgrades, which HTTP/2 does not have (RFC 9113 §8.6).
    pub async fn connect(&self, target: &Target, only_http1: bool) -> Result<Fresh, BoxError> {
        let opened = self.open(target, only_http1).await;
        match &opened {
            Ok(_) => {
                if self.is_short.swap(false, Ordering::Relaxed) {
                    tracing::info!("connections to upstreams are opened again");
                }
            }
            Err(error) if is_short(error) => {
                if !self.is_short.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "no connection can be opened here: requests end as internal");
                }
            }
            Err(_) => {}
        }
        opened
    }

    async fn open(&self, target: &Target, only_http1: bool) -> Result<Fresh, BoxError> {
        let stream = self.tcp.clone().oneshot(target.dial.clone()).await?.into_inner();
        match target.protocol {
            Protocol::Http1 => http1(stream).await,
            Protocol::Http2 => http2(stream).await,
            Protocol::Tls => {
                let tls = target.tls.as_ref().ok_or("its certificates could not be read")?;
                let name = target.authority.host().trim_matches(['[', ']']).to_owned();
                let config = if only_http1 { &tls.only_http1 } else { &tls.config };
                let connector = TlsConnector::from(config.clone());
                let stream = connector.connect(ServerName::try_from(name)?, stream).await?;
                match stream.get_ref().1.alpn_protocol() {
                    Some(b"h2") => http2(stream).await,
                    _ => http1(stream).await,
                }
            }
        }
    }
}

async fn http1<T>(stream: T) -> Result<Fresh, BoxError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let watch = Arc::new(Watch::default());
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(LARGEST_HEAD)
        .max_header_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .handshake(TokioIo::new(Wire::new(stream, watch.clone())))
        .await?;
    let task = tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to an upstream ended");
        }
    });
    Ok(Fresh::Http1(Http1 { sender, watch, task: task.abort_handle() }))
}

async fn http2<T>(stream: T) -> Result<Fresh, BoxError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(LARGEST_HEAD as u32)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to an upstream ended");
        }
    });
    Ok(Fresh::Http2(sender))
}
