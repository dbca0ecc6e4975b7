//! RFC 9112 §6 and §11.2: no request passes that two servers could read as two.

use super::{Front, books};

/// Whoever smuggles wants this one to arrive.
const SMUGGLED: &str = "GET /api/orders/smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_body_whose_length_can_be_read_in_two_ways_is_a_bad_request_and_ends_the_connection() {
    let front = Front::start().await;
    let framings = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 05",
        "Content-Length: 0x5",
        "Content-Length: 5 6",
        "Content-Length: 5.0",
        "Content-Length:",
        "Content-Length: 18446744073709551616",
        "Content-Length: 99999999999999999999999999",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"",
    ];
    for framing in framings {
        let mut client = front.connect().await;
        let request = format!("POST /api/orders HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n0\r\n\r\n{SMUGGLED}");
        let reply = client.ask(request).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_request"), "{framing:?}");
        assert_eq!(reply.header("connection"), "close", "{framing:?}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
        assert!(client.is_closed().await, "{framing:?}");
    }
    assert_eq!(front.books().await, books([("route bad_request", framings.len() as u64)]));
    assert_eq!((front.origin.connections(), front.unreadable()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn transfer_encoding_over_http_1_0_is_a_bad_request() {
    let front = Front::start().await;
    let request = "POST /api/orders HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let reply = front.ask(request).await;
    assert_eq!((reply.status, reply.outcome()), (400, "bad_request"));
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_counted_as_unreadable_and_is_not_in_the_books() {
    let front = Front::start().await;
    let texts: [(&[u8], u16); 26] = [
        (b"GET /api/orders HTTP/1.1\nHost: a\n\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\n\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\rHost: a\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nX: b\r\n folded\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nX: b\r\n\tfolded\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"POST /api/orders HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello", 400),
        (b"POST /api/orders HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST /api/orders HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\0ked\r\n\r\n0\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nX\xe9: b\r\n\r\n", 400),
        (b"GET /api/orders HTTP/1.1\r\nHost: a\r\nX: a\x01b\r\n\r\n", 400),
        (b"GET  /api/orders HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /api/orders  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET\t/api/orders HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /api/orders x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GE(T) /api/orders HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /api/orders http/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /api/orders\r\n", 400),
        (b"\x16\x03\x01\x00\xa5\x01", 400),
        (b"GET /api/orders HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        (b"GET /api/orders HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    ];
    for (text, status) in texts {
        let mut client = front.connect().await;
        // The first of these has no end: it is an HTTP/0.9 request, and the rest will not come.
        let text = if text.ends_with(b"/api/orders\r\n") { [text, b"\r\n"].concat() } else { text.to_vec() };
        let reply = client.ask([&text, SMUGGLED.as_bytes()].concat()).await;
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert_eq!((reply.status, reply.header("x-toll-id")), (status, ""), "{shown:?}");
        assert_eq!(reply.header("connection"), "close", "{shown:?}");
        assert!(client.is_closed().await, "{shown:?}");
    }
    assert_eq!((front.books().await, front.unreadable()), (books([]), texts.len() as u64));
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_makes_no_difference_how_a_request_is_cut() {
    let front = Front::start().await;
    let post = "POST /api/orders/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let chunked =
        "POST /api/orders/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let mut client = front.connect().await;
    for size in [1, 3, 11] {
        client.trickle([post, chunked].concat(), size).await;
        assert_eq!((client.reply().await.status, client.reply().await.status), (200, 200), "{size}");
    }
    client.trickle("POST /api/orders HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", 1).await;
    assert_eq!(client.reply().await.outcome(), "bad_request");
    let targets: Vec<String> =
        front.origin.seen().iter().map(|request| request.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(targets, ["/1", "/2", "/1", "/2", "/1", "/2"]);
    assert!(front.origin.seen().iter().all(|request| request.ends_with("\r\n\r\nhello")));
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order_up_to_a_faulty_one() {
    let front = Front::start().await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let faulty = "POST /api/orders/3 HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\n";
    let mut client = front.connect().await;
    client.send([&get("/api/orders/1"), &get("/api/nowhere"), faulty, &get("/api/orders/4")].concat()).await;
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        outcomes.push(client.reply().await.outcome().to_owned());
    }
    assert_eq!(outcomes, ["forwarded", "no_route", "bad_request"]);
    assert!(client.is_closed().await);
    assert!(front.origin.only().starts_with("GET /1 "));
    let expected = books([("proxy forwarded", 1), ("route bad_request", 1), ("route no_route", 1)]);
    assert_eq!(front.books().await, expected);
}

/// RFC 9112 §2.2: an empty line before a request is passed over.
#[tokio::test(flavor = "multi_thread")]
async fn empty_lines_between_requests_are_passed_over() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    for _ in 0..2 {
        assert_eq!(client.ask("\r\nGET /api/orders HTTP/1.1\r\nHost: a\r\n\r\n\r\n").await.status, 200);
    }
    assert_eq!(front.origin.seen().len(), 2);
}
