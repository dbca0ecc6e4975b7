//! Clients that begin and do not go on.

use super::raw::{RawClient, RawOrigin};
use super::{Front, books};

async fn impatient() -> Front {
    Front::before(RawOrigin::ok().await, &[("header_timeout", "300ms"), ("body_idle", "300ms")]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_come_whole_in_time_is_answered_408_however_it_dribbles() {
    let front = impatient().await;
    let mut client = front.connect().await;
    client.send("GET /api/orders HTTP/1.1\r\nHost: a\r\n").await;
    for n in 0..1000 {
        // Sending is no sign of life of the head.
        client.send(format!("X-{n}: slow\r\n")).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        if front.unreadable() > 0 {
            break;
        }
    }
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.header("connection")), (408, "close"));
    assert!(client.is_closed().await);
    assert_eq!((front.books().await, front.unreadable()), (books([]), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_at_all_is_sent_away_without_a_word() {
    let front = impatient().await;
    assert!(front.connect().await.is_closed().await);
    let mut http_2 = front.connect().await;
    http_2.send("PRI * HTTP/2.0\r\n\r\n").await;
    assert!(http_2.is_closed().await);
    assert_eq!((front.books().await, front.unreadable()), (books([]), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_pauses_too_long_is_request_timeout_and_no_upstream_sees_it() {
    let front = impatient().await;
    for head in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
        let mut client = front.connect().await;
        let reply = client.ask(format!("POST /api/orders HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n5\r\nh")).await;
        assert_eq!((reply.status, reply.outcome()), (408, "request_timeout"), "{head}");
        assert_eq!(reply.header("connection"), "close");
        assert!(client.is_closed().await);
    }
    assert_eq!(front.books().await, books([("proxy request_timeout", 2)]));
    assert_eq!(front.origin.seen(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_body_that_pauses_too_long_is_request_timeout_too() {
    let front = impatient().await;
    let reply = front
        .ask("POST /api/streamed HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        .await;
    assert_eq!((reply.status, reply.outcome()), (408, "request_timeout"));
    assert_eq!(front.books().await, books([("proxy request_timeout", 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_keep_nobody_else_waiting() {
    let front = Front::start().await;
    let mut slow: Vec<RawClient> = Vec::new();
    for _ in 0..200 {
        let mut client = front.connect().await;
        client.send("GET /api/orders HTTP/1.1\r\nHost: a\r\nX: ").await;
        slow.push(client);
    }
    assert_eq!(front.ask("GET /api/orders HTTP/1.1\r\nHost: a\r\n\r\n").await.status, 200);
    for client in &mut slow {
        assert_eq!(client.ask("y\r\n\r\n").await.status, 200);
    }
    assert_eq!(front.books().await, books([("proxy forwarded", 201)]));
}
