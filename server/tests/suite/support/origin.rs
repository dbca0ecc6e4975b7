//! A real upstream: answers by a function of the test, and keeps its own books.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt;
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;

/// A request as the upstream got it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    /// Path and query, byte for byte.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub struct Origin {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    server: JoinHandle<()>,
}

impl Origin {
    /// Answers every request with `answer`, which may take its time.
    pub async fn start<F, A>(answer: F) -> Origin
    where
        F: Fn(Seen) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Response<Body>> + Send + 'static,
    {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        // As many as a burst of a test brings at once.
        let listener = socket.listen(4_096).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let book = seen.clone();
        let app = Router::new().fallback(move |request: Request<Body>| {
            let (book, answer) = (book.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                let target = parts.uri.path_and_query().unwrap().as_str().to_owned();
                let seen = Seen { method: parts.method, target, headers: parts.headers, body };
                book.lock().unwrap().push(seen.clone());
                answer(seen).await
            }
        });
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Origin { address, seen, server }
    }

    /// Answers 200 and `ok`.
    pub async fn ok() -> Origin {
        Origin::start(|_| async { Response::new(Body::from("ok")) }).await
    }

    /// Answers 200 with these headers and this body.
    pub async fn with(headers: &'static [(&'static str, &'static str)], body: &'static str) -> Origin {
        Origin::start(move |_| async move {
            let mut response = Response::new(Body::from(body));
            for (name, value) in headers {
                response.headers_mut().append(*name, value.parse().unwrap());
            }
            response
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn count(&self) -> u64 {
        self.seen.lock().unwrap().len() as u64
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.server.abort();
    }
}
