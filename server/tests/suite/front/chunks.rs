//! RFC 9112 §7.1: chunked bodies.

use super::{Front, books};

const HEAD: &str = "POST /api/orders HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_goes_on_with_a_length_and_without_its_extensions() {
    let front = Front::start().await;
    let reply =
        front.ask(format!("{HEAD}\r\n5;name=value\r\nhello\r\n1 ; x=\"y z\"\r\n!\r\n0;last\r\n\r\n")).await;
    assert_eq!(reply.status, 200);
    assert_eq!(front.origin.header("content-length"), ["6"]);
    assert!(front.origin.header("transfer-encoding").is_empty());
    assert!(front.origin.only().ends_with("\r\n\r\nhello!"));
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_chunks_are_a_bad_request_that_no_upstream_sees() {
    let front = Front::start().await;
    let bodies = [
        "g\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello!\r\n0\r\n\r\n",
        "5\r\nhell\r\n0\r\n\r\n",
        "5;\nx\r\nhello\r\n0\r\n\r\n",
        "5;a\rb\r\nhello\r\n0\r\n\r\n",
        "5;a[=b\r\nhello\r\n0\r\n\r\n",
        "5;a=\r\nhello\r\n0\r\n\r\n",
        "5;a=\"b\r\nhello\r\n0\r\n\r\n",
        "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n",
        "10000000000000000\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nno colon\r\n\r\n",
        "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        "5\r\nhello\r\n0\r\nX: y\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
    ];
    for body in bodies {
        let mut client = front.connect().await;
        let reply =
            client.ask(format!("{HEAD}\r\n{body}GET /api/orders/smuggled HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_request"), "{body:?}");
        assert_eq!(
            (reply.header("x-toll-stage"), reply.header("connection")),
            ("route", "close"),
            "{body:?}"
        );
        assert!(client.is_closed().await, "{body:?}");
    }
    assert_eq!(front.books().await, books([("route bad_request", bodies.len() as u64)]));
    assert_eq!(front.origin.seen(), Vec::<String>::new());
}

/// Framing goes before everything else, as far as it is known: nobody's quota pays for such a body.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_chunk_that_comes_with_its_head_is_refused_before_path_key_and_portal() {
    let front = Front::start().await;
    for path in ["/api/keyed", "/api/nowhere", "/api/listed", "/", "/healthz"] {
        let head = HEAD.replace("/api/orders", path);
        let mut client = front.connect().await;
        assert_eq!(client.ask(format!("{head}\r\n5;\r\nhello\r\n0\r\n\r\n")).await.status, 400, "{path}");
        assert!(client.is_closed().await, "{path}");
    }
    assert_eq!((front.books().await, front.unreadable()), (books([("route bad_request", 3)]), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_chunk_within_a_streamed_body_breaks_the_upstreams_request_off() {
    let front = Front::start().await;
    let head = HEAD.replace("/api/orders", "/api/streamed");
    let mut client = front.connect().await;
    client.send(format!("{head}\r\n5\r\nhello\r\n")).await;
    front.until_inside().await;
    let reply = client.ask("no size\r\n").await;
    assert_eq!((reply.status, reply.outcome()), (400, "bad_request"));
    let ended = front.origin.seen();
    assert!(ended.iter().all(|request| request.starts_with("unfinished: ")), "{ended:?}");
    assert_eq!(front.books().await, books([("proxy bad_request", 1)]));
}

/// RFC 9112 §8: a body that ends early is no body.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_within_its_body_is_gone_and_the_upstream_sees_nothing() {
    let front = Front::start().await;
    for request in [
        format!("{HEAD}\r\n5\r\nhel"),
        format!("{HEAD}\r\n5\r\nhello\r\n0\r\n"),
        "POST /api/orders HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel".to_owned(),
    ] {
        let mut client = front.connect().await;
        client.send(request).await;
        // Or it would be nobody that left.
        front.until_inside().await;
        drop(client);
        front.books().await;
    }
    assert_eq!(front.books().await, books([("proxy client_gone", 3)]));
    assert_eq!(front.origin.seen(), Vec::<String>::new());
}
