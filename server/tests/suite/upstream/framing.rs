//! Bodies that end too early, too late or never: passed on as far as they came, and never as a clean short one.

use app::domain::outcome::Outcome;

use super::raw::{Scripted, path};
use super::{Bench, PATIENT, PLAIN};

/// What is wrong, what the upstream says, and how much of it is body.
type Case = (&'static str, &'static [u8], &'static str);

/// `/x/3` is answered with the fourth, and then the connection is closed.
async fn origin_of(cases: &'static [Case]) -> Scripted {
    Scripted::start(move |mut wire, _| async move {
        let head = wire.head().await;
        let case: usize = path(&head).trim_start_matches('/').parse().unwrap();
        wire.say(cases[case].1).await;
    })
    .await
}

/// RFC 9112 §8
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_reaches_the_client_as_one_that_broke_off() {
    const CASES: &[Case] = &[
        ("shorter than its length", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", "hello"),
        (
            "chunks without an end",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "hello",
        ),
        ("half a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", "hello"),
        (
            "a chunk of no size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a chunk of a negative size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-1\r\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a chunk longer than its size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a chunk of 2^64 bytes",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10000000000000000\r\n",
            "hello",
        ),
        (
            "a bare LF after a size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a CR alone after a size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\rx",
            "hello",
        ),
        (
            "a bare LF in an extension",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a CR in an extension",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a\rb\r\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a size in words of C",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0x1\r\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "an underscore in a size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0_1\r\nx\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "an empty line for a size",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\r\n\r\n0\r\n\r\n",
            "hello",
        ),
        (
            "a bare LF after data",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n",
            "hello",
        ),
        (
            "a bare LF at the end",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\n",
            "hello",
        ),
        (
            "a bare LF in the trailers",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\n\r\n",
            "hello",
        ),
        (
            "a trailer without a colon",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA b\r\n\r\n",
            "hello",
        ),
        (
            "an end within the trailers",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n",
            "hello",
        ),
        (
            "an end without its last line",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
            "hello",
        ),
    ];
    let origin = origin_of(CASES).await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for (case, (what, _, body)) in CASES.iter().enumerate() {
        let answer = bench.get(&format!("/api/x/{case}")).await;
        assert!(!answer.is_whole, "{what}: passed off as whole");
        // What came may or may not get through; what did not come never does.
        assert!(body.as_bytes().starts_with(&answer.body), "{what}: {:?}", answer.body);
    }
    let n = CASES.len() as u64;
    assert_eq!(bench.count(n, Outcome::UpstreamBroken).await, n as i64);
    assert_eq!(bench.books(n).await.upstream_calls, n);
}

/// RFC 9112 §6.3: what is left over belongs to no message.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_after_the_end_of_a_body_is_thrown_away() {
    const CASES: &[Case] = &[
        ("longer than its length", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world", "hello"),
        (
            "after the last chunk",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nx",
            "hello",
        ),
        ("204 with a body", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", ""),
        ("304 with a body", b"HTTP/1.1 304 Not Modified\r\n\r\nhello", ""),
        (
            "204 with chunks",
            b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "",
        ),
    ];
    let origin = origin_of(CASES).await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    // All on one connection: a byte too many would be the beginning of the next answer.
    let mut client = bench.client().await;
    for (case, (what, _, body)) in CASES.iter().enumerate() {
        client.get(&format!("/api/x/{case}"), &bench.key, "").await;
        let answer = client.answer().await;
        assert!(answer.is_whole, "{what}: {}", answer.head);
        assert_eq!((answer.outcome(), answer.text()), ("forwarded", *body), "{what}");
        if answer.status() == 204 {
            // RFC 9110 §8.6
            assert_eq!(answer.header("content-length"), None, "{what}");
        }
    }
    assert_eq!(origin.accepted(), CASES.len(), "no connection is used again");
}

/// RFC 9112 §6.3
#[tokio::test(flavor = "multi_thread")]
async fn a_length_that_is_named_twice_is_passed_on_once() {
    let origin =
        Scripted::says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\nok").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.text(), answer.head.to_lowercase().matches("content-length").count()), ("ok", 1));
}

/// RFC 9112 §6.3, last rule
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_ends_with_its_connection_is_passed_on_whole() {
    let origin = Scripted::says(b"HTTP/1.0 200 OK\r\n\r\nall there is").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.outcome(), answer.text(), answer.is_whole), ("forwarded", "all there is", true));
}

/// RFC 9110 §9.3.2
#[tokio::test(flavor = "multi_thread")]
async fn head_has_no_body_but_its_length() {
    let origin = Scripted::says(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    let key = &bench.key;
    client
        .say(format!("HEAD /api/x HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\nConnection: close\r\n\r\n"))
        .await;
    let all = String::from_utf8(client.rest().await).unwrap();
    assert!(all.contains("content-length: 5\r\n") && all.ends_with("\r\n\r\n"), "{all}");
}

/// RFC 9112 §9.3: the upstream need not have read the request to answer it.
#[tokio::test(flavor = "multi_thread")]
async fn a_final_answer_before_the_end_of_the_request_is_passed_on_and_ends_the_connection() {
    let origin = Scripted::start(|mut wire, _| async move {
        wire.head().await;
        wire.say("HTTP/1.1 413 Too Much\r\nContent-Length: 4\r\n\r\nstop").await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, "body_limit = \"none\"").await;
    for _ in 0..3 {
        let mut client = bench.post("Content-Length: 50000000\r\n").await;
        client.say("a".repeat(100_000)).await;
        let answer = client.answer().await;
        assert_eq!((answer.status(), answer.outcome(), answer.text()), (413, "forwarded", "stop"));
    }
    let funnel = bench.books(3).await;
    assert_eq!((funnel.statuses.client_error, origin.accepted()), (3, 3));
}
