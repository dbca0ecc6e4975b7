//! Which fields go up, which come down, and which never do.

use axum::body::Body;
use axum::http::Response;
use http::HeaderMap;

use super::raw::{Scripted, header};
use super::{Bench, PATIENT, PLAIN};
use crate::support::origin::Origin;

/// What the upstream saw of one request with these lines.
async fn seen(upstream: &str, route: &str, lines: &str) -> HeaderMap {
    let origin = Origin::ok().await;
    let bench = Bench::new(&[origin.url()], upstream, route).await;
    assert_eq!(bench.get_with("/api/x", lines).await.status(), 200);
    origin.seen().remove(0).headers
}

fn all<'h>(headers: &'h HeaderMap, name: &str) -> Vec<&'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_learns_who_asks_only_on_a_route_with_identity() {
    let forged = "X-Toll-Partner: forged\r\nX-Toll-Key-Id: 99\r\nX-Toll-Anything: forged\r\n";
    let headers = seen(PATIENT, "identity = true", forged).await;
    assert_eq!(all(&headers, "x-toll-partner"), ["acme"]);
    assert_eq!(all(&headers, "x-toll-key-id").len(), 1);
    assert_ne!(all(&headers, "x-toll-key-id"), ["99"]);
    assert!(!headers.contains_key("x-toll-anything"));
    let headers = seen(PATIENT, "identity = false", forged).await;
    assert!(headers.keys().all(|name| !name.as_str().starts_with("x-toll-")), "{headers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_never_goes_upstream_and_another_authorization_does() {
    let headers = seen(PATIENT, PLAIN, "Authorization: Basic YTpi\r\n").await;
    assert!(!headers.contains_key("x-api-key"));
    assert_eq!(all(&headers, "authorization"), ["Basic YTpi"]);
    let origin = Origin::ok().await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    let key = &bench.key;
    client.say(format!("GET /api/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n")).await;
    assert_eq!(client.answer().await.status(), 200);
    assert!(!origin.seen()[0].headers.contains_key("authorization"));
}

/// `PATH` stands for a secret: it is set wherever tests run.
#[tokio::test(flavor = "multi_thread")]
async fn headers_of_the_upstream_come_from_the_environment_and_replace_the_clients() {
    let upstream = "headers = { \"X-Service-Token\" = \"v1 ${PATH}\" }";
    let headers = seen(upstream, PLAIN, "X-Service-Token: forged\r\n").await;
    assert_eq!(all(&headers, "x-service-token"), [format!("v1 {}", std::env::var("PATH").unwrap())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_the_environment_is_neither_kept_nor_shown() {
    let origin = Origin::ok().await;
    let upstream = "headers = { \"X-Service-Token\" = \"${PATH}\" }";
    let bench = Bench::new(&[origin.url()], upstream, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!(answer.status(), 200);
    let secret = std::env::var("PATH").unwrap();
    assert!(!answer.head.contains(&secret) && answer.header("x-service-token").is_none());
    let exported = toll::manifest::export::export(&bench.toll.db.pool).await.unwrap();
    assert!(exported.contains("${PATH}") && !exported.contains(&secret));
    let catalog = format!("{:?}", bench.toll.node.gateway.catalog.now().upstreams);
    assert!(catalog.contains("x-service-token") && !catalog.contains(&secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_cookie_never_goes_upstream_and_no_upstream_can_set_it() {
    let origin = Origin::with(
        &[
            ("set-cookie", "toll_session=forged; Path=/"),
            ("set-cookie", "__Host-toll_session=forged; Path=/; Secure"),
            ("set-cookie", "basket=7"),
        ],
        "ok",
    )
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let lines = "Cookie: basket=7; toll_session=secret; lang=de\r\nCookie: __Host-toll_session=secret\r\n";
    let answer = bench.get_with("/api/x", lines).await;
    assert_eq!(all(&origin.seen()[0].headers, "cookie"), ["basket=7; lang=de"]);
    let set: Vec<_> =
        answer.head.lines().filter(|line| line.to_lowercase().starts_with("set-cookie")).collect();
    assert_eq!(set, ["set-cookie: basket=7"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_upstream_says_in_tolls_name_is_removed() {
    let origin = Origin::with(
        &[
            ("x-toll-outcome", "cache_hit"),
            ("x-toll-id", "forged"),
            ("x-toll-metered", "local"),
            ("x-own", "1"),
        ],
        "ok",
    )
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.outcome(), answer.header("x-own")), ("forwarded", Some("1")));
    assert_eq!(answer.head.matches("x-toll-outcome").count(), 1);
    assert!(!answer.head.contains("forged") && answer.header("x-toll-metered").is_none());
}

/// RFC 9110 §7.6.1
#[tokio::test(flavor = "multi_thread")]
async fn hop_by_hop_fields_and_those_that_connection_names_go_in_neither_direction() {
    let lines = "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n\
                 Proxy-Authorization: Basic YTpi\r\nTE: gzip\r\nX-Ours: 2\r\n";
    let headers = seen(PATIENT, PLAIN, lines).await;
    for name in ["connection", "x-mine", "keep-alive", "proxy-connection", "proxy-authorization", "te"] {
        assert!(!headers.contains_key(name), "{name} went up");
    }
    assert_eq!(all(&headers, "x-ours"), ["2"]);

    let origin = Scripted::says(
        b"HTTP/1.1 200 OK\r\nConnection: X-Mine, close\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\n\
          Upgrade: h2c\r\nTE: trailers\r\nX-Ours: 2\r\nContent-Length: 2\r\n\r\nok",
    )
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let mut client = bench.client().await;
    for _ in 0..2 {
        client.get("/api/x", &bench.key, "").await;
        let answer = client.answer().await;
        for name in ["connection", "x-mine", "keep-alive", "proxy-authenticate", "upgrade", "te"] {
            assert_eq!(answer.header(name), None, "{name} came down");
        }
        // That the upstream closes is between it and Toll: the client's connection goes on.
        assert_eq!((answer.header("x-ours"), answer.text()), (Some("2"), "ok"));
    }
}

/// RFC 9110 §7.2
#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_the_upstreams_as_configured() {
    let origin = Origin::ok().await;
    let url = format!("http://localhost:{}", origin.address.port());
    let bench = Bench::new(&[url], PATIENT, PLAIN).await;
    bench.get("/api/x").await;
    let headers = &origin.seen()[0].headers;
    assert_eq!(all(headers, "host"), [format!("localhost:{}", origin.address.port())]);
    assert_eq!(all(headers, "x-forwarded-host"), ["toll"]);
}

/// RFC 9110 §8.4: a coding is between the ends.
#[tokio::test(flavor = "multi_thread")]
async fn content_encoding_passes_untouched() {
    let origin = Origin::start(|seen| async move {
        let accepts = seen.headers.get("accept-encoding").unwrap().clone();
        Response::builder()
            .header("content-encoding", "gzip, br")
            .header("x-accepts", accepts)
            .body(Body::from(&b"\x1f\x8b no gzip at all \xff\x00"[..]))
            .unwrap()
    })
    .await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get_with("/api/x", "Accept-Encoding: br;q=0.5, gzip\r\n").await;
    assert_eq!(answer.header("content-encoding"), Some("gzip, br"));
    assert_eq!(header(&answer.head, "x-accepts"), Some("br;q=0.5, gzip"));
    assert_eq!(answer.body, b"\x1f\x8b no gzip at all \xff\x00");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_and_a_reason_that_nobody_knows_pass() {
    let origin = Scripted::says(b"HTTP/1.1 299 Quite Fine\r\nContent-Length: 2\r\n\r\nok").await;
    let bench = Bench::new(&[origin.url()], PATIENT, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert!(answer.head.starts_with("HTTP/1.1 299 Quite Fine\r\n"), "{}", answer.head);
    assert_eq!((answer.outcome(), answer.text()), ("forwarded", "ok"));
}
