//! HTTP/2 to an upstream in the clear (`h2c://`), and gRPC from end to end (RFC 9113).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use app::domain::outcome::Outcome;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use super::raw::soon;
use super::{Bench, PATIENT};

/// Serves the streams of one connection, each on a task of its own.
pub async fn serve<T, F, A>(stream: T, script: F)
where
    T: AsyncRead + AsyncWrite + Unpin,
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> A,
    A: Future<Output = ()> + Send + 'static,
{
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(script(request, respond));
    }
}

/// An HTTP/2 upstream; counts its connections.
async fn origin<F, A>(script: F) -> (String, Arc<AtomicUsize>)
where
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("h2c://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream, script.clone()));
        }
    });
    (url, connections)
}

async fn whole(body: &mut RecvStream) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(Ok(data)) = body.data().await {
        body.flow_control().release_capacity(data.len()).unwrap();
        all.extend_from_slice(&data);
    }
    all
}

/// A client of the gateway that speaks HTTP/2 from the first byte.
async fn client(gateway: SocketAddr) -> h2::client::SendRequest<Bytes> {
    let stream = TcpStream::connect(gateway).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client.ready().await.unwrap()
}

fn request(bench: &Bench, method: &str) -> Request<()> {
    let url = bench.toll.url("/api/x/a%2Fb?c=d");
    Request::builder().method(method).uri(url).header("x-api-key", &bench.key).body(()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_h2c_url_is_spoken_to_in_http2_over_one_connection_a_thread() {
    let (url, connections) = origin(|request, mut respond| async move {
        let seen = format!("{:?} {} {}", request.version(), request.method(), request.uri());
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(seen.into(), true).unwrap();
    })
    .await;
    let bench = Bench::new(std::slice::from_ref(&url), PATIENT, "").await;
    let expected = format!("HTTP/2.0 GET {}/a%2Fb?c=d", url.replace("h2c", "http"));
    let asked = futures::future::join_all((0..50).map(|_| bench.get("/api/x/a%2Fb?c=d"))).await;
    for answer in asked {
        assert_eq!((answer.status(), answer.text()), (200, expected.as_str()));
    }
    let connections = connections.load(Ordering::SeqCst);
    assert!(connections <= 2, "{connections} connections of two gateway threads");
    assert_eq!(bench.books(50).await.upstream_calls, 50);
}

/// RFC 9113 §8.1: trailers carry the outcome of a gRPC call.
#[tokio::test(flavor = "multi_thread")]
async fn grpc_streams_both_ways_with_trailers_on_a_route_without_a_body_limit() {
    let (url, _) = origin(|request, mut respond| async move {
        assert_eq!(request.headers()["te"], "trailers");
        assert_eq!(request.headers()["content-type"], "application/grpc");
        assert!(!request.headers().contains_key("connection"));
        let mut asked = request.into_body();
        let response = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
        let mut answers = respond.send_response(response, false).unwrap();
        while let Some(Ok(data)) = asked.data().await {
            asked.flow_control().release_capacity(data.len()).unwrap();
            answers.send_data(data, false).unwrap();
        }
        let sum = asked.trailers().await.unwrap().and_then(|trailers| trailers.get("x-sum").cloned());
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        trailers.insert("x-sum", sum.unwrap_or(HeaderValue::from_static("missing")));
        answers.send_trailers(trailers).unwrap();
    })
    .await;
    let bench = Bench::new(&[url], PATIENT, "body_limit = \"none\"").await;
    let mut client = client(bench.toll.address()).await;
    let mut call = request(&bench, "POST");
    call.headers_mut().insert("te", HeaderValue::from_static("trailers"));
    call.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    let (response, mut messages) = client.send_request(call, false).unwrap();
    messages.send_data("\0\0\0\0\x03one".into(), false).unwrap();
    let response = soon("the head", response).await.unwrap();
    assert_eq!(response.headers()["x-toll-outcome"], "forwarded");
    let mut body = response.into_body();
    // The first answer comes while the call is still open.
    assert_eq!(soon("the first answer", body.data()).await.unwrap().unwrap(), "\0\0\0\0\x03one");
    messages.send_data("\0\0\0\0\x03two".into(), false).unwrap();
    assert_eq!(soon("the second answer", body.data()).await.unwrap().unwrap(), "\0\0\0\0\x03two");
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("7"));
    messages.send_trailers(trailers).unwrap();
    assert!(soon("the end", body.data()).await.is_none());
    let trailers = body.trailers().await.unwrap().unwrap();
    assert_eq!(
        (&trailers["grpc-status"], &trailers["x-sum"]),
        (&"0".parse().unwrap(), &"7".parse().unwrap())
    );
    let funnel = bench.books(1).await;
    assert_eq!((funnel.statuses.success, funnel.upstream_calls), (1, 1));
}

/// RFC 9113 §8.1.1: a length that is not kept, and a stream that is reset.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_reset_or_short_reaches_the_client_as_one_that_broke_off() {
    let (url, _) = origin(|request, mut respond| async move {
        let response = Response::builder().header("content-length", "10").body(()).unwrap();
        let mut body = respond.send_response(response, false).unwrap();
        let is_short = request.uri().path() == "/short";
        body.send_data("hello".into(), is_short).unwrap();
        if !is_short {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            body.send_reset(Reason::INTERNAL_ERROR);
        }
    })
    .await;
    let bench = Bench::new(&[url], PATIENT, "").await;
    for path in ["/api/x/short", "/api/x/reset"] {
        let answer = bench.get(path).await;
        assert!(!answer.is_whole, "{path}: {answer:?}");
    }
    // To a client of HTTP/2 as a reset stream.
    let mut client = client(bench.toll.address()).await;
    let (response, _) = client.send_request(request(&bench, "GET"), true).unwrap();
    let mut body = soon("the head", response).await.unwrap().into_body();
    let error = loop {
        match soon("the reset", body.data()).await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("passed off as whole"),
        }
    };
    assert!(error.is_reset(), "{error}");
    assert_eq!(bench.count(3, Outcome::UpstreamBroken).await, 3);
}

/// RFC 9113 §8.7: the upstream says that it did nothing, so that even a POST is safe.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_stream_is_sent_once_more() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let (url, _) = origin(move |mut request, mut respond| {
        let count = count.clone();
        async move {
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                return respond.send_reset(Reason::REFUSED_STREAM);
            }
            let body = whole(request.body_mut()).await;
            respond.send_response(Response::new(()), false).unwrap().send_data(body.into(), true).unwrap();
        }
    })
    .await;
    let bench = Bench::new(&[url], PATIENT, "").await;
    let mut client = bench.post("Content-Length: 2\r\n").await;
    client.say("hi").await;
    let answer = client.answer().await;
    assert_eq!((answer.status(), answer.text()), (200, "hi"));
    let funnel = bench.books(1).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_resets_the_stream_and_leaves_the_connection() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let (url, connections) = origin(move |_, mut respond| {
        let tell = tell.clone();
        async move {
            let _ = tell.send("asked".to_owned());
            let reason = futures::future::poll_fn(|cx| respond.poll_reset(cx)).await.unwrap();
            let _ = tell.send(format!("{reason:?}"));
        }
    })
    .await;
    let bench = Bench::new(&[url], PATIENT, "").await;
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    assert_eq!(soon("the request", told.recv()).await.unwrap(), "asked");
    drop(client);
    assert_eq!(soon("the reset", told.recv()).await.unwrap(), "CANCEL");
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    assert_eq!(bench.count(1, Outcome::ClientGone).await, 1);
}
