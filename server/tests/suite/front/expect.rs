//! RFC 9110 §10.1.1: `Expect: 100-continue`.

use super::{Front, books};

fn post(path: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_is_asked_for_when_it_is_wanted_and_the_upstream_is_not_asked_to_wait() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    for length in [5, 100 << 10] {
        assert_eq!(client.ask(post("/api/orders", length)).await.status, 100);
        let reply = client.ask("x".repeat(length)).await;
        assert_eq!((reply.status, reply.outcome()), (200, "forwarded"));
    }
    let seen = front.origin.seen();
    assert!(seen.iter().all(|request| !request.to_ascii_lowercase().contains("\r\nexpect:")), "{seen:?}");
    assert_eq!(front.books().await, books([("proxy forwarded", 2)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_comes_without_the_body_having_been_asked_for() {
    let front = Front::start().await;
    for (path, length, outcome) in [
        ("/api/nowhere", 5, "no_route"),
        ("/api/limited", 2000, "body_too_large"),
        ("/api/listed", 5, "method_not_allowed"),
        ("/api/keyed", 5, "key_missing"),
    ] {
        let mut client = front.connect().await;
        let reply = client.ask(post(path, length)).await;
        assert_eq!((reply.outcome(), reply.header("connection")), (outcome, "close"));
        assert!(client.is_closed().await);
    }
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_wait_is_served_all_the_same() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    let mut reply = client.ask(post("/api/orders", 5) + "hello").await;
    if reply.status == 100 {
        reply = client.reply().await;
    }
    assert_eq!(reply.status, 200);
    assert!(front.origin.only().ends_with("\r\n\r\nhello"));
}

/// A client of HTTP/1.0 would take the 100 for the answer.
#[tokio::test(flavor = "multi_thread")]
async fn http_1_0_is_never_told_to_continue() {
    let front = Front::start().await;
    let request = post("/api/orders", 5).replace("HTTP/1.1", "HTTP/1.0") + "hello";
    assert_eq!(front.ask(request).await.status, 200);
}
