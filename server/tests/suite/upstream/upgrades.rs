//! WebSocket and other upgrades (RFC 9110 §7.8, RFC 6455): through, counted, and ended when either side ends.

use std::time::Duration;

use app::domain::outcome::Outcome;
use sqlx::Row;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toll::listener::GRACE;

use super::raw::{Scripted, Wire, header, soon};
use super::{Bench, PATIENT, PLAIN};
use crate::support::database::TestDatabase;
use crate::support::gateway::TestGateway;

const ASKS: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
const SWITCHES: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Switches as it is asked, says hello, and then says everything twice; ends with its client, or at `bye`.
async fn echo() -> Scripted {
    Scripted::start(|mut wire, _| async move {
        let head = wire.head().await;
        assert_eq!(header(&head, "upgrade"), Some("websocket"));
        assert_eq!(header(&head, "connection"), Some("upgrade"));
        assert!(header(&head, "sec-websocket-key").is_some() && header(&head, "x-api-key").is_none());
        // In one piece with the head: what follows the head must not be lost.
        wire.say(format!("{SWITCHES}hello.")).await;
        loop {
            match wire.until(".").await.as_str() {
                "" | "bye." => return,
                word => wire.say(word.repeat(2)).await,
            }
        }
    })
    .await
}

async fn upgraded(bench: &Bench) -> Wire {
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, ASKS).await;
    let head = client.head().await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert_eq!(header(&head, "upgrade"), Some("websocket"));
    assert_eq!(header(&head, "sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_eq!(header(&head, "x-toll-outcome"), Some("upgraded"));
    assert_eq!(client.until(".").await, "hello.");
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_is_counted_with_its_bytes_and_duration_but_not_timed() {
    let origin = echo().await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = upgraded(&bench).await;
    for word in ["one.", "two."] {
        client.say(word).await;
        assert_eq!(client.take(8).await, word.repeat(2).as_bytes());
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.say("bye.").await;
    assert!(client.rest().await.is_empty(), "the upstream has left, and so the client hears the end");
    assert_eq!(bench.count(1, Outcome::Upgraded).await, 1);
    let row = sqlx::query(
        "select status, bytes_in, bytes_out, duration_us, timed, upstream_calls from request_log",
    )
    .fetch_one(&bench.toll.db.pool)
    .await
    .unwrap();
    let bytes: (i64, i64) = (row.get("bytes_in"), row.get("bytes_out"));
    assert_eq!(bytes, (12, 22), "up and down");
    assert_eq!((row.get::<i16, _>("status"), row.get::<bool, _>("timed")), (101, false));
    assert!(row.get::<i64, _>("duration_us") >= 300_000);
    let funnel = bench.books(1).await;
    assert_eq!((funnel.reached_upstream, funnel.latency.counts.iter().sum::<u64>()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_the_tunnel_on_the_other_side() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let origin = Scripted::start(move |mut wire, _| {
        let tell = tell.clone();
        async move {
            wire.head().await;
            wire.say(format!("{SWITCHES}hello.")).await;
            wire.rest().await;
            let _ = tell.send(());
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let client = upgraded(&bench).await;
    drop(client);
    soon("the end of the tunnel", told.recv()).await.unwrap();
    assert_eq!(bench.count(1, Outcome::Upgraded).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_are_counted_even_if_the_tunnel_breaks_off() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say(format!("{SWITCHES}hello.")).await;
        wire.until("go.").await;
        // Closed with something unread: a reset.
        wire.stream.set_zero_linger().unwrap();
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = upgraded(&bench).await;
    client.say("go.").await;
    client.rest().await;
    bench.books(1).await;
    let bytes: (i64, i64) = sqlx::query_as("select bytes_in, bytes_out from request_log")
        .fetch_one(&bench.toll.db.pool)
        .await
        .unwrap();
    assert_eq!(bytes, (3, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_tunnel_is_in_flight_and_takes_a_place_of_max_in_flight() {
    let origin = echo().await;
    let breaker = "breaker = { max_in_flight = 1 }";
    let bench = Bench::new(&[origin.url()], breaker, PLAIN).await;
    let mut client = upgraded(&bench).await;
    assert_eq!(bench.get("/api/x").await.outcome(), "breaker_saturated");
    client.say("bye.").await;
    client.rest().await;
    bench.books(2).await;
    drop(upgraded(&bench).await);
    bench.books(3).await;
}

/// A tunnel that is still used once the signal to stop has come and no more connections are taken; the task ends when the
/// gateway has.
async fn stopping_around_a_tunnel() -> (Wire, TestDatabase, JoinHandle<()>) {
    let origin = echo().await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = upgraded(&bench).await;
    let TestGateway { db, node, data } = bench.toll;
    let address = node.address;
    let ended = tokio::spawn(async move {
        node.stop().await.unwrap();
        drop(data);
    });
    soon("no more connections to be taken", async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    client.say("one.").await;
    assert_eq!(client.take(8).await, b"one.one.");
    (client, db, ended)
}

async fn outcome_and_bytes(db: &TestDatabase) -> (i16, i64, i64) {
    let all = "select outcome, bytes_in, bytes_out from request_log";
    sqlx::query_as(all).fetch_one(&db.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_leaves_its_tunnels_the_time_to_end() {
    let (mut client, db, ended) = stopping_around_a_tunnel().await;
    assert!(!ended.is_finished());
    client.say("bye.").await;
    client.rest().await;
    soon("the gateway's end", ended).await.unwrap();
    assert_eq!(outcome_and_bytes(&db).await, (Outcome::Upgraded.code(), 8, 14));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_that_takes_longer_is_cut_off_and_still_counted_as_what_it_was() {
    let (mut client, db, ended) = stopping_around_a_tunnel().await;
    tokio::time::timeout(GRACE * 2, ended).await.expect("the gateway to end").unwrap();
    assert!(client.rest().await.is_empty(), "closed");
    assert_eq!(outcome_and_bytes(&db).await, (Outcome::Upgraded.code(), 4, 14));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_may_decline_an_upgrade() {
    let origin = Scripted::says(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get_with("/api/x", ASKS).await;
    assert_eq!((answer.status(), answer.outcome(), answer.text()), (426, "forwarded", "no"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_to_a_protocol_that_was_not_asked_for_is_refused() {
    let origin = Scripted::says(b"HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get_with("/api/x", ASKS).await;
    assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"));
}

/// Requests inside such a tunnel would reach the upstream behind Toll's back.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_http2_is_never_asked_of_an_upstream() {
    let origin = Scripted::start(|mut wire, _| async move {
        let head = wire.head().await.to_lowercase();
        let asks = ["upgrade", "http2-settings"].iter().any(|name| head.contains(name));
        wire.say(format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{asks:<5}")).await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let asks =
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
    let answer = bench.get_with("/api/x", asks).await;
    assert_eq!((answer.status(), answer.text()), (200, "false"));
}
