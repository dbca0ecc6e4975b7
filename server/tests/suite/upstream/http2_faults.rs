//! Answers that are none of HTTP/2's (RFC 9113 §8.1.1): 502 `upstream_broken`, or a body that breaks off.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use app::domain::outcome::Outcome;
use tokio::io::AsyncReadExt;

use super::raw::{Answer, Scripted, Wire};
use super::{Bench, PATIENT};
use crate::support::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PREFACE, PUSH_PROMISE, RST_STREAM,
    SETTINGS, block, frame, read_head,
};

/// What is wrong, and the frames that answer a stream.
type Case = (&'static str, fn(u32) -> Vec<u8>);

/// Answers each stream that is opened with the next case.
async fn origin(cases: &'static [Case]) -> Scripted {
    let next = Arc::new(AtomicUsize::new(0));
    Scripted::start(move |wire, _| answer_streams(wire, cases, next.clone())).await
}

async fn answer_streams(mut wire: Wire, cases: &'static [Case], next: Arc<AtomicUsize>) {
    wire.stream.read_exact(&mut [0; PREFACE.len()]).await.unwrap();
    wire.say(frame(SETTINGS, 0, 0, &[])).await;
    let mut head = [0; 9];
    while wire.stream.read_exact(&mut head).await.is_ok() {
        let (length, kind, stream) = read_head(head);
        let _ = wire.stream.read_exact(&mut vec![0; length]).await;
        match kind {
            SETTINGS if head[4] & ACK == 0 => wire.say(frame(SETTINGS, ACK, 0, &[])).await,
            HEADERS => match cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                Some((_, frames)) => wire.say(frames(stream)).await,
                None => return,
            },
            _ => {}
        }
    }
}

fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, &block(fields))
}

const OK: (&str, &str) = (":status", "200");

/// Asks for each case once, by a method that must not be repeated.
async fn answers(cases: &'static [Case], check: fn(&str, Answer)) {
    let origin = origin(cases).await;
    let url = format!("h2c://{}", origin.address);
    let bench = Bench::new(&[url], PATIENT, "").await;
    for (what, _) in cases {
        let mut client = bench.post("Content-Length: 2\r\n").await;
        client.say("hi").await;
        check(what, client.answer().await);
    }
    let n = cases.len() as u64;
    assert_eq!(bench.count(n, Outcome::UpstreamBroken).await, n as i64);
    assert_eq!(bench.books(n).await.upstream_calls, n, "none is asked twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_malformed_is_refused() {
    const CASES: &[Case] = &[
        ("no status", |stream| head(stream, END_STREAM, &[("a", "b")])),
        ("a status that is no number", |stream| head(stream, END_STREAM, &[(":status", "abc")])),
        ("a status below 100", |stream| head(stream, END_STREAM, &[(":status", "099")])),
        ("a status above 599", |stream| head(stream, END_STREAM, &[(":status", "999")])),
        ("two statuses", |stream| head(stream, END_STREAM, &[OK, OK])),
        ("a status behind a field", |stream| head(stream, END_STREAM, &[("a", "b"), OK])),
        ("an unasked 101", |stream| head(stream, END_STREAM, &[(":status", "101")])),
        ("a transfer coding", |stream| head(stream, 0, &[OK, ("transfer-encoding", "chunked")])),
        ("a field of the connection", |stream| head(stream, END_STREAM, &[OK, ("connection", "close")])),
        ("a name in upper case", |stream| head(stream, END_STREAM, &[OK, ("A", "b")])),
        ("a blank in a name", |stream| head(stream, END_STREAM, &[OK, ("a b", "c")])),
        ("a line feed in a value", |stream| head(stream, END_STREAM, &[OK, ("a", "b\nc: d")])),
        ("NUL in a value", |stream| head(stream, END_STREAM, &[OK, ("a", "b\0")])),
        ("two lengths", |stream| head(stream, 0, &[OK, ("content-length", "2"), ("content-length", "3")])),
        ("a signed length", |stream| head(stream, 0, &[OK, ("content-length", "+2")])),
        ("a length, and no body", |stream| head(stream, END_STREAM, &[OK, ("content-length", "2")])),
        ("more than 64 KiB", |stream| {
            // RFC 9113 §6.5.2: each counts 32 bytes more than it has.
            head(stream, END_STREAM, &[vec![OK], vec![("a", ""); 2000]].concat())
        }),
        ("an index of nothing", |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\xfe")),
        ("a body without a head", |stream| frame(DATA, END_STREAM, stream, b"ok")),
        ("a reset", |stream| frame(RST_STREAM, 0, stream, &2u32.to_be_bytes())),
        ("another frame within the head", |stream| {
            [frame(HEADERS, 0, stream, &block(&[OK])), frame(DATA, END_STREAM, stream, b"ok")].concat()
        }),
        ("the rest of another stream's head", |stream| {
            let rest = frame(CONTINUATION, END_HEADERS, stream + 2, &block(&[("a", "b")]));
            [frame(HEADERS, 0, stream, &block(&[OK])), rest].concat()
        }),
        ("a promise", |stream| {
            frame(PUSH_PROMISE, END_HEADERS, stream, &[&2u32.to_be_bytes()[..], &block(&[OK])].concat())
        }),
        ("HTTP/1.1", |_| b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
    ];
    answers(CASES, |what, answer| {
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_broken"), "{what}");
        assert!(answer.is_whole, "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_end_as_it_should_reaches_the_client_as_one_that_broke_off() {
    const CASES: &[Case] = &[
        ("shorter than its length", |stream| {
            [head(stream, 0, &[OK, ("content-length", "9")]), frame(DATA, END_STREAM, stream, b"hello")]
                .concat()
        }),
        ("longer than its length", |stream| {
            [head(stream, 0, &[OK, ("content-length", "3")]), frame(DATA, END_STREAM, stream, b"hello")]
                .concat()
        }),
        ("reset", |stream| {
            let reset = frame(RST_STREAM, 0, stream, &8u32.to_be_bytes());
            [head(stream, 0, &[OK]), frame(DATA, 0, stream, b"hello"), reset].concat()
        }),
        ("a second head", |stream| {
            [head(stream, 0, &[OK]), frame(DATA, 0, stream, b"hello"), head(stream, 0, &[OK])].concat()
        }),
        ("more padding than frame", |stream| {
            [head(stream, 0, &[OK]), frame(DATA, 8 | END_STREAM, stream, b"\x09hello")].concat()
        }),
        ("the connection given up", |stream| {
            let last = [0u32.to_be_bytes(), 1u32.to_be_bytes()].concat();
            [head(stream, 0, &[OK]), frame(DATA, 0, stream, b"hello"), frame(GOAWAY, 0, 0, &last)].concat()
        }),
    ];
    answers(CASES, |what, answer| assert!(!answer.is_whole, "{what}: {answer:?}")).await;
}

/// RFC 9110 §15.3.5 and §15.4.5: an answer without content has none, whatever comes behind it.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_behind_204_and_304_is_no_body() {
    const CASES: &[Case] = &[
        ("204", |stream| {
            [head(stream, 0, &[(":status", "204")]), frame(DATA, END_STREAM, stream, b"no")].concat()
        }),
        ("304", |stream| {
            [head(stream, 0, &[(":status", "304")]), frame(DATA, END_STREAM, stream, b"no")].concat()
        }),
    ];
    let origin = origin(CASES).await;
    let url = format!("h2c://{}", origin.address);
    let bench = Bench::new(&[url], PATIENT, "").await;
    let mut client = bench.client().await;
    for (what, _) in CASES {
        client.get("/api/x", &bench.key, "").await;
        let answer = client.answer().await;
        assert_eq!((answer.status().to_string().as_str(), answer.outcome()), (*what, "forwarded"));
    }
    assert_eq!(bench.count(2, Outcome::Forwarded).await, 2);
}
