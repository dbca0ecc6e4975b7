//! RFC 9112 §3.2: `Host`.

use super::{Front, books};

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_repeated_or_malformed_host_is_a_bad_request() {
    let front = Front::start().await;
    let bad = [
        "",
        "Host: a\r\nHost: b\r\n",
        "Host: a\r\nHost: a\r\n",
        "Host:\r\n",
        "Host: me@a\r\n",
        "Host: a/api\r\n",
        "Host: a, b\r\n",
        "Host: a,b\r\n",
        "Host: a b\r\n",
        "Host: a:port\r\n",
        "Host: a:99999\r\n",
        "Host: http://a\r\n",
        "Host: caf\u{e9}\r\n",
    ];
    for host in bad {
        let mut client = front.connect().await;
        let reply = client.ask(format!("GET /api/orders HTTP/1.1\r\n{host}\r\n")).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_request"), "{host:?}");
        assert!(client.is_closed().await, "{host:?}");
    }
    assert_eq!(front.books().await, books([("route bad_request", bad.len() as u64)]));
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_the_gateway_a_bad_host_is_refused_too_but_is_not_in_the_books() {
    let front = Front::start().await;
    for request in ["GET / HTTP/1.1\r\n\r\n", "GET /sign-in HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"] {
        let reply = front.ask(request).await;
        assert_eq!((reply.status, reply.header("x-toll-id")), (400, ""), "{request:?}");
    }
    assert_eq!((front.books().await, front.unreadable()), (books([]), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_gets_the_host_that_its_url_names() {
    let front = Front::start().await;
    assert_eq!(front.ask("GET /api/orders HTTP/1.1\r\nHost: toll.example\r\n\r\n").await.status, 200);
    assert_eq!(front.origin.header("host"), [front.origin.address.to_string()]);
    assert_eq!(front.origin.header("x-forwarded-host"), ["toll.example"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_1_0_may_leave_host_out_and_its_connection_is_closed() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    let reply = client.ask("GET /api/orders HTTP/1.0\r\n\r\n").await;
    assert_eq!(reply.status, 200);
    assert!(client.is_closed().await);
    assert!(front.origin.only().starts_with("GET / HTTP/1.1\r\n"));
    assert_eq!(front.origin.header("via"), ["1.0 toll"]);
}
