//! RFC 9113 §8: what is malformed over HTTP/2.

use super::frames::{End, FLOW_CONTROL_ERROR, Frames, PROTOCOL_ERROR};
use super::{Front, books};

type Fields<'f> = Vec<(&'f str, &'f str)>;

fn get<'f>(more: &[(&'f str, &'f str)]) -> Fields<'f> {
    let pseudo =
        [(":method", "GET"), (":scheme", "http"), (":path", "/api/orders"), (":authority", "toll.example")];
    pseudo.iter().chain(more).copied().collect()
}

fn without<'f>(name: &str) -> Fields<'f> {
    get(&[]).into_iter().filter(|(other, _)| *other != name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_head_ends_its_stream_and_no_other() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    let heads = [
        get(&[("connection", "close")]),
        get(&[("keep-alive", "timeout=5")]),
        get(&[("proxy-connection", "close")]),
        get(&[("transfer-encoding", "chunked")]),
        get(&[("upgrade", "websocket")]),
        get(&[("te", "gzip")]),
        get(&[(":path", "/api/orders/twice")]),
        get(&[("x-a", "b"), (":path", "/late")]),
        get(&[(":status", "200")]),
        [vec![("x-first", "1")], get(&[])].concat(),
        without(":method"),
        without(":scheme"),
        without(":path"),
        [without(":path"), vec![(":path", "")]].concat(),
    ];
    let mut stream = 1;
    for head in heads {
        client.headers(stream, &head, true).await;
        assert_eq!(client.end_of(stream).await, End::Reset(PROTOCOL_ERROR), "{head:?}");
        stream += 2;
        client.headers(stream, &get(&[]), true).await;
        assert_eq!(client.end_of(stream).await, End::Status(200));
        stream += 2;
    }
    assert_eq!(front.books().await, books([("proxy forwarded", 14)]));
    assert_eq!(front.origin.seen().len(), 14);
}

/// §8.2, §8.3: names in upper case and pseudo-headers that nobody knows are errors of the compression to h2, which end
/// the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_cannot_be_one_ends_the_connection() {
    let front = Front::start().await;
    for name in ["X-Upper", ":extra", "a b"] {
        let mut client = Frames::connect(front.toll.address()).await;
        client.headers(1, &get(&[(name, "a")]), true).await;
        assert_eq!(client.end_of(1).await, End::GoAway(PROTOCOL_ERROR), "{name}");
    }
    assert_eq!(front.books().await, books([]));
}

/// §8.1.1: a body must be as long as its `content-length` says.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_another_length_than_it_says_reaches_no_upstream() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    let post: Fields = [("content-length", "5")]
        .into_iter()
        .chain(get(&[]).into_iter().map(
            |(name, value)| {
                if name == ":method" { (name, "POST") } else { (name, value) }
            },
        ))
        .collect();
    // The pseudo-headers come first.
    let post = [&post[1..], &post[..1]].concat();
    for (stream, data) in [(1, &b"four"[..]), (3, b"sixsix")] {
        client.headers(stream, &post, false).await;
        client.data(stream, data, true).await;
        assert_eq!(client.end_of(stream).await, End::Reset(PROTOCOL_ERROR), "{}", data.len());
    }
    assert_eq!(front.books().await, books([("proxy client_gone", 2)]));
    assert_eq!(front.origin.seen(), Vec::<String>::new());
    client.headers(5, &post, false).await;
    client.data(5, b"right", true).await;
    assert_eq!(client.end_of(5).await, End::Status(200));
}

/// Answered without their bodies being looked at.
const EARLY: [&str; 5] = ["/api/nowhere", "/api/keyed", "/api/listed", "/healthz", "/"];

fn post(path: &'static str) -> Fields<'static> {
    vec![(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "toll.example")]
}

/// §8.1: a stream whose answer ends before the request is reset, and there are clients that lose the answer over it.
#[tokio::test(flavor = "multi_thread")]
async fn an_early_answer_leaves_a_short_request_the_time_to_end() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    for (stream, path) in (1..).step_by(2).zip(EARLY) {
        client.headers(stream, &post(path), false).await;
        client.data(stream, b"hello", false).await;
        client.data(stream, b"world", true).await;
        assert!(matches!(client.end_of(stream).await, End::Status(_)), "{path}");
    }
    client.headers(101, &get(&[]), true).await;
    assert_eq!((client.end_of(101).await, client.resets.as_slice()), (End::Status(200), [].as_slice()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_rest_of_a_request_is_said_although_its_answer_is_known() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    for (stream, path) in (1..).step_by(4).zip(EARLY) {
        // §6.9.1
        client.headers(stream, &post(path), false).await;
        client.window_update(stream, i32::MAX as u32).await;
        assert_eq!(client.end_of(stream).await, End::Reset(FLOW_CONTROL_ERROR), "{path}");
        // §8.1.1
        let too_long = [post(path), vec![("content-length", "1")]].concat();
        client.headers(stream + 2, &too_long, false).await;
        client.data(stream + 2, b"hello", true).await;
        assert_eq!(client.end_of(stream + 2).await, End::Reset(PROTOCOL_ERROR), "{path}");
    }
}

/// Not for ever.
#[tokio::test(flavor = "multi_thread")]
async fn an_early_answer_does_not_wait_for_a_request_without_an_end() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    for (stream, path) in (1..).step_by(2).zip(EARLY) {
        client.headers(stream, &post(path), false).await;
        assert!(matches!(client.end_of(stream).await, End::Status(_)), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_http_1_calls_a_bad_request_is_one_over_http_2_too() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    let heads = [
        get(&[("host", "other.example")]),
        get(&[("host", "toll.example"), ("host", "toll.example")]),
        without(":authority"),
        [without(":authority"), vec![(":authority", "me@toll.example")]].concat(),
        vec![(":method", "CONNECT"), (":authority", "inside.example:443")],
        get(&[("content-length", "5, 5")]),
        get(&[("content-length", "00")]),
        get(&[("content-length", "")]),
        // RFC 9113 §8.2.1
        get(&[("x-a", " b")]),
        get(&[("x-a", "b\t")]),
    ];
    let mut refused = 0;
    for (n, head) in heads.iter().enumerate() {
        let stream = 2 * n as u32 + 1;
        client.headers(stream, head, true).await;
        match client.end_of(stream).await {
            End::Status(400) => refused += 1,
            // Some of these h2 itself takes for malformed.
            end => assert_eq!(end, End::Reset(PROTOCOL_ERROR), "{head:?}"),
        }
    }
    assert!(refused >= 4, "{refused}");
    assert_eq!(front.books().await, books([("route bad_request", refused)]));
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn non_ascii_and_dot_segments_are_bad_paths_over_http_2_too() {
    let front = Front::start().await;
    let mut client = Frames::connect(front.toll.address()).await;
    for (stream, path) in [(1, "/api/orders/caf\u{e9}"), (3, "/api/orders/../x"), (5, "/api/orders/%2e%2e")] {
        let head = [without(":path"), vec![(":path", path)]].concat();
        client.headers(stream, &head, true).await;
        assert_eq!(client.end_of(stream).await, End::Status(400), "{path}");
    }
    assert_eq!(front.books().await, books([("route bad_path", 3)]));
}
