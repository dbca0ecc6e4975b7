//! Which answers are stored at all (RFC 9111 §3).

use http::Method;

use super::origin::{answer, cached, date};
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn any_final_status_with_a_lifetime_is_stored_rfc_9111_3() {
    let world = World::new().await;
    for status in
        [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 418, 451, 499, 500, 502, 503, 504, 599]
    {
        let body = if status == 204 { "" } else { "body" };
        let target = format!("/{status}");
        let reply = world.twice(&target, [answer(status, &[("cache-control", "max-age=60")], body)]).await;
        assert_eq!((reply.status, reply.outcome()), (status, "cache_hit"));
        assert_eq!(reply.body, body);
        let stale = [("cache-control", "max-age=10"), ("age", "20")];
        let reply = world.twice(&format!("{target}/stale"), [answer(status, &stale, body)]).await;
        assert_eq!(reply.outcome(), "forwarded", "{status}");
    }
    let reply = world.get("/204").await;
    assert_eq!(reply.header("content-length"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_is_not_stored_rfc_9111_3_3() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60"), ("content-range", "bytes 4-7/8")];
    world.origin.at("/a", [answer(206, &headers, "part"), cached("max-age=60", "thewhole")]);
    let reply = world.get_with("/a", &[("range", "bytes=-4")]).await;
    assert_eq!((reply.status, reply.outcome(), &reply.body[..]), (206, "forwarded", &b"part"[..]));
    assert_eq!(world.origin.last("/a").header("range"), "bytes=-4");
    let reply = world.get("/a").await;
    assert_eq!((reply.status, &reply.body[..]), (200, &b"thewhole"[..]));
    assert_eq!(world.twice("/b", [answer(206, &headers, "part")]).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interim_answer_is_not_the_answer_rfc_9110_15_2() {
    let world = World::new().await;
    let early =
        "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\ncache-control: max-age=60\r\n\r\n";
    let last = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 4\r\n\r\nbody";
    let reply = world.twice("/a", [super::origin::Answer::written(&format!("{early}{last}"))]).await;
    assert_eq!((reply.status, reply.outcome(), reply.header("link")), (200, "cache_hit", ""));
    assert_eq!(reply.body, "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_get_has_fetched_is_stored_rfc_9111_3() {
    let world = World::new().await;
    let located = [("cache-control", "max-age=60"), ("content-location", "/a")];
    for method in [Method::POST, Method::PUT, Method::OPTIONS, Method::HEAD] {
        world.origin.at("/a", [answer(200, &located, "made"), cached("no-store", "got")]);
        world.ask(method.clone(), "/a", &[]).await;
        assert_eq!(world.get("/a").await.body, "got", "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_stream_is_not_stored() {
    let world = World::new().await;
    let stream = [("cache-control", "max-age=60"), ("content-type", "Text/Event-Stream; charset=utf-8")];
    assert_eq!(world.twice("/a", [answer(200, &stream, "data: 1\n\n")]).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_query_is_a_question_of_its_own_and_the_order_of_names_is_none() {
    let world = World::new().await;
    for target in ["/q", "/q?", "/q?a=1", "/q?a=1&b=2", "/q?b=2&a=1", "/q?a=1&a=2", "/q?a=2&a=1"] {
        world.origin.at(target, [cached("max-age=60", target)]);
    }
    for (target, outcome) in [
        ("/q", "forwarded"),
        ("/q?", "forwarded"),
        ("/q?a=1", "forwarded"),
        ("/q?a=1&b=2", "forwarded"),
        ("/q?b=2&a=1", "cache_hit"),
        ("/q?a=1&a=2", "forwarded"),
        ("/q?a=2&a=1", "forwarded"),
        ("/q?a=1", "cache_hit"),
    ] {
        assert_eq!(world.get(target).await.outcome(), outcome, "{target}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_route_forgets_what_it_has_stored() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=600", "body")]);
    assert_eq!(world.twice("/a", [cached("max-age=600", "body")]).await.outcome(), "cache_hit");
    let changed = super::world::catalog(&world.origin, "cache_ttl = \"1s\"");
    crate::support::catalog::declare(&world.toll.db.pool, &changed).await;
    world.toll.settled().await;
    assert_eq!(world.get("/a").await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_future_expiry_and_an_attachment_is_stored_like_any_other() {
    let world = World::new().await;
    let later = date(600);
    let headers = [("expires", later.as_str()), ("content-disposition", "attachment; filename=a.txt")];
    assert_eq!(world.twice("/a", [answer(200, &headers, "body")]).await.outcome(), "cache_hit");
}
