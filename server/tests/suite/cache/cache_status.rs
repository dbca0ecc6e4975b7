//! `Cache-Status` (RFC 9211).

use http::Method;

use super::origin::{answer, cached};
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_says_what_the_cache_did_rfc_9211_2() {
    let world = World::new().await;
    let aged = [("cache-control", "max-age=600"), ("age", "100"), ("etag", "\"1\""), ("vary", "foo")];
    let good = answer(304, &[("cache-control", "max-age=60")], "");
    world.origin.at("/a", [answer(200, &aged, "body"), good, answer(204, &[], "")]);
    let told = |reply: &crate::support::client::Reply| {
        // Seconds pass while the test runs.
        let status = reply.header("cache-status").to_owned();
        let (status, ttl) =
            status.split_once("; ttl=").map_or((status.as_str(), None), |(s, ttl)| (s, Some(ttl)));
        (status.to_owned(), ttl.map(|ttl| ttl.parse::<i64>().unwrap()))
    };
    let (status, ttl) = told(&world.get("/a").await);
    assert_eq!(status, "toll; fwd=uri-miss; fwd-status=200; stored");
    assert!((480..=500).contains(&ttl.unwrap()));
    let (status, ttl) = told(&world.get("/a").await);
    assert_eq!(status, "toll; hit");
    assert!((480..=500).contains(&ttl.unwrap()));
    let (status, ttl) = told(&world.get_with("/a", &[("cache-control", "no-cache")]).await);
    assert_eq!(status, "toll; fwd=request; fwd-status=304; stored");
    assert!((40..=60).contains(&ttl.unwrap()));
    let reply = world.get_with("/a", &[("cache-control", "only-if-cached"), ("foo", "1")]).await;
    assert_eq!(reply.header("cache-status"), "toll; detail=only-if-cached");
    let reply = world.ask(Method::POST, "/a", &[]).await;
    assert_eq!(reply.header("cache-status"), "toll; fwd=method; fwd-status=204");
    let stale = [("cache-control", "max-age=10"), ("age", "20")];
    let reply = world.twice("/b", [answer(200, &stale, "body")]).await;
    assert_eq!(told(&reply).0, "toll; fwd=stale; fwd-status=200; stored");
    let (status, ttl) = told(&world.get_with("/b", &[("cache-control", "max-stale")]).await);
    assert_eq!(status, "toll; hit");
    assert!(ttl.unwrap() < 0);
    world.origin.at("/c", [cached("no-store", "body")]);
    let reply = world.get_with("/c", &[("cache-control", "no-store")]).await;
    assert_eq!(reply.header("cache-status"), "toll; fwd=bypass; fwd-status=200");
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_nearer_to_the_origin_stand_first_rfc_9211_2() {
    let world = World::new().await;
    let before = [("cache-control", "max-age=60"), ("cache-status", "inner; hit")];
    let reply = world.twice("/a", [answer(200, &before, "body")]).await;
    let all: Vec<_> = reply.headers.get_all("cache-status").iter().map(|v| v.to_str().unwrap()).collect();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0], "inner; hit");
    assert!(all[1].starts_with("toll; hit"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_without_a_cache_says_nothing_and_stores_nothing() {
    let world = World::new().await;
    let more = "[[route]]\nname = \"plain\"\npath = \"/plain\"\nupstream = \"origin\"";
    let file = super::world::catalog(&world.origin, more);
    crate::support::catalog::declare(&world.toll.db.pool, &file).await;
    world.toll.settled().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    let url = world.toll.url("/api/plain/a");
    for _ in 0..2 {
        let reply = crate::support::client::get(&world.client, &url, &world.key).await;
        assert_eq!((reply.outcome(), reply.header("cache-status")), ("forwarded", ""));
    }
}
