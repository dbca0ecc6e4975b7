//! What is asked for: the path and query that arrive upstream, and those that do not.

use super::{Front, books};

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: toll.example\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn path_and_query_arrive_byte_for_byte() {
    let front = Front::start().await;
    let mut client = front.connect().await;
    let mut expected = Vec::new();
    for rest in [
        "/a%2Fb/c%2f",
        "//a///b/",
        "/a+b%20c",
        "/it's/{id}/(x)/!$&,;=:@~*",
        "/x?a&b=&c==3&&d",
        "/x?",
        "/x??a/b=%27'%25",
        "/x?q={1}|[2]^`\\",
        "/%E2%82%AC?%C3%A9",
        "/a%",
        "/...",
        "",
        "?only=query",
        "/",
    ] {
        assert_eq!(client.ask(get(&format!("/api/orders{rest}"))).await.status, 200, "{rest}");
        assert_eq!(client.ask(get(&format!("/api/whole{rest}"))).await.status, 200, "{rest}");
        expected.push(if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") });
        expected.push(format!("/whole{rest}"));
    }
    let seen = front.origin.seen();
    let targets: Vec<&str> = seen.iter().map(|request| request.split(' ').nth(1).unwrap()).collect();
    assert_eq!(targets, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn control_and_non_ascii_bytes_and_dot_segments_are_bad_paths() {
    let front = Front::start().await;
    let targets: [&[u8]; 12] = [
        "/api/orders/caf\u{e9}".as_bytes(),
        "/api/orders?q=caf\u{e9}".as_bytes(),
        b"/api/orders/\xff\xfe",
        b"/api/orders/a\x01b",
        b"/api/orders/a\x7fb",
        b"/api/orders/a\x00b",
        b"/api/orders/../x",
        b"/api/orders/%2e%2E/x",
        b"/api/orders/a\\b",
        b"/api/orders/a%00",
        b"/api/orders?q=\"a\"",
        b"/api/orders/<a>",
    ];
    for target in targets {
        let reply = front.ask([b"GET ", target, b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat()).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_path"), "{target:?}");
    }
    assert_eq!(front.books().await, books([("route bad_path", 12)]));
    assert_eq!((front.origin.connections(), front.unreadable()), (0, 0));
}

/// RFC 9112 §3.2.2.
#[tokio::test(flavor = "multi_thread")]
async fn an_absolute_target_is_taken_and_its_host_goes_before_the_header() {
    let front = Front::start().await;
    let reply = front.ask("GET http://shop.example/api/orders/7?a=b HTTP/1.1\r\nHost: other\r\n\r\n").await;
    assert_eq!(reply.status, 200);
    assert!(front.origin.only().starts_with("GET /7?a=b HTTP/1.1\r\n"), "{}", front.origin.only());
    assert_eq!(front.origin.header("x-forwarded-host"), ["shop.example"]);
    for target in
        ["http://me@shop.example/api/orders", "http:///api/orders", "ftp://a/api/orders", "api/orders"]
    {
        let reply = front.ask(get(target)).await;
        assert_eq!(reply.status, 400, "{target}");
    }
    assert_eq!(front.origin.seen().len(), 1);
}

/// RFC 9110 §9.3.7.
#[tokio::test(flavor = "multi_thread")]
async fn the_star_is_for_options_only() {
    let front = Front::start().await;
    let reply = front.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((reply.status, reply.body.as_str()), (204, ""));
    assert!(reply.header("allow").contains("OPTIONS"));
    let reply = front.ask("GET * HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((reply.status, reply.outcome()), (400, "bad_request"));
    assert_eq!(front.books().await, books([("route bad_request", 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn connect_is_refused_and_ends_the_connection() {
    let front = Front::start().await;
    for target in ["inside.example:443", "/api/orders"] {
        let mut client = front.connect().await;
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\nGET / HTTP/1.1\r\n");
        let reply = client.ask(request).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_request"));
        assert!(client.is_closed().await);
    }
    assert_eq!(front.books().await, books([("route bad_request", 2)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fragment_is_refused_and_never_forwarded() {
    let front = Front::start().await;
    for target in ["/api/orders/x#top", "/api/orders?x#top"] {
        let reply = front.ask(get(target)).await;
        assert_eq!((reply.status, reply.outcome()), (400, "bad_request"));
    }
    assert_eq!(front.origin.seen(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn any_method_passes_where_none_is_listed_except_trace() {
    let front = Front::start().await;
    for (method, status) in [("PROPFIND", 200), ("get", 200), ("TRACE", 405), ("OPTIONS", 200)] {
        let reply = front.ask(format!("{method} /api/orders HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        assert_eq!(reply.status, status, "{method}");
    }
    let reply = front.ask("DELETE /api/listed HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((reply.status, reply.header("allow")), (405, "GET, HEAD"));
    let first = |request: &String| request.split(' ').next().unwrap().to_owned();
    assert_eq!(front.origin.seen().iter().map(first).collect::<Vec<_>>(), ["PROPFIND", "get", "OPTIONS"]);
}

/// RFC 9110 §7.6.2.
#[tokio::test(flavor = "multi_thread")]
async fn max_forwards_is_counted_down_and_not_forwarded_at_zero() {
    let front = Front::start().await;
    let options = |left| format!("OPTIONS /api/orders HTTP/1.1\r\nHost: a\r\nMax-Forwards: {left}\r\n\r\n");
    assert_eq!(front.ask(options(0)).await.status, 405);
    assert_eq!(front.ask(options(3)).await.status, 200);
    assert_eq!(front.origin.header("max-forwards"), ["2"]);
}
