//! Between the socket and hyper: what a client sends is judged before hyper parses it.

mod chunks;
mod extension;
pub mod fault;
mod head;
mod input;
mod scan;
mod text;

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

pub use fault::Fault;
use input::{Found, Input};
pub use scan::{LARGEST_HEAD, MOST_HEADERS};

use super::peer::Connection;

/// Read at once.
const PIECE: usize = 16 << 10;
/// What comes after the last answer is read for so long: closing before would reset the connection, and the answer
/// might be lost on the way (RFC 9112 §9.6).
const LINGER: Duration = Duration::from_secs(2);

/// A client's connection, as hyper reads and writes it.
pub struct Wire<S> {
    socket: S,
    connection: Arc<Connection>,
    input: Input,
    /// Waited for when the gateway stops: also while the connection speaks another protocol.
    _inside: Watcher,
    /// May be read, but did not fit.
    ready: Vec<u8>,
    /// For a head from its first byte, and for the first byte of all.
    head_timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// Interim answers that are being written.
    interim: Vec<u8>,
    /// hyper has handed over all that it had.
    is_flushed: bool,
    is_shut: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub fn new(socket: S, connection: Arc<Connection>, inside: Watcher, head_timeout: Duration) -> Wire<S> {
        Wire {
            socket,
            connection,
            input: Input::default(),
            _inside: inside,
            ready: Vec::new(),
            head_timeout,
            timer: None,
            interim: Vec::new(),
            is_flushed: true,
            is_shut: false,
        }
    }

    /// What the answer to a request for an upgrade decides.
    fn decide(&mut self) {
        let Wire { input, ready, connection, .. } = self;
        let mut give = |bytes: &[u8]| ready.extend_from_slice(bytes);
        if !input.is_upgrading() {
            return;
        }
        match connection.has_switched(input.heads()) {
            None => {}
            Some(true) => input.switched(&mut give),
            Some(false) => {
                let found = input.declined(&mut give);
                self.note(found);
            }
        }
    }

    fn note(&self, found: Option<Found>) {
        if let Some((head, fault)) = found {
            self.connection.found(head, fault);
        }
        self.connection.body_is_under_way(if self.input.is_within_body() { self.input.heads() } else { 0 });
    }

    /// Something to read, the end (`false`), or an error.
    fn poll_more(&mut self, cx: &mut Context<'_>, buf: &mut ReadBufCursor<'_>) -> Poll<io::Result<bool>> {
        let mut space = [MaybeUninit::<u8>::uninit(); PIECE];
        // Not much more than hyper has room for; but enough for a head.
        let room = buf.remaining().clamp(2048, PIECE);
        let mut piece = ReadBuf::uninit(&mut space[..room]);
        match Pin::new(&mut self.socket).poll_read(cx, &mut piece) {
            Poll::Pending => return self.poll_timer(cx),
            Poll::Ready(done) => done?,
        }
        if piece.filled().is_empty() {
            return Poll::Ready(Ok(false));
        }
        let Wire { input, ready, .. } = self;
        let found = input.take(piece.filled(), &mut |bytes: &[u8]| {
            let fits = if ready.is_empty() { bytes.len().min(buf.remaining()) } else { 0 };
            buf.put_slice(&bytes[..fits]);
            ready.extend_from_slice(&bytes[fits..]);
        });
        self.note(found);
        if !self.input.is_within_head() {
            self.timer = None;
        }
        Poll::Ready(Ok(true))
    }

    /// Whether the client takes too long to say what it wants.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if !self.input.is_within_head() && !self.input.awaits_preface() {
            self.timer = None;
            return Poll::Pending;
        }
        let timeout = self.head_timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(timer.as_mut().poll(cx));
        self.timer = None;
        if self.input.awaits_preface() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let Wire { input, ready, .. } = self;
        let found = input.too_slow(&mut |bytes: &[u8]| ready.extend_from_slice(bytes));
        self.note(Some(found));
        Poll::Ready(Ok(true))
    }

    /// Before an answer begins. What would come into the midst of the one before is left out.
    fn poll_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = self.connection.interim.take();
        if self.is_flushed {
            self.interim.extend(waiting);
        }
        while !self.interim.is_empty() {
            let written = ready!(Pin::new(&mut self.socket).poll_write(cx, &self.interim))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.interim.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what comes without looking at it, until the client has closed too.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        let mut space = [MaybeUninit::<u8>::uninit(); PIECE];
        while timer.as_mut().poll(cx).is_pending() {
            let mut piece = ReadBuf::uninit(&mut space);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut piece)) {
                Ok(()) if !piece.filled().is_empty() => {}
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Read for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = buf.remaining();
        loop {
            this.decide();
            if !this.ready.is_empty() {
                let fits = this.ready.len().min(buf.remaining());
                buf.put_slice(&this.ready[..fits]);
                this.ready.drain(..fits);
                if this.ready.is_empty() {
                    this.ready = Vec::new();
                }
            }
            if buf.remaining() < room {
                return Poll::Ready(Ok(()));
            }
            if this.input.is_broken() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a malformed chunk")));
            }
            // The one who waits is woken by what it waits for: the answer.
            if this.input.is_full() {
                return Poll::Pending;
            }
            if !ready!(this.poll_more(cx, &mut buf))? {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Write for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.is_flushed = false;
        Pin::new(&mut self.socket).poll_write(cx, buf)
    }

    /// hyper calls this when it has written all that it had, and whenever it has nothing else to do.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_flushed = true;
        ready!(self.poll_interim(cx))?;
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_shut {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
            (self.is_shut, self.timer) = (true, None);
        }
        if self.input.is_within_body() {
            ready!(self.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        self.is_flushed = false;
        Pin::new(&mut self.socket).poll_write_vectored(cx, bufs)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::SocketAddr;

    use http::{HeaderMap, StatusCode};
    use hyper_util::server::graceful::GracefulShutdown;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

    async fn write(wire: &mut Wire<DuplexStream>, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let written = poll_fn(|cx| Pin::new(&mut *wire).poll_write(cx, bytes)).await;
            bytes = &bytes[written.expect("somebody reads")..];
        }
    }

    async fn flush(wire: &mut Wire<DuplexStream>) {
        poll_fn(|cx| Pin::new(&mut *wire).poll_flush(cx)).await.expect("somebody reads");
    }

    #[tokio::test]
    async fn an_interim_answer_goes_between_two_answers_and_never_into_one() {
        // So narrow that everything takes several turns.
        let (socket, mut client) = duplex(4);
        let connection = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false);
        let mut wire = Wire::new(socket, connection.clone(), GracefulShutdown::new().watcher(), LINGER);
        let early = || connection.interim(1, StatusCode::PROCESSING, &HeaderMap::new());
        let says = async move {
            write(&mut wire, b"one, ").await;
            early();
            write(&mut wire, b"its end; ").await;
            flush(&mut wire).await;
            early();
            write(&mut wire, b"two; ").await;
            flush(&mut wire).await;
            early();
            flush(&mut wire).await;
        };
        let mut heard = String::new();
        let (_, read) = tokio::join!(says, client.read_to_string(&mut heard));
        read.expect("text");
        let early = "HTTP/1.1 102 Processing\r\n\r\n";
        assert_eq!(heard, format!("one, its end; {early}two; {early}"));
    }
}
