//! An upgraded connection: bytes both ways until both sides have closed.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::catalog::upstream::InFlight;
use crate::stages::breaker::Call;

/// How long one side may be silent once the other has closed. Nobody can tell whether that one still listens.
const LINGER: Duration = Duration::from_secs(5);

/// Both ends of a connection that is about to be upgraded. Travels in the response's extensions to the ledger's layer,
/// which keeps the books open until the tunnel is closed.
#[derive(Clone)]
pub struct Tunnel {
    ends: Arc<Mutex<Option<Ends>>>,
    moved: Arc<Moved>,
}

/// Bytes that have come from either side.
#[derive(Debug, Default)]
pub struct Moved {
    from_client: AtomicU64,
    from_upstream: AtomicU64,
}

impl Moved {
    pub fn from_client(&self) -> u64 {
        self.from_client.load(Ordering::Relaxed)
    }

    pub fn from_upstream(&self) -> u64 {
        self.from_upstream.load(Ordering::Relaxed)
    }
}

struct Ends {
    client: OnUpgrade,
    upstream: OnUpgrade,
    /// The upstream has this request as long as the tunnel is open.
    _held: (Call, InFlight),
}

impl Tunnel {
    pub fn between(client: OnUpgrade, upstream: OnUpgrade, held: (Call, InFlight)) -> Tunnel {
        let ends = Ends { client, upstream, _held: held };
        Tunnel { ends: Arc::new(Mutex::new(Some(ends))), moved: Arc::default() }
    }

    /// Counts on, whoever holds it.
    pub fn moved(&self) -> Arc<Moved> {
        self.moved.clone()
    }

    /// Carries bytes until both directions are closed.
    pub async fn run(self) {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Ends { client, upstream, _held }) = ends else { return };
        let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else { return };
        let Moved { from_client, from_upstream } = &*self.moved;
        let (client_reads, client_writes) = tokio::io::split(TokioIo::new(client));
        let (upstream_reads, upstream_writes) = tokio::io::split(TokioIo::new(upstream));
        let up = carry(client_reads, upstream_writes, from_client);
        let down = carry(upstream_reads, client_writes, from_upstream);
        tokio::pin!(up, down);
        // Closed in order, one direction may go on; broken off, there is nobody to go on for.
        tokio::select! {
            closed = &mut up => if closed.is_ok() { linger_on(down, from_upstream).await },
            closed = &mut down => if closed.is_ok() { linger_on(up, from_client).await },
        }
    }
}

/// Until it ends by itself, or nothing has moved for a while.
async fn linger_on<F: Future + Unpin>(mut direction: F, moved: &AtomicU64) {
    let mut before = moved.load(Ordering::Relaxed);
    while tokio::time::timeout(LINGER, &mut direction).await.is_err() {
        let now = moved.load(Ordering::Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}

async fn carry(
    reads: impl AsyncRead + Unpin,
    mut writes: impl AsyncWrite + Unpin,
    count: &AtomicU64,
) -> std::io::Result<()> {
    tokio::io::copy(&mut Counted { inner: reads, count }, &mut writes).await?;
    writes.shutdown().await
}

/// Counts what is read, so that the count stands when the copy breaks off.
struct Counted<'c, R> {
    inner: R,
    count: &'c AtomicU64,
}

impl<R: AsyncRead + Unpin> AsyncRead for Counted<'_, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.count.fetch_add((buf.filled().len() - before) as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}
