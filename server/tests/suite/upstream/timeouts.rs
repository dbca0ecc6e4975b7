//! Upstreams that are silent: before their head, and within their body.

use std::time::Duration;

use app::domain::outcome::Outcome;

use super::raw::{PATIENCE, Scripted, path};
use super::{Bench, PLAIN};

const SHORT: &str = "timeout = \"400ms\"\nbreaker = { failures = 1000 }";

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_without_a_head_in_time_is_answered_for_and_not_asked_again() {
    let origin = Scripted::start(|mut wire, _| async move {
        let head = wire.head().await;
        if path(&head) == "/half" {
            wire.say("HTTP/1.1 200 OK\r\nContent-").await;
        }
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], SHORT, PLAIN).await;
    for path in ["/api/x", "/api/x/half"] {
        let answer = bench.get(path).await;
        assert_eq!((answer.status(), answer.outcome()), (504, "upstream_timeout"), "{path}");
    }
    assert_eq!(bench.count(2, Outcome::UpstreamTimeout).await, 2);
    let funnel = bench.books(2).await;
    assert_eq!((funnel.upstream_calls, funnel.statuses.no_answer), (2, 2));
}

/// `timeout` runs from the last byte of the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_upload_is_not_held_against_the_upstream() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.until("0\r\n\r\n").await;
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], "timeout = \"2s\"", "body_limit = \"none\"").await;
    let mut client = bench.post("Transfer-Encoding: chunked\r\n").await;
    // Twice as long as the timeout, in pieces.
    for _ in 0..8 {
        client.say("1\r\na\r\n").await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    client.say("0\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!((answer.status(), answer.text()), (200, "ok"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_pauses_for_too_long_is_broken_off() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello").await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::with(&[origin.url()], SHORT, PLAIN, &[("upstream_idle", "1s")]).await;
    let began = std::time::Instant::now();
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.text(), answer.is_whole), ("hello", false));
    assert!((Duration::from_millis(900)..PATIENCE).contains(&began.elapsed()));
    assert_eq!(bench.count(1, Outcome::UpstreamTimeout).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_pauses_often_but_never_for_too_long_comes_whole() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").await;
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            wire.say("a").await;
        }
    })
    .await;
    let bench = Bench::with(&[origin.url()], SHORT, PLAIN, &[("upstream_idle", "3s")]).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.text(), answer.is_whole), ("aaaaa", true));
}
