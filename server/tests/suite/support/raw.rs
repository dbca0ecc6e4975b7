//! HTTP/1.1 by hand: a client that sends what no library would, and an upstream that misbehaves as it is told.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::client::Reply;
use super::toll::PATIENCE;

/// A connection to whoever speaks HTTP/1.1. Dropped, it hangs up.
pub struct RawClient {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl RawClient {
    pub async fn connect(address: SocketAddr) -> RawClient {
        RawClient { stream: TcpStream::connect(address).await.unwrap(), buffer: Vec::new() }
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// The next answer, whole; fails the test if it breaks off.
    pub async fn reply(&mut self) -> Reply {
        let mut reply = self.head().await;
        reply.body = match (reply.status, reply.header("transfer-encoding"), reply.header("content-length")) {
            (100..=199 | 204 | 304, ..) => Bytes::new(),
            (_, "chunked", _) => self.chunks().await,
            (_, "", "") => self.rest().await,
            (_, _, length) => self.exactly(length.parse().unwrap()).await,
        };
        reply
    }

    /// The head of the next answer; its body is yet to be read.
    pub async fn head(&mut self) -> Reply {
        let text = read_head(&mut self.stream, &mut self.buffer).await.expect("a head of an answer");
        let (status, headers) = text.split_once("\r\n").unwrap_or((&text, ""));
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status line: {text}"));
        Reply { status, headers: header_map(headers), body: Bytes::new() }
    }

    /// The next bytes, as many as that.
    pub async fn exactly(&mut self, length: usize) -> Bytes {
        while self.buffer.len() < length {
            assert!(self.more().await, "broken off after {} of {length} bytes", self.buffer.len());
        }
        self.buffer.drain(..length).collect()
    }

    /// Everything up to the end of the connection, whichever way it ends.
    pub async fn rest(&mut self) -> Bytes {
        while self.more().await {}
        std::mem::take(&mut self.buffer).into()
    }

    async fn chunks(&mut self) -> Bytes {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line().await, 16).unwrap();
            body.extend(self.exactly(size).await);
            self.line().await;
            if size == 0 {
                return body.into();
            }
        }
    }

    async fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                let line = self.buffer.drain(..end + 2).collect::<Vec<u8>>();
                return String::from_utf8_lossy(&line[..end]).into_owned();
            }
            assert!(self.more().await, "broken off within a line");
        }
    }

    async fn more(&mut self) -> bool {
        more(&mut self.stream, &mut self.buffer).await
    }
}

/// One request on a connection of its own, and its answer.
pub async fn ask(address: SocketAddr, request: impl AsRef<[u8]>) -> Reply {
    let mut client = RawClient::connect(address).await;
    client.send(request).await;
    client.reply().await
}

/// The text of a request without a body, for a host that is called `toll.test`.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)]) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: toll.test\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n"
}

/// What a scripted upstream does next.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    /// Nothing, until the test gives a permit.
    Wait(Arc<Semaphore>),
    /// Nothing, until the other side hangs up.
    Hold,
    /// Sends back what comes, until the other side hangs up.
    Echo,
    Close,
}

impl Step {
    pub fn send(text: &str) -> Step {
        Step::Send(text.as_bytes().to_vec())
    }

    /// An answer with its length, and the connection is kept.
    pub fn answer(status: &str, headers: &str, body: &str) -> Step {
        Step::send(&format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()))
    }
}

/// The head of a request as an upstream got it.
#[derive(Clone, Debug)]
pub struct RawSeen {
    pub method: String,
    /// Path and query, byte for byte.
    pub target: String,
    pub headers: HeaderMap,
    /// The whole head as it came, without the empty line.
    pub text: String,
}

impl RawSeen {
    /// A header's text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// An upstream that follows a script, and keeps its own books.
pub struct RawOrigin {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<RawSeen>>>,
    server: JoinHandle<()>,
}

impl RawOrigin {
    /// `script` says for each request what to do after its head; bodies are read by nobody but `Content-Length`'s.
    pub async fn start(script: impl Fn(&RawSeen) -> Vec<Step> + Send + Sync + 'static) -> RawOrigin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, script) = (Arc::new(Mutex::new(Vec::new())), Arc::new(script));
        let book = seen.clone();
        let server = tokio::spawn(async move {
            // Connections end with it.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(converse(stream, book.clone(), script.clone()));
            }
        });
        RawOrigin { address, seen, server }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes no connections any more, and ends those that there are.
    pub fn stop(&self) {
        self.server.abort();
    }

    pub fn seen(&self) -> Vec<RawSeen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn count(&self) -> u64 {
        self.seen.lock().unwrap().len() as u64
    }

    /// Waits until so many requests have come.
    pub async fn until_count(&self, count: u64) {
        let came = async {
            while self.count() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, came)
            .await
            .unwrap_or_else(|_| panic!("{} requests came, not {count}", self.count()));
    }
}

impl Drop for RawOrigin {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn converse(
    mut stream: TcpStream,
    book: Arc<Mutex<Vec<RawSeen>>>,
    script: Arc<impl Fn(&RawSeen) -> Vec<Step>>,
) {
    let mut buffer = Vec::new();
    while let Some(text) = read_head(&mut stream, &mut buffer).await {
        let (line, headers) = text.split_once("\r\n").unwrap_or((&text, ""));
        let mut words = line.split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let seen = RawSeen { method, target, headers: header_map(headers), text: text.clone() };
        book.lock().unwrap().push(seen.clone());
        let length = seen.headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(0);
        for step in script(&seen) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Step::Wait(gate) => gate.acquire().await.unwrap().forget(),
                Step::Hold => return while more(&mut stream, &mut buffer).await {},
                Step::Echo => {
                    let early = std::mem::take(&mut buffer);
                    let (mut from, mut to) = stream.split();
                    let _gone = to.write_all(&early).await;
                    let _gone = tokio::io::copy(&mut from, &mut to).await;
                    return;
                }
                Step::Close => return,
            }
        }
        while buffer.len() < length {
            if !more(&mut stream, &mut buffer).await {
                return;
            }
        }
        buffer.drain(..length);
    }
}

/// Up to the empty line, which is not given; `None` if the connection ends before.
async fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = buffer.drain(..end + 4).collect::<Vec<u8>>();
            return Some(String::from_utf8_lossy(&head[..end]).into_owned());
        }
        if !more(stream, buffer).await {
            return None;
        }
    }
}

/// False at the end of the connection.
async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    matches!(timeout(PATIENCE, stream.read_buf(buffer)).await.expect("something comes"), Ok(1..))
}

fn header_map(lines: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines.split("\r\n").filter_map(|line| line.split_once(':')) {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.trim().as_bytes()).unwrap());
    }
    headers
}
