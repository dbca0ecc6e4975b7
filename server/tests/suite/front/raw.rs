//! Bytes on both sides of the gateway: a client that sends what no library would, an upstream that keeps what it got.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer that never comes.
pub const SILENCE: &[u8] = b"(silence)";

pub struct RawClient {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer as it stood on the wire.
#[derive(Clone, Debug)]
pub struct RawReply {
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    pub body: String,
}

impl RawReply {
    /// All values of a header, in order.
    pub fn all(&self, name: &str) -> Vec<&str> {
        values(&self.head, name)
    }

    /// The value of a header that stands once; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        let all = self.all(name);
        assert!(all.len() < 2, "{name} stands {} times:\n{}", all.len(), self.head);
        all.first().copied().unwrap_or_default()
    }

    pub fn outcome(&self) -> &str {
        self.header("x-toll-outcome")
    }
}

fn values<'h>(head: &'h str, name: &str) -> Vec<&'h str> {
    let fields = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
    fields.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
}

impl RawClient {
    pub async fn connect(address: SocketAddr) -> RawClient {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        RawClient { stream, buffer: Vec::new() }
    }

    /// What the gateway does not take any more is not an error: it may have refused already.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = timeout(PATIENCE, self.stream.write_all(bytes.as_ref()))
            .await
            .expect("the gateway reads nothing");
    }

    /// A bit at a time, so that the gateway reads it in pieces.
    pub async fn trickle(&mut self, bytes: impl AsRef<[u8]>, size: usize) {
        for piece in bytes.as_ref().chunks(size) {
            self.send(piece).await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub async fn ask(&mut self, bytes: impl AsRef<[u8]>) -> RawReply {
        self.send(bytes).await;
        self.reply().await
    }

    /// The next answer.
    pub async fn reply(&mut self) -> RawReply {
        self.reply_to("GET").await
    }

    /// The next answer to a request of that method: the one to HEAD has no body.
    pub async fn reply_to(&mut self, method: &str) -> RawReply {
        let head_end = self.fill_until(|buffer| find(buffer, b"\r\n\r\n").map(|at| at + 4)).await;
        let head = String::from_utf8(self.buffer.drain(..head_end).collect()).unwrap();
        let status = head[9..12].parse().unwrap();
        let has_body = method != "HEAD" && status >= 200 && status != 204 && status != 304;
        let body = match (has_body, values(&head, "content-length"), values(&head, "transfer-encoding")) {
            (false, _, _) => Vec::new(),
            (true, _, codings) if codings == ["chunked"] => {
                let end = self.fill_until(chunked_end).await;
                dechunk(&self.buffer.drain(..end).collect::<Vec<_>>())
            }
            (true, lengths, _) if lengths.len() == 1 => {
                let length: usize = lengths[0].parse().unwrap();
                self.fill_until(|buffer| (buffer.len() >= length).then_some(length)).await;
                self.buffer.drain(..length).collect()
            }
            _ => self.rest().await,
        };
        RawReply { status, head, body: String::from_utf8(body).unwrap() }
    }

    async fn fill_until(&mut self, is_enough: impl Fn(&[u8]) -> Option<usize>) -> usize {
        loop {
            if let Some(enough) = is_enough(&self.buffer) {
                return enough;
            }
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer)).await;
            let so_far = String::from_utf8_lossy(&self.buffer).into_owned();
            match read.unwrap_or_else(|_| panic!("nothing more came behind {so_far:?}")) {
                Ok(0) => panic!("the connection was closed behind {so_far:?}"),
                Ok(_) => {}
                Err(error) => panic!("{error} behind {so_far:?}"),
            }
        }
    }

    /// Everything until the gateway closes.
    pub async fn rest(&mut self) -> Vec<u8> {
        let closed = timeout(PATIENCE, self.stream.read_to_end(&mut self.buffer)).await;
        closed.expect("the gateway did not close").expect("an orderly end");
        std::mem::take(&mut self.buffer)
    }

    /// Whether the gateway has closed, with nothing more said.
    pub async fn is_closed(&mut self) -> bool {
        self.rest().await.is_empty()
    }
}

/// An upstream that records each request exactly as it came.
pub struct RawOrigin {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl RawOrigin {
    /// Answers with what `answer` makes of the request's text; an empty answer closes.
    pub async fn start(answer: impl Fn(&str) -> Vec<u8> + Clone + Send + 'static) -> RawOrigin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (book, count) = (seen.clone(), connections.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                tokio::spawn(serve(stream, book.clone(), answer.clone()));
            }
        });
        RawOrigin { address, seen, connections }
    }

    pub async fn ok() -> RawOrigin {
        RawOrigin::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()).await
    }

    /// Every request so far, and everything else that came.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// The one request that came.
    pub fn only(&self) -> String {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:#?}");
        seen[0].clone()
    }

    /// The values of a header of the one request that came.
    pub fn header(&self, name: &str) -> Vec<String> {
        values(&self.only(), name).into_iter().map(str::to_owned).collect()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

async fn serve(mut stream: TcpStream, book: Arc<Mutex<Vec<String>>>, answer: impl Fn(&str) -> Vec<u8>) {
    let mut buffer = Vec::new();
    loop {
        while let Some(end) = request_end(&buffer) {
            let request: Vec<u8> = buffer.drain(..end).collect();
            let text = String::from_utf8_lossy(&request).into_owned();
            book.lock().unwrap().push(text.clone());
            let answer = answer(&text);
            if answer == SILENCE {
                continue;
            }
            if answer.is_empty() || stream.write_all(&answer).await.is_err() {
                return;
            }
        }
        match stream.read_buf(&mut buffer).await {
            Ok(1..) => {}
            _ => {
                if !buffer.is_empty() {
                    let text = format!("unfinished: {}", String::from_utf8_lossy(&buffer));
                    book.lock().unwrap().push(text);
                }
                return;
            }
        }
    }
}

fn request_end(buffer: &[u8]) -> Option<usize> {
    let head_end = find(buffer, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    if !values(&head, "transfer-encoding").is_empty() {
        return chunked_end(&buffer[head_end..]).map(|end| head_end + end);
    }
    let length: usize = values(&head, "content-length").first().map_or(0, |length| length.parse().unwrap());
    (buffer.len() >= head_end + length).then_some(head_end + length)
}

fn chunked_end(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line_end = at + find(&body[at..], b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&body[at..line_end]).unwrap(), 16).unwrap();
        if size == 0 {
            // The last chunk's line is followed by trailers and an empty line.
            return find(&body[line_end..], b"\r\n\r\n").map(|end| line_end + end + 4);
        }
        at = line_end + 2 + size + 2;
        if at > body.len() {
            return None;
        }
    }
}

fn dechunk(body: &[u8]) -> Vec<u8> {
    let (mut at, mut data) = (0, Vec::new());
    loop {
        let line_end = at + find(&body[at..], b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&body[at..line_end]).unwrap(), 16).unwrap();
        if size == 0 {
            return data;
        }
        data.extend_from_slice(&body[line_end + 2..line_end + 2 + size]);
        at = line_end + 2 + size + 2;
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
