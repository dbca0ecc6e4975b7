//! Bodies that take their time: nothing is held back, nothing is gathered, and who leaves is noticed on the other side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use app::domain::outcome::Outcome;
use tokio::sync::mpsc;

use super::raw::{PATIENCE, Scripted, path, soon};
use super::{Bench, PATIENT, PLAIN};

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_event_reaches_the_client_within_200_ms_and_the_stream_is_not_timed() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say(EVENTS).await;
        for _ in 0..8 {
            tokio::time::sleep(Duration::from_millis(150)).await;
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            let event = format!("data: {}\n\n", now.as_millis());
            wire.say(format!("{:x}\r\n{event}\r\n", event.len())).await;
        }
        wire.say("0\r\n\r\n").await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    client.head().await;
    let mut late = Vec::new();
    for _ in 0..8 {
        let event = client.until("\n\n\r\n").await;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let sent: u128 = event.split("data: ").nth(1).unwrap().trim_end().parse().unwrap();
        late.push(now.saturating_sub(sent));
    }
    // A gateway that gathers is late every time; a loaded machine is late now and then.
    late.sort_unstable();
    assert!(late[4] < 200, "{late:?} ms");
    let funnel = bench.books(1).await;
    assert_eq!((funnel.statuses.success, funnel.latency.counts.iter().sum::<u64>()), (1, 0));
}

/// The origin's writes are what tells: they stop when the buffers of two sockets and of the gateway are full.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_slows_the_upstream_and_grows_no_memory() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let origin = Scripted::start(move |mut wire, _| {
        let count = count.clone();
        async move {
            wire.head().await;
            wire.say("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n").await;
            let piece = vec![b'a'; 1 << 16];
            while tokio::io::AsyncWriteExt::write_all(&mut wire.stream, &piece).await.is_ok() {
                count.fetch_add(piece.len(), Ordering::SeqCst);
            }
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "").await;
    client.head().await;
    let stalled = stalls(&sent).await;
    assert!(stalled < 40 << 20, "{stalled} bytes of 10^9 had been taken");
    // It goes on as the reader does.
    client.take(stalled + (1 << 20)).await;
    assert!(sent.load(Ordering::SeqCst) > stalled);
    drop(client);
    assert_eq!(bench.count(1, Outcome::ClientGone).await, 1);
}

/// The same on the way up, on a route that streams.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_upstream_slows_the_client() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        std::future::pending().await
    })
    .await;
    let bench = Bench::new(&[origin.url()], "timeout = \"60s\"", "body_limit = \"none\"").await;
    let mut client = bench.post("Content-Length: 1000000000\r\n").await;
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let writing = tokio::spawn(async move {
        let piece = vec![b'a'; 1 << 16];
        while tokio::io::AsyncWriteExt::write_all(&mut client.stream, &piece).await.is_ok() {
            count.fetch_add(piece.len(), Ordering::SeqCst);
        }
    });
    let stalled = stalls(&sent).await;
    assert!(stalled < 40 << 20, "{stalled} bytes of 10^9 had been taken");
    writing.abort();
}

/// The count when it has not moved for a second.
async fn stalls(count: &AtomicUsize) -> usize {
    let began = Instant::now();
    let mut before = 0;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = count.load(Ordering::SeqCst);
        if now == before && now > 0 {
            return now;
        }
        assert!(began.elapsed() < 2 * PATIENCE, "it never stalled: {now} bytes");
        before = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_upload_arrives_piece_by_piece() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.until("first").await;
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n").await;
        wire.say("first, ").await;
        wire.until("last").await;
        wire.say("last").await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, "body_limit = \"none\"").await;
    let mut client = bench.post("Transfer-Encoding: chunked\r\n").await;
    client.say("5\r\nfirst\r\n").await;
    // The answer to the first piece comes before the last one is sent.
    client.until("first, ").await;
    client.say("4\r\nlast\r\n0\r\n\r\n").await;
    assert_eq!(client.until("last").await, "last");
    assert_eq!(bench.count(1, Outcome::Forwarded).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_takes_its_request_from_the_upstream() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let origin = Scripted::start(move |mut wire, _| {
        let tell = tell.clone();
        async move {
            let head = wire.head().await;
            if path(&head) == "/body" {
                wire.say(format!("{EVENTS}5\r\nhello\r\n")).await;
            }
            let _ = tell.send("asked");
            // Comes to an end when the gateway closes.
            wire.rest().await;
            let _ = tell.send("closed");
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for path in ["/api/x/head", "/api/x/body"] {
        let mut client = bench.client().await;
        client.get(path, &bench.key, "").await;
        assert_eq!(soon("the request", told.recv()).await, Some("asked"));
        if path == "/api/x/body" {
            client.until("hello").await;
        }
        drop(client);
        assert_eq!(soon("the connection to be closed", told.recv()).await, Some("closed"));
    }
    assert_eq!(bench.count(2, Outcome::ClientGone).await, 2);
    let failures: i32 = sqlx::query_scalar("select cardinality(failures) from breaker")
        .fetch_one(&bench.toll.db.pool)
        .await
        .unwrap();
    assert_eq!(failures, 0, "that is no fault of the upstream's");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_leaves_takes_the_stream_from_the_client() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say(format!("{EVENTS}5\r\nhello\r\n")).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.text(), answer.is_whole), ("hello", false));
    assert_eq!(bench.count(1, Outcome::UpstreamBroken).await, 1);
}

/// RFC 9110 §6.5, RFC 9112 §7.1.2
#[tokio::test(flavor = "multi_thread")]
async fn trailers_pass_both_ways_less_those_that_have_no_place_there() {
    let origin = Scripted::start(|mut wire, _| async move {
        let head = wire.head().await;
        let is_asked = head.to_lowercase().contains("te: trailers\r\n");
        let body = wire.until("\r\n\r\n").await;
        let sum = if body.contains("x-sum: 7") && is_asked { "x-sum: 8" } else { "x-sum: missing" };
        wire.say(format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-Toll-Outcome, Set-Cookie\r\n\r\n\
             2\r\nok\r\n0\r\n{sum}\r\nX-Toll-Outcome: forged\r\nSet-Cookie: toll_session=forged\r\n\r\n"
        ))
        .await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, "body_limit = \"none\"").await;
    let lines = "TE: trailers\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n";
    let mut client = bench.post(lines).await;
    client.say("2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!((answer.text(), answer.is_whole), ("ok", true));
    assert_eq!(answer.trailers.to_lowercase(), "x-sum: 8\r\n");
}
