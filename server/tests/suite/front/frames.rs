//! A client of HTTP/2 that sends what no library would.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::frames::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE, block,
    frame, read_head,
};

/// RFC 9113 §7.
pub const PROTOCOL_ERROR: u32 = 1;
pub const FLOW_CONTROL_ERROR: u32 = 3;

pub struct Frames {
    stream: TcpStream,
    /// Streams that were reset, whether or not they were asked for.
    pub resets: Vec<u32>,
}

/// What becomes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Status(u16),
    Reset(u32),
    GoAway(u32),
}

impl Frames {
    pub async fn connect(address: SocketAddr) -> Frames {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut frames = Frames { stream, resets: Vec::new() };
        frames.stream.write_all(PREFACE).await.unwrap();
        frames.frame(SETTINGS, 0, 0, &[]).await;
        frames
    }

    async fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        // What the gateway refuses it may refuse by closing.
        let _ = self.stream.write_all(&frame(kind, flags, stream, payload)).await;
    }

    pub async fn headers(&mut self, stream: u32, fields: &[(&str, &str)], is_end: bool) {
        let flags = END_HEADERS | if is_end { END_STREAM } else { 0 };
        self.frame(HEADERS, flags, stream, &block(fields)).await;
    }

    pub async fn data(&mut self, stream: u32, data: &[u8], is_end: bool) {
        self.frame(DATA, if is_end { END_STREAM } else { 0 }, stream, data).await;
    }

    pub async fn window_update(&mut self, stream: u32, by: u32) {
        self.frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes()).await;
    }

    /// How that stream ends, or the connection with it.
    pub async fn end_of(&mut self, stream: u32) -> End {
        loop {
            let (kind, about, payload) =
                timeout(Duration::from_secs(30), self.next()).await.expect("a frame");
            let code = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
            if kind == RST_STREAM {
                self.resets.push(about);
            }
            match kind {
                HEADERS if about == stream => return End::Status(status(&payload)),
                RST_STREAM if about == stream => return End::Reset(code(0)),
                GOAWAY => return End::GoAway(code(4)),
                _ => {}
            }
        }
    }

    async fn next(&mut self) -> (u8, u32, Vec<u8>) {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.unwrap();
        let (length, kind, stream) = read_head(head);
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await.unwrap();
        (kind, stream, payload)
    }
}

/// RFC 7541 appendix A: `:status` is the first field, and the usual ones have an index.
fn status(block: &[u8]) -> u16 {
    match block[0] {
        0x88 => 200,
        0x89 => 204,
        0x8c => 400,
        0x8d => 404,
        // Another: a literal, perhaps compressed.
        _ => 0,
    }
}
