//! Connections that carry more than one request: whose answer is whose, and what a closing one took with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::raw::{Scripted, path, soon};
use super::{Bench, PATIENT, PLAIN};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// An upstream that answers the first request of its first connection, and closes that at the second request after
/// `last_words`. Other connections are answered.
async fn closes_as_it_is_reused(last_words: &'static str) -> Scripted {
    Scripted::start(move |mut wire, number| async move {
        while !wire.head().await.is_empty() {
            wire.say(OK).await;
            if number == 0 {
                wire.head().await;
                wire.say(last_words).await;
                return;
            }
        }
    })
    .await
}

async fn send(client: &mut super::Wire, method: &str, key: &str) -> super::raw::Answer {
    client
        .say(format!(
            "{method} /api/x HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\nContent-Length: 2\r\n\r\nhi"
        ))
        .await;
    client.answer().await
}

/// RFC 9112 §9.2: what nobody asked for is nobody's answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_response_on_a_connection_never_reaches_another_client() {
    let origin = Scripted::start(|mut wire, _| async move {
        while !wire.head().await.is_empty() {
            wire.say(format!("{OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")).await;
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for _ in 0..40 {
        assert_eq!(bench.get("/api/x").await.text(), "ok");
    }
    assert_eq!(bench.books(40).await.upstream_calls, 40);
    assert_eq!(origin.accepted(), 40, "each connection is closed after its first answer");
}

/// RFC 9112 §9.2
#[tokio::test(flavor = "multi_thread")]
async fn a_second_response_that_comes_later_never_reaches_another_client() {
    let origin = Scripted::start(|mut wire, _| async move {
        while !wire.head().await.is_empty() {
            wire.say(OK).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            wire.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil").await;
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    for number in 1..5 {
        client.get("/api/x", &bench.key, "").await;
        assert_eq!(client.answer().await.text(), "ok");
        // The gateway closes what spoke unasked, so that the next request opens another.
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(origin.accepted(), number);
    }
}

/// RFC 9110 §9.2.2, RFC 9112 §9.3.1
#[tokio::test(flavor = "multi_thread")]
async fn an_idempotent_request_whose_connection_closes_as_it_is_reused_is_sent_once_more() {
    for method in ["GET", "PUT", "DELETE"] {
        let origin = closes_as_it_is_reused("").await;
        let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
        let mut client = bench.client().await;
        for _ in 0..2 {
            let answer = send(&mut client, method, &bench.key).await;
            assert_eq!((answer.status(), answer.text()), (200, "ok"), "{method}");
        }
        let funnel = bench.books(2).await;
        // The first request, the one that was lost, and the one that stood in for it.
        assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (2, 3), "{method}");
    }
}

/// RFC 9110 §9.2.2: it may have been begun.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_idempotent_is_not_sent_again() {
    let origin = closes_as_it_is_reused("").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    assert_eq!(send(&mut client, "POST", &bench.key).await.text(), "ok");
    let answer = send(&mut client, "POST", &bench.key).await;
    assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"));
    assert_eq!(bench.books(2).await.upstream_calls, 2);
    assert_eq!(origin.accepted(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_byte_of_an_answer_nothing_is_sent_again() {
    let origin = closes_as_it_is_reused("H").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    assert_eq!(send(&mut client, "GET", &bench.key).await.text(), "ok");
    assert_eq!(send(&mut client, "GET", &bench.key).await.outcome(), "upstream_broken");
    assert_eq!(bench.books(2).await.upstream_calls, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_sent_again_once_and_not_twice() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let origin = Scripted::start(move |mut wire, _| {
        let count = count.clone();
        async move {
            // Each but the very first request is met by a closing connection.
            while !wire.head().await.is_empty() {
                if count.fetch_add(1, Ordering::SeqCst) > 0 {
                    return;
                }
                wire.say(OK).await;
            }
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    assert_eq!(client.answer().await.text(), "ok");
    client.get("/api/x", &bench.key, "").await;
    assert_eq!(client.answer().await.outcome(), "upstream_broken");
    assert_eq!(bench.books(2).await.upstream_calls, 3);
    assert_eq!(seen.load(Ordering::SeqCst), 3);
}

/// Nothing of it was sent, so that it is safe whatever its method.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_never_goes_on_a_connection_that_was_closed_while_it_was_idle() {
    let origin = Scripted::start(|mut wire, _| async move {
        // One answer a connection, without saying so.
        wire.head().await;
        wire.take(2).await;
        wire.say(OK).await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    for _ in 0..5 {
        assert_eq!(send(&mut client, "POST", &bench.key).await.text(), "ok");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(bench.books(5).await.upstream_calls, 5);
}

/// RFC 9112 §9.3
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_used_again_after_a_whole_answer() {
    let origin = Scripted::start(|mut wire, _| async move {
        loop {
            match path(&wire.head().await) {
                "" => return,
                "/chunks" => {
                    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n").await;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    wire.say("0\r\n\r\n").await;
                }
                "/long" => {
                    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n").await;
                    wire.say("a".repeat(300_000)).await;
                }
                _ => wire.say(OK).await,
            }
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    for path in ["/api/x", "/api/x/chunks", "/api/x/long", "/api/x", "/api/x/chunks"] {
        client.get(path, &bench.key, "").await;
        assert!(client.answer().await.is_whole);
        // The client has the last byte a moment before the gateway has put the connection away.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(origin.accepted(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_whose_answer_was_not_read_to_its_end_is_closed() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let origin = Scripted::start(move |mut wire, _| {
        let tell = tell.clone();
        async move {
            wire.head().await;
            wire.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello").await;
            wire.rest().await;
            let _ = tell.send(());
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    assert_eq!(client.until("hello").await.lines().last(), Some("hello"));
    drop(client);
    soon("the upstream's connection to be closed", told.recv()).await.unwrap();
}
