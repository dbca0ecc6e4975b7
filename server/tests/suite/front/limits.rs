//! How much a client may send.

use super::{Front, books};

fn post(path: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
}

fn chunked(path: &str, length: usize) -> String {
    let body = "x".repeat(length);
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_at_the_limit_passes_and_one_byte_more_is_refused_unseen_whatever_its_framing() {
    let front = Front::start().await;
    // The large ones are streamed where their length is known.
    for (path, limit) in [("/api/limited", 1 << 10), ("/api/large", 200 << 10)] {
        let body = "x".repeat(limit);
        for request in [post(path, limit) + &body, chunked(path, limit)] {
            let before = front.origin.seen().len();
            let reply = front.ask(request).await;
            assert_eq!((reply.status, reply.outcome()), (200, "forwarded"), "{path}");
            let seen = front.origin.seen();
            assert_eq!(seen.len(), before + 1);
            assert!(seen[before].ends_with(&format!("\r\n\r\n{body}")));
        }
        let (seen, connections) = (front.origin.seen().len(), front.origin.connections());
        for (request, stage) in
            [(post(path, limit + 1) + &body + "x", "route"), (chunked(path, limit + 1), "proxy")]
        {
            let reply = front.ask(request).await;
            assert_eq!((reply.status, reply.outcome()), (413, "body_too_large"), "{path}");
            assert_eq!(reply.header("x-toll-stage"), stage);
        }
        assert_eq!((front.origin.seen().len(), front.origin.connections()), (seen, connections));
    }
    let expected = books([("proxy body_too_large", 2), ("proxy forwarded", 4), ("route body_too_large", 2)]);
    assert_eq!(front.books().await, expected);
}

/// RFC 9112 §9.6: closing with bytes unread would reset the connection, and the answer with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_on_sending_still_gets_the_refusal() {
    let front = Front::start().await;
    for _ in 0..5 {
        let mut client = front.connect().await;
        client.send(post("/api/limited", 8 << 20)).await;
        client.send(vec![b'x'; 1 << 20]).await;
        let reply = client.reply().await;
        assert_eq!((reply.status, reply.outcome()), (413, "body_too_large"));
        client.send(vec![b'x'; 1 << 20]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_headers_pass_and_more_are_431() {
    let front = Front::start().await;
    let with = |count: usize| {
        let headers: String = (1..count).map(|n| format!("X-{n}: {n}\r\n")).collect();
        format!("GET /api/orders HTTP/1.1\r\nHost: a\r\n{headers}\r\n")
    };
    assert_eq!(front.ask(with(100)).await.status, 200);
    assert_eq!(front.origin.header("x-99"), ["99"]);
    assert_eq!(front.ask(with(101)).await.status, 431);
    assert_eq!((front.books().await, front.unreadable()), (books([("proxy forwarded", 1)]), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_431_and_a_target_that_is_too_long_414() {
    let front = Front::start().await;
    let long_header =
        |length| format!("GET /api/orders HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(length));
    assert_eq!(front.ask(long_header(60 << 10)).await.status, 200);
    assert_eq!(front.ask(long_header(70 << 10)).await.status, 431);
    let long_target = |length| format!("GET /api/orders/{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(length));
    assert_eq!(front.ask(long_target(16_000)).await.status, 200);
    assert_eq!(front.ask(long_target(17_000)).await.status, 414);
    assert_eq!(front.ask(long_target(1 << 20)).await.status, 414);
    // No target has begun yet.
    assert_eq!(front.ask("A".repeat(100_000) + " / HTTP/1.1\r\nHost: a\r\n\r\n").await.status, 400);
    assert_eq!(front.unreadable(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_which_there_is_no_route_leaves_its_connection_usable() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    for _ in 0..3 {
        let reply = client.ask(post("/api/nowhere", 5) + "hello").await;
        assert_eq!((reply.status, reply.header("connection")), (404, ""));
    }
}
