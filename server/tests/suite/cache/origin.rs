//! An origin that writes what a test says, byte by byte: libraries would mend the faults that are to be tested.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: HeaderMap,
}

impl Seen {
    /// A header's text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// What the origin does when it is asked.
#[derive(Clone, Debug)]
pub struct Answer {
    acts: Vec<Act>,
}

#[derive(Clone, Debug)]
enum Act {
    Write(Vec<u8>),
    /// Goes on when the test gives it a permit.
    Wait(Arc<Semaphore>),
    Close,
}

/// A whole answer with its length and nothing that is not said: no `Date`, no type.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut text = format!("HTTP/1.1 {status} Said\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !matches!(status, 204 | 304) {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    Answer::written(&format!("{text}\r\n{body}"))
}

/// 200 with this `Cache-Control`.
pub fn cached(control: &str, body: &str) -> Answer {
    answer(200, &[("cache-control", control)], body)
}

impl Answer {
    /// Exactly these bytes.
    pub fn written(bytes: &str) -> Answer {
        Answer { acts: vec![Act::Write(bytes.as_bytes().to_vec())] }
    }

    /// Nothing at all: the connection closes.
    pub fn closed() -> Answer {
        Answer { acts: vec![Act::Close] }
    }

    pub fn then_written(mut self, bytes: &str) -> Answer {
        self.acts.push(Act::Write(bytes.as_bytes().to_vec()));
        self
    }

    pub fn then_waiting(mut self, gate: &Arc<Semaphore>) -> Answer {
        self.acts.push(Act::Wait(gate.clone()));
        self
    }

    pub fn then_closed(mut self) -> Answer {
        self.acts.push(Act::Close);
        self
    }

    pub fn after(mut self, gate: &Arc<Semaphore>) -> Answer {
        self.acts.insert(0, Act::Wait(gate.clone()));
        self
    }
}

pub fn gate() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// As HTTP has it, so many seconds from now.
pub fn date(seconds: i64) -> String {
    let offset = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    httpdate::fmt_http_date(if seconds < 0 { now - offset } else { now + offset })
}

#[derive(Default)]
struct Book {
    seen: Vec<Seen>,
    /// By target; the last one is for all further requests.
    answers: HashMap<String, Vec<Answer>>,
    asked: HashMap<String, usize>,
}

pub struct Origin {
    pub address: SocketAddr,
    book: Arc<Mutex<Book>>,
    server: JoinHandle<()>,
}

impl Origin {
    pub async fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Arc::new(Mutex::new(Book::default()));
        let server = tokio::spawn(accept(listener, book.clone()));
        Origin { address, book, server }
    }

    /// What this target gets: the first request the first answer, and so on; the last one stays.
    pub fn at(&self, target: &str, answers: impl IntoIterator<Item = Answer>) {
        let mut book = self.book.lock().unwrap();
        book.answers.insert(target.to_owned(), answers.into_iter().collect());
        book.asked.remove(target);
    }

    /// Takes no connections any more, and ends those that there are.
    pub fn stop(&self) {
        self.server.abort();
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.book.lock().unwrap().seen.clone()
    }

    /// Requests for this target.
    pub fn asked(&self, target: &str) -> usize {
        self.seen().iter().filter(|seen| seen.target == target).count()
    }

    pub fn last(&self, target: &str) -> Seen {
        self.seen().into_iter().rfind(|seen| seen.target == target).unwrap()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Connections end with it.
async fn accept(listener: TcpListener, book: Arc<Mutex<Book>>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        connections.spawn(serve(stream, book.clone()));
    }
}

/// One request after the other on one connection.
async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    let mut bytes = Vec::new();
    loop {
        let Some(seen) = read(&mut stream, &mut bytes).await else { return };
        let answer = {
            let mut book = book.lock().unwrap();
            book.seen.push(seen.clone());
            let nth = book.asked.entry(seen.target.clone()).or_default();
            *nth += 1;
            let nth = *nth - 1;
            let answers = book.answers.get(&seen.target);
            answers.and_then(|all| all.get(nth).or(all.last()).cloned())
        };
        let answer = answer.unwrap_or_else(|| self::answer(404, &[], "no script"));
        for act in answer.acts {
            match act {
                Act::Write(bytes) => {
                    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
                    let end = if seen.method == "HEAD" { head } else { None };
                    if stream.write_all(&bytes[..end.unwrap_or(bytes.len())]).await.is_err() {
                        return;
                    }
                }
                Act::Wait(gate) => gate.acquire().await.unwrap().forget(),
                Act::Close => return,
            }
        }
    }
}

async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    bytes.drain(..end);
    let mut lines = head.lines();
    let mut request = lines.next()?.split(' ');
    let (method, target) = (request.next()?.to_owned(), request.next()?.to_owned());
    let mut headers = HeaderMap::new();
    for line in lines {
        if let Some((name, value)) = line.split_once(':') {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_bytes(value.trim().as_bytes()).unwrap());
        }
    }
    let length = headers.get("content-length").map_or(0, |n| n.to_str().unwrap().parse().unwrap());
    while bytes.len() < length {
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
    bytes.drain(..length);
    Some(Seen { method, target, headers })
}
