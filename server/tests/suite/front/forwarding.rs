//! What the gateway says of itself and of its client: `Via`, `X-Forwarded-*`, `Forwarded`, and what it leaves out.

use super::Front;
use super::raw::RawOrigin;

const CLAIMS: &str = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Host: shop.example\r\nX-Forwarded-Proto: https\r\n\
                      Forwarded: for=203.0.113.9\r\nX-Real-IP: 6.6.6.6\r\n";

async fn ask_with(front: &Front, headers: &str) -> u16 {
    front.ask(format!("GET /api/orders HTTP/1.1\r\nHost: toll.example\r\n{headers}\r\n")).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_claims_about_its_origin_are_replaced() {
    let front = Front::start().await;
    assert_eq!(ask_with(&front, CLAIMS).await, 200);
    assert_eq!(front.origin.header("x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(front.origin.header("x-forwarded-host"), ["toll.example"]);
    assert_eq!(front.origin.header("x-forwarded-proto"), ["http"]);
    assert!(front.origin.header("forwarded").is_empty() && front.origin.header("x-real-ip").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxys_claims_are_kept_and_continued() {
    let front = Front::before(RawOrigin::ok().await, &[("trusted_proxies", "127.0.0.0/8")]).await;
    assert_eq!(ask_with(&front, CLAIMS).await, 200);
    assert_eq!(front.origin.header("x-forwarded-for"), ["203.0.113.9, 127.0.0.1"]);
    assert_eq!(front.origin.header("x-forwarded-host"), ["shop.example"]);
    assert_eq!(front.origin.header("x-forwarded-proto"), ["https"]);
    assert_eq!(front.origin.header("forwarded"), ["for=203.0.113.9", "for=127.0.0.1;proto=http"]);
    assert_eq!(front.origin.header("x-real-ip"), ["6.6.6.6"]);
}

/// RFC 9110 §7.6.3.
#[tokio::test(flavor = "multi_thread")]
async fn via_is_appended_both_ways_and_a_loop_is_broken() {
    let origin =
        RawOrigin::start(|_| b"HTTP/1.1 200 OK\r\nVia: 1.1 inner\r\nContent-Length: 0\r\n\r\n".to_vec())
            .await;
    let front = Front::before(origin, &[]).await;
    let reply = front.ask("GET /api/orders HTTP/1.1\r\nHost: a\r\nVia: 1.0 outer\r\n\r\n").await;
    assert_eq!(reply.all("via"), ["1.1 inner", "1.1 toll"]);
    assert_eq!(front.origin.header("via"), ["1.0 outer", "1.1 toll"]);
    let reply = front.ask("GET /api/orders HTTP/1.1\r\nHost: a\r\nVia: 1.1 toll, 1.1 x\r\n\r\n").await;
    assert_eq!((reply.status, reply.outcome()), (508, "loop_detected"));
    assert_eq!(front.origin.seen().len(), 1);
}

/// RFC 9110 §7.6.1.
#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_the_clients_connection_goes_no_further() {
    let front = Front::start().await;
    let headers = "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: close\r\n\
                   TE: trailers\r\nProxy-Authorization: Basic eDp5\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA\r\n\
                   X-Other: kept\r\n";
    assert_eq!(ask_with(&front, headers).await, 200);
    // Toll's own word to the upstream: trailers are welcome, on this connection (RFC 9110 §10.1.4).
    assert_eq!(
        (front.origin.header("te"), front.origin.header("connection")),
        (vec!["trailers".to_owned()], vec!["te".to_owned()])
    );
    for gone in
        ["x-mine", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade", "http2-settings"]
    {
        assert!(front.origin.header(gone).is_empty(), "{gone}: {}", front.origin.only());
    }
    assert_eq!(front.origin.header("x-other"), ["kept"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_are_the_gateways_own_cannot_be_forged_under_any_spelling() {
    let front = Front::start().await;
    let headers = "X-Toll-Partner: me\r\nX_Toll_Partner: me\r\nX_Forwarded_For: 6.6.6.6\r\nContent_Length: 9\r\n\
                   X-Service-Token: mine\r\nX_Service_Token: mine\r\nx_kept: 1\r\n";
    assert_eq!(ask_with(&front, headers).await, 200);
    for gone in ["x-toll-partner", "x_toll_partner", "x_forwarded_for", "content_length", "x_service_token"] {
        assert!(front.origin.header(gone).is_empty(), "{gone}: {}", front.origin.only());
    }
    assert_eq!(front.origin.header("x-service-token"), ["s"]);
    assert_eq!(front.origin.header("x_kept"), ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn end_to_end_headers_arrive_unchanged_and_in_their_number() {
    let front = Front::start().await;
    let headers = "Accept-Encoding: br;q=0.5 , gzip\r\nX-A: 1\r\nX-A: 2\r\nX-Latin: caf\u{e9}\r\nX-Empty:\r\n\
                   Range: bytes=0-1\r\nCookie: a=\"b c\"\r\nAuthorization: Basic eDp5\r\n";
    assert_eq!(ask_with(&front, headers).await, 200);
    assert_eq!(front.origin.header("accept-encoding"), ["br;q=0.5 , gzip"]);
    assert_eq!(front.origin.header("x-a"), ["1", "2"]);
    assert_eq!(front.origin.header("x-latin"), ["caf\u{e9}"]);
    assert_eq!(front.origin.header("x-empty"), [""]);
    assert_eq!(front.origin.header("cookie"), ["a=\"b c\""]);
    assert_eq!(front.origin.header("authorization"), ["Basic eDp5"]);
}
