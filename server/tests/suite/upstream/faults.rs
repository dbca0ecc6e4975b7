//! Heads that are not HTTP's, or could be read in two ways: each is answered 502 `upstream_broken`, on the books as reached.

use app::domain::outcome::Outcome;

use super::raw::{Scripted, path};
use super::{Bench, PATIENT, PLAIN};

/// What is wrong, and what the upstream says.
type Case = (&'static str, &'static [u8]);

/// Asks for each case once; `/x/3` is answered with the fourth.
async fn all_are_refused(cases: &'static [Case]) {
    let origin = Scripted::start(move |mut wire, _| async move {
        let head = wire.head().await;
        let case: usize = path(&head).trim_start_matches('/').parse().unwrap();
        wire.say(cases[case].1).await;
        // Long enough for the gateway to read what was said, and then for it to close.
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for (case, (what, _)) in cases.iter().enumerate() {
        let answer = bench.get(&format!("/api/x/{case}")).await;
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"), "{what}");
        assert_eq!(answer.header("x-toll-stage"), Some("proxy"), "{what}");
        assert!(answer.is_whole && answer.text().contains("\"outcome\":\"upstream_broken\""), "{what}");
    }
    let n = cases.len() as u64;
    assert_eq!(bench.count(n, Outcome::UpstreamBroken).await, n as i64);
    let funnel = bench.books(n).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (n, n), "reached, and not asked twice");
    let failures: i32 = sqlx::query_scalar("select cardinality(failures) from breaker")
        .fetch_one(&bench.toll.db.pool)
        .await
        .unwrap();
    assert_eq!(failures, n as i32, "the breaker counts them");
}

/// RFC 9112 §4, RFC 9110 §15
#[tokio::test(flavor = "multi_thread")]
async fn a_status_line_that_is_none_is_refused() {
    all_are_refused(&[
        ("garbage", b"\x16\x03\x01\x02\x00\x01\xff\xfe\r\n\r\n"),
        ("a greeting of another protocol", b"220 mail.example ESMTP\r\n\r\n"),
        ("a status that is no number", b"HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a status below 100", b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a status above 599", b"HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("another version", b"HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a head without a status line", b"Content-Length: 2\r\n\r\nok"),
        ("an empty line first", b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        (
            "an empty line after an interim head",
            b"HTTP/1.1 100 C\r\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        (
            "an empty line first, to hide a bare LF",
            b"\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        ),
        ("a version in lower case", b"http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a version of one digit", b"HTTP/1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("another minor version", b"HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("tabs between", b"HTTP/1.1\t200\tOK\r\nContent-Length: 2\r\n\r\nok"),
        ("a status behind two spaces", b"HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ("a space first", b" HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ])
    .await;
}

/// RFC 9112 §2.2 and §5, RFC 9110 §5.5
#[tokio::test(flavor = "multi_thread")]
async fn a_head_whose_lines_could_be_read_in_two_ways_is_refused() {
    all_are_refused(&[
        ("bare LF throughout", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
        ("bare LF after the status line", b"HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok"),
        ("bare LF after a field", b"HTTP/1.1 200 OK\r\nA: b\nContent-Length: 2\r\n\r\nok"),
        ("bare LF at the end", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok"),
        (
            "bare LF in an interim head",
            b"HTTP/1.1 103 E\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        ("bare CR in a value", b"HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 2\r\n\r\nok"),
        ("NUL in a value", b"HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 2\r\n\r\nok"),
        ("NUL in a name", b"HTTP/1.1 200 OK\r\nA\0: b\r\nContent-Length: 2\r\n\r\nok"),
        ("NUL in the reason", b"HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nok"),
        ("a folded line", b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok"),
        ("a space before the colon", b"HTTP/1.1 200 OK\r\nA : b\r\nContent-Length: 2\r\n\r\nok"),
        ("a line without a colon", b"HTTP/1.1 200 OK\r\nA\r\nContent-Length: 2\r\n\r\nok"),
        ("an empty name", b"HTTP/1.1 200 OK\r\n: b\r\nContent-Length: 2\r\n\r\nok"),
        ("a blank before the first name", b"HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 2\r\n\r\nok"),
        ("a fold without anything", b"HTTP/1.1 200 OK\r\nA: b\r\n \r\nContent-Length: 2\r\n\r\nok"),
        ("CR CR LF", b"HTTP/1.1 200 OK\r\nA: b\r\r\nContent-Length: 2\r\n\r\nok"),
        ("a vertical tab in a value", b"HTTP/1.1 200 OK\r\nA: b\x0bc\r\nContent-Length: 2\r\n\r\nok"),
        ("a byte above ASCII in a name", b"HTTP/1.1 200 OK\r\nA\xe9: b\r\nContent-Length: 2\r\n\r\nok"),
        ("a blank within a name", b"HTTP/1.1 200 OK\r\nContent Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    ])
    .await;
}

/// RFC 9112 §6.1 and §6.3
#[tokio::test(flavor = "multi_thread")]
async fn a_head_whose_body_has_no_certain_end_is_refused() {
    all_are_refused(&[
        ("two different lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
        ("two different lengths in a list", b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok"),
        ("two different lengths of no body", b"HTTP/1.1 304 N\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n"),
        ("a signed length", b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"),
        ("a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
        ("a length in hex", b"HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok"),
        ("an empty length", b"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nok"),
        ("a length of 2^64", b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nok"),
        (
            "a length and a transfer coding",
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
        ("chunked behind a blank of its own", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
        ("chunked in an empty list", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: ,chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        ("chunked and a comma", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked,\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        ("chunked with a parameter", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;q=1\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        ("no transfer coding's name", b"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nok"),
        ("identity", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"),
        ("a transfer coding of no body", b"HTTP/1.1 304 N\r\nTransfer-Encoding: gzip\r\n\r\n"),
        ("a length of two words", b"HTTP/1.1 200 OK\r\nContent-Length: 2 2\r\n\r\nok"),
        ("a length and a comma", b"HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\nok"),
        ("a length of another script", b"HTTP/1.1 200 OK\r\nContent-Length: \xd9\xa2\r\n\r\nok"),
        ("an unknown transfer coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"),
        (
            "two transfer codings",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
        (
            "chunked twice",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
        (
            "a transfer coding of HTTP/1.0",
            b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ),
    ])
    .await;
}

/// RFC 9110 §7.8 and §15.2.2
#[tokio::test(flavor = "multi_thread")]
async fn an_unasked_101_is_refused() {
    all_are_refused(&[
        ("to websocket", b"HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02ok"),
        ("to nothing", b"HTTP/1.1 101 S\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ])
    .await;
}

/// RFC 9110 §5.4: 64 KiB, and 128 fields.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_over_the_limit_is_refused_and_one_below_is_not() {
    let origin = Scripted::start(|mut wire, _| async move {
        let head = wire.head().await;
        let lines = match path(&head) {
            "/long" => format!("A: {}\r\n", "a".repeat(70_000)),
            "/many" => "A: b\r\n".repeat(200),
            _ => format!("A: {}\r\n", "a".repeat(600)).repeat(90),
        };
        wire.say(format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\n\r\nok")).await;
        wire.rest().await;
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for path in ["/api/x/long", "/api/x/many"] {
        let answer = bench.get(path).await;
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"), "{path}");
    }
    let answer = bench.get("/api/x/fits").await;
    assert_eq!((answer.status(), answer.text()), (200, "ok"));
    assert_eq!(answer.head.matches("aaaa\r\n").count(), 90);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_closes_within_its_head_is_broken_and_not_asked_again() {
    let origin = Scripted::start(|mut wire, _| async move {
        let head = wire.head().await;
        if path(&head) == "/half" {
            wire.say("HTTP/1.1 200 OK\r\nContent-Le").await;
        }
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    for path in ["/api/x/half", "/api/x/nothing"] {
        let answer = bench.get(path).await;
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"), "{path}");
    }
    // Both on a connection of their own: that one was not closed for being old.
    assert_eq!(bench.books(2).await.upstream_calls, 2);
    assert_eq!(origin.accepted(), 2);
}
