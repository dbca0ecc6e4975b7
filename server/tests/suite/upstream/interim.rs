//! Answers before the answer (RFC 9110 §15.2).

use std::sync::Arc;

use tokio::sync::Notify;

use super::raw::{Scripted, Wire, header, path, soon};
use super::{Bench, PATIENT, PLAIN};

const EARLY: &str = "HTTP/1.1 102 Processing\r\n\r\n\
     HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </b>\r\nConnection: X-Mine\r\nX-Mine: 1\r\n\
     X-Toll-Outcome: cache_hit\r\nSet-Cookie: toll_session=forged\r\nContent-Length: 7\r\n\r\n";
const FINAL: &str = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok";

/// Says all of it at once to every request.
async fn early() -> Scripted {
    Scripted::start(|mut wire, _| async move {
        while !wire.head().await.is_empty() {
            wire.say(format!("{EARLY}{FINAL}")).await;
        }
    })
    .await
}

async fn ask(bench: &Bench) -> Wire {
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn they_reach_the_client_while_the_upstream_is_still_at_it() {
    let heard = Arc::new(Notify::new());
    let gate = heard.clone();
    let origin = Scripted::start(move |mut wire, _| {
        let gate = gate.clone();
        async move {
            wire.head().await;
            wire.say(EARLY).await;
            soon("the client to have heard", gate.notified()).await;
            wire.say(FINAL).await;
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = ask(&bench).await;
    assert_eq!(client.head().await, "HTTP/1.1 102 Processing\r\n\r\n");
    assert_eq!(
        client.head().await,
        "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\nlink: </b>\r\n\r\n",
        "nothing of one hop, of Toll's or of a body"
    );
    heard.notify_one();
    let answer = client.answer().await;
    assert_eq!((answer.status(), answer.text(), answer.header("link")), (200, "ok", None));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_comes_before_its_own_answer_on_one_connection() {
    let origin = early().await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    // All at once: the answers wait for each other.
    let request = format!("GET /api/x HTTP/1.1\r\nHost: toll\r\nX-Api-Key: {}\r\n\r\n", bench.key);
    client.say(request.repeat(3)).await;
    for _ in 0..3 {
        for expected in ["102", "103"] {
            assert_eq!(path(&client.head().await), expected);
        }
        let answer = client.answer().await;
        assert_eq!((answer.status(), answer.text()), (200, "ok"));
    }
}

/// RFC 9111 §3: only final answers are stored.
#[tokio::test(flavor = "multi_thread")]
async fn the_cache_keeps_nothing_of_them() {
    let origin = early().await;
    let bench = Bench::new(&[origin.url()], PATIENT, "cache = true").await;
    let mut client = ask(&bench).await;
    assert_eq!((path(&client.head().await), path(&client.head().await)), ("102", "103"));
    assert_eq!(client.answer().await.outcome(), "forwarded");
    client.get("/api/x", &bench.key, "").await;
    let hit = client.answer().await;
    assert_eq!((hit.outcome(), hit.status(), hit.header("link")), ("cache_hit", 200, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_http_1_0_get_none() {
    let origin = early().await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    client.say(format!("GET /api/x HTTP/1.0\r\nHost: toll\r\nX-Api-Key: {}\r\n\r\n", bench.key)).await;
    let head = client.head().await;
    assert_eq!((path(&head), header(&head, "x-toll-outcome")), ("200", Some("forwarded")));
}

/// RFC 9110 §10.1.1: Toll says by itself that it wants a body.
#[tokio::test(flavor = "multi_thread")]
async fn a_continue_of_the_upstream_is_for_toll() {
    let origin = Scripted::says(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    )
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = ask(&bench).await;
    assert_eq!((path(&client.head().await), path(&client.head().await)), ("103", "204"));
}
