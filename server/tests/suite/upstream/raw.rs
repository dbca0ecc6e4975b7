//! Sockets that speak bytes, on either side of the gateway.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Whatever a test waits for has to happen within this; nothing is asserted to happen sooner, but where it is said.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// An upstream that says what its script says.
pub struct Scripted {
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// `script` has each connection, with its number from 0, and closes it by returning.
    pub async fn start<F, A>(script: F) -> Scripted
    where
        F: Fn(Wire, usize) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = accepted.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(script(Wire::new(stream), count.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Scripted { address, accepted, task }
    }

    /// Reads the head of a request, answers with these bytes, and closes.
    pub async fn says(bytes: &'static [u8]) -> Scripted {
        Scripted::start(move |mut wire, _| async move {
            wire.head().await;
            wire.say(bytes).await;
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One end of a connection.
pub struct Wire {
    pub stream: TcpStream,
    /// Read and not yet asked for.
    buffer: Vec<u8>,
}

/// An answer as a client of the gateway sees it.
#[derive(Debug)]
pub struct Answer {
    pub head: String,
    pub body: Vec<u8>,
    /// What came after the last chunk.
    pub trailers: String,
    /// Whether the framing came to its end.
    pub is_whole: bool,
}

impl Wire {
    pub fn new(stream: TcpStream) -> Wire {
        stream.set_nodelay(true).unwrap();
        Wire { stream, buffer: Vec::new() }
    }

    pub async fn connect(address: SocketAddr) -> Wire {
        Wire::new(TcpStream::connect(address).await.unwrap())
    }

    /// The other side may have gone.
    pub async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let _gone = self.stream.write_all(bytes.as_ref()).await;
    }

    /// A request with a key and these further lines, each with its CRLF; of a body nothing is said yet.
    pub async fn ask(&mut self, method: &str, path: &str, key: &str, lines: &str) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: toll\r\nX-Api-Key: {key}\r\n{lines}\r\n");
        self.say(head).await;
    }

    pub async fn get(&mut self, path: &str, key: &str, lines: &str) {
        self.ask("GET", path, key, lines).await;
    }

    /// Something more, or `false` at the end, in order or not.
    async fn more(&mut self) -> bool {
        let read = soon("bytes from the other side", self.stream.read_buf(&mut self.buffer)).await;
        read.unwrap_or(0) > 0
    }

    /// All up to and with `end`; what there is, if the other side ends before.
    pub async fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end.as_bytes()) {
                return String::from_utf8_lossy(&self.buffer.drain(..at + end.len()).collect::<Vec<_>>())
                    .into();
            }
            if !self.more().await {
                return String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into();
            }
        }
    }

    pub async fn head(&mut self) -> String {
        self.until("\r\n\r\n").await
    }

    /// So many bytes; fewer, if the other side ends before.
    pub async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count && self.more().await {}
        let count = count.min(self.buffer.len());
        self.buffer.drain(..count).collect()
    }

    /// Everything up to the end.
    pub async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.buffer)
    }

    /// An answer with its framing taken off.
    pub async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let mut answer = Answer { head, body: Vec::new(), trailers: String::new(), is_whole: false };
        if let Some(length) = answer.header("content-length") {
            let length = length.parse().unwrap();
            answer.body = self.take(length).await;
            answer.is_whole = answer.body.len() == length;
        } else if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let line = self.until("\r\n").await;
                let Ok(size) = usize::from_str_radix(line.trim_end(), 16) else { break };
                if size == 0 {
                    self.trailers(&mut answer).await;
                    break;
                }
                answer.body.extend(self.take(size).await);
                self.until("\r\n").await;
            }
        } else {
            answer.is_whole = matches!(answer.status(), 101 | 204 | 304);
        }
        answer
    }

    async fn trailers(&mut self, answer: &mut Answer) {
        loop {
            let line = self.until("\r\n").await;
            answer.is_whole = line == "\r\n";
            if answer.is_whole || !line.ends_with("\r\n") {
                return;
            }
            answer.trailers += &line;
        }
    }
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub fn outcome(&self) -> &str {
        self.header("x-toll-outcome").unwrap_or_default()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// The first field of that name in a head.
pub fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().skip(1).find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The path of a request's head.
pub fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}
