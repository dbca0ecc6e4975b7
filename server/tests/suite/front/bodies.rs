//! Bodies and their absence, in both directions.

use super::raw::RawOrigin;
use super::{Front, books};

/// RFC 9110 §6.5.
#[tokio::test(flavor = "multi_thread")]
async fn trailers_pass_but_not_those_that_a_head_must_hold() {
    let front = Front::start().await;
    for path in ["/api/orders", "/api/streamed"] {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Checksum\r\n\r\n5\r\nhello\r\n\
             0\r\nX-Checksum: abc\r\nContent-Length: 99\r\nHost: evil\r\nX-Toll-Partner: me\r\n\r\n"
        );
        assert_eq!(front.ask(request).await.status, 200);
    }
    for seen in front.origin.seen() {
        assert!(seen.ends_with("5\r\nhello\r\n0\r\nx-checksum: abc\r\n\r\n"), "{seen}");
        assert!(seen.contains("\r\ntrailer: "), "{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trailers_without_announcement_pass_where_the_body_is_read_first() {
    let front = Front::start().await;
    let request = "POST /api/orders HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                   2\r\nok\r\n0\r\nDigest: x\r\nDigest: y\r\n\r\n";
    assert_eq!(front.ask(request).await.status, 200);
    assert!(front.origin.only().ends_with("0\r\ndigest: x\r\ndigest: y\r\n\r\n"), "{}", front.origin.only());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_body_gets_none_upstream() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    for (request, length) in [
        ("GET /api/orders HTTP/1.1\r\nHost: a\r\n\r\n", None),
        ("GET /api/orders HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", None),
        ("POST /api/orders HTTP/1.1\r\nHost: a\r\n\r\n", Some("0")),
        ("GET /api/orders HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", Some("5")),
        ("DELETE /api/orders HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Some("0")),
    ] {
        let before = front.origin.seen().len();
        assert_eq!(client.ask(request).await.status, 200);
        let seen = front.origin.seen()[before].to_ascii_lowercase();
        let found = seen.split("\r\n").find_map(|line| line.strip_prefix("content-length: "));
        assert!(found == length || (length == Some("0") && found.is_none()), "{request:?} became {seen:?}");
        assert!(!seen.contains("transfer-encoding"), "{seen:?}");
    }
}

/// RFC 9110 §9.3.2: an answer to HEAD says how long that to GET would be, and has no body.
#[tokio::test(flavor = "multi_thread")]
async fn head_has_a_length_and_no_body_for_answers_and_refusals() {
    let origin = RawOrigin::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n".to_vec()).await;
    let front = Front::before(origin, &[]).await;
    let mut client = front.connect().await;
    client.send("HEAD /api/orders HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let reply = client.reply_to("HEAD").await;
    assert_eq!((reply.status, reply.header("content-length")), (200, "7"));
    client.send("HEAD /api/nowhere HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let refusal = client.reply_to("HEAD").await;
    assert_eq!(refusal.status, 404);
    let same = client.ask("GET /api/nowhere HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(refusal.header("content-length"), same.body.len().to_string());
    assert_eq!(front.books().await, books([("proxy forwarded", 1), ("route no_route", 2)]));
}

/// RFC 9110 §15.3.5, §15.3.6, §15.4.5, and §8.6 on lengths.
#[tokio::test(flavor = "multi_thread")]
async fn answers_without_content_have_none_and_the_connection_goes_on() {
    let origin = RawOrigin::start(|request| {
        let answer = match request.split(' ').nth(1).unwrap() {
            "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
            "/204-length" => "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
            "/205" => "HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nno",
            "/205-chunked" => {
                "HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n"
            }
            "/304" => "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n",
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        };
        answer.as_bytes().to_vec()
    })
    .await;
    let front = Front::before(origin, &[]).await;
    let mut client = front.connect().await;
    for (path, status) in
        [("204", 204), ("204-length", 204), ("205", 205), ("205-chunked", 205), ("304", 304)]
    {
        let reply = client.ask(format!("GET /api/orders/{path} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        assert_eq!((reply.status, reply.body.as_str()), (status, ""), "{}", reply.head);
        assert!(reply.all("transfer-encoding").is_empty(), "{}", reply.head);
        if status == 204 {
            assert!(reply.all("content-length").is_empty(), "{}", reply.head);
        }
        // What came behind would be taken for this one's answer.
        assert_eq!(client.ask("GET /api/orders HTTP/1.1\r\nHost: a\r\n\r\n").await.body, "ok");
    }
    assert_eq!(front.books().await, books([("proxy forwarded", 10)]));
}

/// RFC 9112 §6.1: a client of HTTP/1.0 does not know chunks.
#[tokio::test(flavor = "multi_thread")]
async fn http_1_0_gets_an_answer_of_unknown_length_up_to_the_close() {
    let origin = RawOrigin::start(|_| {
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".to_vec()
    })
    .await;
    let front = Front::before(origin, &[]).await;
    let reply = front.ask("GET /api/orders HTTP/1.0\r\nHost: a\r\n\r\n").await;
    assert_eq!((reply.body.as_str(), reply.all("transfer-encoding").len()), ("hello", 0), "{}", reply.head);
}
