//! HTTP/2 from a client that knows beforehand (RFC 9113 §3.3): the same gateway, the same books.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::raw::{RawOrigin, SILENCE};
use super::{Front, books};

type Body = BoxBody<Bytes, std::convert::Infallible>;

pub struct Client {
    send: SendRequest<Body>,
}

impl Client {
    pub async fn over<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> Client {
        let (send, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Client { send }
    }

    async fn of(front: &Front) -> Client {
        Client::over(TcpStream::connect(front.toll.address()).await.unwrap()).await
    }

    pub async fn send(&mut self, request: Request<Body>) -> Response<Incoming> {
        self.send.ready().await.unwrap();
        self.send.send_request(request).await.unwrap()
    }
}

pub fn request(method: Method, path: &str, body: Body) -> Request<Body> {
    let uri = format!("http://toll.example{path}");
    Request::builder().method(method).uri(uri).body(body).unwrap()
}

pub fn whole(data: impl Into<Bytes>) -> Body {
    Full::new(data.into()).boxed()
}

/// A body whose length nobody knows beforehand.
fn pieces(data: Vec<Bytes>, trailers: Option<HeaderMap>) -> Body {
    let frames = data.into_iter().map(Frame::data).chain(trailers.map(Frame::trailers));
    BodyExt::boxed(StreamBody::new(futures::stream::iter(frames.map(Ok).collect::<Vec<_>>())))
}

fn outcome(response: &Response<Incoming>) -> (u16, &str) {
    let outcome = response.headers().get("x-toll-outcome").map_or("", |outcome| outcome.to_str().unwrap());
    (response.status().as_u16(), outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_arrive_over_http_1_byte_for_byte_and_answers_carry_the_same_headers() {
    let front = Front::start().await;
    let mut client = Client::of(&front).await;
    let mut request = request(Method::GET, "/api/orders//a%2Fb?a&b=&c==3", whole(""));
    for cookie in ["a=1", "b=2"] {
        request.headers_mut().append("cookie", cookie.parse().unwrap());
    }
    let response = client.send(request).await;
    assert_eq!(outcome(&response), (200, "forwarded"));
    assert!(response.headers().contains_key("x-toll-id") && response.headers().contains_key("x-request-id"));
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "ok");
    assert!(front.origin.only().starts_with("GET //a%2Fb?a&b=&c==3 HTTP/1.1\r\n"));
    assert_eq!(front.origin.header("host"), [front.origin.address.to_string()]);
    assert_eq!(front.origin.header("x-forwarded-host"), ["toll.example"]);
    assert_eq!(front.origin.header("via"), ["2 toll"]);
    assert_eq!(front.origin.header("cookie"), ["a=1; b=2"]);
    assert_eq!(front.books().await, books([("proxy forwarded", 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_streams_at_once_are_all_in_the_books() {
    let front = Front::start().await;
    let client = Client::of(&front).await;
    let requests = (0..150).map(|n| {
        let mut send = client.send.clone();
        let path = if n % 3 == 0 { "/api/nowhere" } else { "/api/orders" };
        async move {
            send.ready().await.unwrap();
            send.send_request(request(Method::GET, path, whole(""))).await.unwrap().status().as_u16()
        }
    });
    let statuses = futures::future::join_all(requests).await;
    assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 50);
    assert_eq!(front.books().await, books([("proxy forwarded", 100), ("route no_route", 50)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_at_the_limit_passes_and_one_byte_more_is_refused_unseen() {
    let front = Front::start().await;
    let mut client = Client::of(&front).await;
    let at_limit = "x".repeat(1024);
    for body in [whole(at_limit.clone()), pieces(vec![at_limit.clone().into()], None)] {
        let response = client.send(request(Method::POST, "/api/limited", body)).await;
        assert_eq!(outcome(&response), (200, "forwarded"));
    }
    for body in [whole(at_limit.clone() + "x"), pieces(vec![at_limit.clone().into(), "x".into()], None)] {
        let response = client.send(request(Method::POST, "/api/limited", body)).await;
        assert_eq!(outcome(&response), (413, "body_too_large"));
    }
    assert_eq!(front.origin.seen().len(), 2);
    let expected = books([("proxy body_too_large", 1), ("proxy forwarded", 2), ("route body_too_large", 1)]);
    assert_eq!(front.books().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn trailers_pass_to_an_upstream_of_http_1() {
    let front = Front::start().await;
    let trailers = HeaderMap::from_iter([("x-checksum".parse().unwrap(), "abc".parse().unwrap())]);
    let body = pieces(vec!["hel".into(), "lo".into()], Some(trailers));
    let response = Client::of(&front).await.send(request(Method::POST, "/api/orders", body)).await;
    assert_eq!(outcome(&response), (200, "forwarded"));
    assert!(
        front.origin.only().ends_with("5\r\nhello\r\n0\r\nx-checksum: abc\r\n\r\n"),
        "{}",
        front.origin.only()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_content_and_the_connections_own_headers_are_the_connections_own() {
    let origin = RawOrigin::start(|_| {
        b"HTTP/1.1 205 Reset Content\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nno"
            .to_vec()
    })
    .await;
    let front = Front::before(origin, &[]).await;
    let response = Client::of(&front).await.send(request(Method::GET, "/api/orders", whole(""))).await;
    assert_eq!(outcome(&response), (205, "forwarded"));
    assert!(["connection", "x-hop", "keep-alive"].iter().all(|name| !response.headers().contains_key(*name)));
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_its_client_resets_is_client_gone_and_the_others_go_on() {
    let origin = RawOrigin::start(|request| match request.starts_with("GET /never") {
        true => SILENCE.to_vec(),
        false => b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec(),
    })
    .await;
    let front = Front::before(origin, &[]).await;
    let mut client = Client::of(&front).await;
    let mut send = client.send.clone();
    let gone =
        tokio::spawn(
            async move { send.send_request(request(Method::GET, "/api/orders/never", whole(""))).await },
        );
    while front.origin.seen().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    gone.abort();
    assert_eq!(
        outcome(&client.send(request(Method::GET, "/api/orders", whole(""))).await),
        (200, "forwarded")
    );
    assert_eq!(front.books().await, books([("proxy client_gone", 1), ("proxy forwarded", 1)]));
}
