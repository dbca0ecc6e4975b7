//! The Fetch standard's CORS protocol, on routes with `cors`.

use super::raw::{RawOrigin, RawReply};
use super::{Front, books};

const OURS: &str = "https://shop.example";

async fn preflight(front: &Front, path: &str, origin: &str) -> RawReply {
    let request = format!(
        "OPTIONS {path} HTTP/1.1\r\nHost: a\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: PUT\r\n\
         Access-Control-Request-Headers: x-api-key, content-type\r\n\r\n"
    );
    front.ask(request).await
}

async fn get(front: &Front, path: &str, origin: &str) -> RawReply {
    front.ask(format!("GET {path} HTTP/1.1\r\nHost: a\r\nOrigin: {origin}\r\n\r\n")).await
}

fn exposes(reply: &RawReply, name: &str) -> bool {
    let exposed = reply.all("access-control-expose-headers");
    exposed.iter().flat_map(|value| value.split(',')).any(|other| other.trim().eq_ignore_ascii_case(name))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preflight_is_answered_by_the_route_stage_without_a_key_or_an_upstream() {
    let front = Front::start().await;
    for path in ["/api/shop", "/api/keyed/deep"] {
        let reply = preflight(&front, path, OURS).await;
        assert_eq!(
            (reply.status, reply.outcome(), reply.header("x-toll-stage")),
            (204, "preflight", "route")
        );
        assert_eq!(reply.header("access-control-allow-origin"), OURS);
        assert!(reply.header("access-control-allow-methods").contains("PUT"));
        assert_eq!(reply.header("access-control-allow-headers"), "x-api-key, content-type");
        assert_eq!((reply.header("vary"), reply.body.as_str()), ("Origin", ""));
    }
    assert_eq!(front.books().await, books([("route preflight", 2)]));
    assert_eq!(front.origin.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_origin_is_allowed_nothing() {
    let front = Front::start().await;
    for foreign in ["https://evil.example", "https://shop.example.evil", "http://shop.example", "null", "*"] {
        let reply = preflight(&front, "/api/shop", foreign).await;
        assert_eq!(reply.status, 204);
        assert!(!reply.head.to_ascii_lowercase().contains("access-control-allow"), "{}", reply.head);
        let reply = get(&front, "/api/shop", foreign).await;
        assert!(!reply.head.to_ascii_lowercase().contains("access-control-allow"), "{}", reply.head);
        assert_eq!(reply.header("vary"), "Origin");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_refusals_can_be_read_by_pages_of_an_allowed_origin() {
    let front = Front::start().await;
    let served = get(&front, "/api/shop", OURS).await;
    let refused = get(&front, "/api/keyed", OURS).await;
    assert_eq!((served.outcome(), refused.outcome()), ("forwarded", "key_missing"));
    for reply in [served, refused] {
        assert_eq!((reply.header("access-control-allow-origin"), reply.header("vary")), (OURS, "Origin"));
        for name in ["X-Toll-Outcome", "X-Toll-Id", "X-RateLimit-Remaining", "RateLimit", "Retry-After"] {
            assert!(exposes(&reply, name), "{name}: {}", reply.head);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_such_a_route_the_upstream_allows_nobody_but_may_expose_its_own_headers() {
    let origin = RawOrigin::start(|_| {
        b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\n\
          Access-Control-Expose-Headers: X-Total\r\nContent-Length: 0\r\n\r\n"
            .to_vec()
    })
    .await;
    let front = Front::before(origin, &[]).await;
    let reply = get(&front, "/api/shop", OURS).await;
    assert_eq!(reply.header("access-control-allow-origin"), OURS);
    assert!(exposes(&reply, "X-Total") && exposes(&reply, "X-Toll-Id"));
    let reply = get(&front, "/api/shop", "https://evil.example").await;
    assert!(!reply.head.to_ascii_lowercase().contains("access-control"), "{}", reply.head);
    let reply = get(&front, "/api/orders", "https://evil.example").await;
    assert_eq!(
        reply.header("access-control-allow-origin"),
        "*",
        "another route's upstream speaks for itself"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_is_no_preflight_goes_to_the_upstream() {
    let front = Front::start().await;
    let reply = front.ask(format!("OPTIONS /api/shop HTTP/1.1\r\nHost: a\r\nOrigin: {OURS}\r\n\r\n")).await;
    assert_eq!(reply.outcome(), "forwarded");
    let reply = preflight(&front, "/api/orders", OURS).await;
    assert_eq!(reply.outcome(), "forwarded", "no cors, no preflight");
    assert_eq!(front.origin.seen().len(), 2);
}
