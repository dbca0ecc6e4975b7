//! Between hyper and the socket of an HTTP/1.1 upstream: sees what hyper overlooks.
//!
//! hyper's parser takes a bare LF for the end of a line, as RFC 9112 §2.2 allows. A gateway that does so reads another
//! message than the next parser may; so heads with one are refused here, before hyper sees them. And where an upstream has
//! stopped reading, its answer is still read: hyper would give the answer up for the failed write.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What both sides of a connection know of the exchange that is under way. Used from one thread; atomics cost nothing.
#[derive(Debug, Default)]
pub struct Watch {
    /// A request begins: what comes next is a head.
    begins: AtomicBool,
    /// Something has come since.
    heard: AtomicBool,
}

impl Watch {
    pub fn begin(&self) {
        self.heard.store(false, Ordering::Relaxed);
        self.begins.store(true, Ordering::Relaxed);
    }

    /// Whether the upstream has said anything since the request began.
    pub fn heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }
}

pub struct Wire<T> {
    inner: T,
    watch: Arc<Watch>,
    /// The head that is being read.
    head: Option<Head>,
    /// The other side takes no more.
    is_deaf: bool,
}

impl<T> Wire<T> {
    pub fn new(inner: T, watch: Arc<Watch>) -> Wire<T> {
        Wire { inner, watch, head: None, is_deaf: false }
    }

    /// `Ok(None)`: the write failed because the other side has gone. What it said before is still to be read, and the
    /// end of that tells the rest.
    fn or_deaf<R>(&mut self, result: io::Result<R>) -> io::Result<Option<R>> {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        match result {
            Ok(done) => Ok(Some(done)),
            Err(error) if matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset) => {
                self.is_deaf = true;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Wire<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = &buf.filled()[before..];
        if self.watch.begins.swap(false, Ordering::Relaxed) {
            self.head = Some(Head::default());
        }
        if !read.is_empty() {
            self.watch.heard.store(true, Ordering::Relaxed);
        }
        if let Some(head) = &mut self.head {
            match head.over(read) {
                Ok(Progress::Inside) => {}
                Ok(Progress::Over) => self.head = None,
                Err(odd) => return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, odd))),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Wire<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_deaf {
            return Poll::Ready(Ok(buf.len()));
        }
        let result = ready!(Pin::new(&mut self.inner).poll_write(cx, buf));
        Poll::Ready(self.or_deaf(result).map(|written| written.unwrap_or(buf.len())))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = || bufs.iter().map(|buf| buf.len()).sum();
        if self.is_deaf {
            return Poll::Ready(Ok(all()));
        }
        let result = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, bufs));
        Poll::Ready(self.or_deaf(result).map(|written| written.unwrap_or_else(all)))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_deaf {
            return Poll::Ready(Ok(()));
        }
        let result = ready!(Pin::new(&mut self.inner).poll_flush(cx));
        Poll::Ready(self.or_deaf(result).map(drop))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_deaf {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// A head on its way in, interim ones (1xx) before it included; bodies are not looked at.
#[derive(Debug, Default)]
struct Head {
    /// The beginning of the status line: `HTTP/1.1 101`.
    start: [u8; 12],
    /// Bytes of the line so far, and whether the last one was a CR.
    line: usize,
    after_cr: bool,
    past_status_line: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Progress {
    Inside,
    Over,
}

/// What hyper would overlook.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Odd {
    #[error("a line of the head ends in a bare line feed")]
    BareLineFeed,
    /// RFC 9112 §2.2 has servers pass over empty lines, not clients.
    #[error("an empty line stands before the status line")]
    NoStatusLine,
}

impl Head {
    fn over(&mut self, mut bytes: &[u8]) -> Result<Progress, Odd> {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let text = &bytes[..end.unwrap_or(bytes.len())];
            if !self.past_status_line {
                self.note(text);
            }
            self.line += text.len();
            self.after_cr = text.last().map_or(self.after_cr, |last| *last == b'\r');
            let Some(end) = end else { break };
            if !self.after_cr {
                return Err(Odd::BareLineFeed);
            }
            let is_empty = self.line == 1;
            (self.line, self.after_cr) = (0, false);
            if is_empty && !self.past_status_line {
                return Err(Odd::NoStatusLine);
            }
            if is_empty {
                if !self.is_interim() {
                    return Ok(Progress::Over);
                }
                *self = Head::default();
            } else {
                self.past_status_line = true;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(Progress::Inside)
    }

    fn note(&mut self, text: &[u8]) {
        let room = self.start.get_mut(self.line..).unwrap_or_default();
        let count = room.len().min(text.len());
        room[..count].copy_from_slice(&text[..count]);
    }

    /// RFC 9110 §15.2: another head follows, unless the protocol changes.
    fn is_interim(&self) -> bool {
        self.start[9] == b'1' && &self.start[9..] != b"101"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], piece: usize) -> Result<Progress, Odd> {
        let mut head = Head::default();
        let mut last = Progress::Inside;
        for piece in text.chunks(piece) {
            last = head.over(piece)?;
            if last == Progress::Over {
                break;
            }
        }
        Ok(last)
    }

    /// Wherever the pieces end.
    fn reads(texts: &[&[u8]], expected: &Result<Progress, Odd>) {
        for text in texts {
            for piece in 1..text.len() {
                assert_eq!(read(text, piece), *expected, "{} in pieces of {piece}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn a_bare_line_feed_is_found_wherever_the_pieces_end() {
        let texts: &[&[u8]] = &[
            b"HTTP/1.1 200 OK\nA: b\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\n\n",
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\n\n",
        ];
        reads(texts, &Err(Odd::BareLineFeed));
    }

    #[test]
    fn an_empty_line_before_a_status_line_is_found_in_interim_heads_too() {
        let texts: &[&[u8]] =
            &[b"\r\nHTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 100 C\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"];
        reads(texts, &Err(Odd::NoStatusLine));
    }

    #[test]
    fn the_body_is_not_looked_at_and_interim_heads_are_passed() {
        let texts: &[&[u8]] = &[
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n\n\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nA: b\r\n\r\nHTTP/1.1 204 N\r\n\r\n\n",
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n\n",
        ];
        reads(texts, &Ok(Progress::Over));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\nA: b\r\n", 3), Ok(Progress::Inside));
    }
}
