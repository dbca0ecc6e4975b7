//! HTTP/2 by hand: frames that no library would send (RFC 9113 §4, §6).

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// RFC 9113 §7.
pub const PROTOCOL_ERROR: u32 = 1;

pub struct Frames {
    stream: TcpStream,
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
        let mut frames = Frames { stream: TcpStream::connect(address).await.unwrap() };
        frames.stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        frames.frame(SETTINGS, 0, 0, &[]).await;
        frames
    }

    async fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = (payload.len() as u32).to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        // What the gateway refuses it may refuse by closing.
        let _ = self.stream.write_all(&[&head, payload].concat()).await;
    }

    pub async fn headers(&mut self, stream: u32, fields: &[(&str, &str)], is_end: bool) {
        let flags = END_HEADERS | if is_end { END_STREAM } else { 0 };
        self.frame(HEADERS, flags, stream, &block(fields)).await;
    }

    pub async fn data(&mut self, stream: u32, data: &[u8], is_end: bool) {
        self.frame(DATA, if is_end { END_STREAM } else { 0 }, stream, data).await;
    }

    /// How that stream ends, or the connection with it.
    pub async fn end_of(&mut self, stream: u32) -> End {
        loop {
            let (kind, about, payload) =
                timeout(Duration::from_secs(30), self.next()).await.expect("a frame");
            let code = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
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
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await.unwrap();
        (head[3], u32::from_be_bytes(head[5..9].try_into().unwrap()), payload)
    }
}

/// RFC 7541 §6.2.2: literals that are not indexed, not compressed.
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            assert!(text.len() < 127, "one byte of length");
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
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
