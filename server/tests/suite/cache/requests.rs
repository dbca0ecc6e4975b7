//! What requests ask of a cache (RFC 9111 §5.2.1, §5.4).

use super::origin::{answer, cached};
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_want_a_newer_answer_than_the_stored_rfc_9111_5_2_1() {
    let world = World::new().await;
    let aged = [("cache-control", "max-age=600"), ("age", "100")];
    for (n, (wish, outcome)) in [
        ("no-cache", "forwarded"),
        ("max-age=0", "forwarded"),
        ("max-age=50", "forwarded"),
        ("max-age=300", "cache_hit"),
        ("min-fresh=550", "forwarded"),
        ("min-fresh=300", "cache_hit"),
        ("no-store", "forwarded"),
        ("foobar", "cache_hit"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("/{n}");
        world.origin.at(&target, [answer(200, &aged, "body")]);
        world.get(&target).await;
        let reply = world.get_with(&target, &[("cache-control", wish)]).await;
        assert_eq!(reply.outcome(), outcome, "{wish}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cache_asks_about_what_is_stored_rfc_9111_5_2_1_4() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60"), ("etag", "\"1\"")];
    world.origin.at("/a", [answer(200, &headers, "body"), answer(304, &headers, "")]);
    world.get("/a").await;
    for wish in [("cache-control", "no-cache"), ("pragma", "no-cache")] {
        let reply = world.get_with("/a", &[wish]).await;
        assert_eq!((reply.status, reply.outcome(), &reply.body[..]), (200, "revalidated", &b"body"[..]));
        assert_eq!(world.origin.last("/a").header("if-none-match"), "\"1\"");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pragma_counts_only_without_cache_control_rfc_9111_5_4() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    let both = [("pragma", "no-cache"), ("cache-control", "max-age=300")];
    assert_eq!(world.get_with("/a", &both).await.outcome(), "cache_hit");
    assert_eq!(world.get_with("/a", &[("pragma", "foobar")]).await.outcome(), "cache_hit");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_if_cached_never_reaches_the_upstream_rfc_9111_5_2_1_7() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    let wish = [("cache-control", "only-if-cached")];
    let reply = world.get_with("/a", &wish).await;
    assert_eq!((reply.status, reply.stage(), reply.outcome()), (504, "cache", "cache_only"));
    assert_eq!(reply.json()["outcome"], "cache_only");
    world.get("/a").await;
    assert_eq!(world.get_with("/a", &wish).await.outcome(), "cache_hit");
    let insists = [("cache-control", "only-if-cached, no-cache")];
    assert_eq!(world.get_with("/a", &insists).await.outcome(), "cache_only");
    assert_eq!(world.origin.seen().len(), 1);
    let funnel = world.books(4).await;
    let cache = funnel.stages.iter().find(|stage| stage.stage.name() == "cache").unwrap();
    assert_eq!((cache.stopped, cache.passed), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn max_stale_takes_stale_answers_that_the_origin_does_not_forbid_rfc_9111_5_2_1_2() {
    let world = World::new().await;
    for (n, (control, wish, outcome)) in [
        ("max-age=100", "max-stale", "cache_stale"),
        ("max-age=100", "max-stale=60", "cache_stale"),
        ("max-age=100", "max-stale=20", "forwarded"),
        ("max-age=100, must-revalidate", "max-stale", "forwarded"),
        ("max-age=100, proxy-revalidate", "max-stale", "forwarded"),
        ("s-maxage=100", "max-stale", "forwarded"),
        ("max-age=100, no-cache", "max-stale", "forwarded"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("/{n}");
        world.origin.at(&target, [answer(200, &[("cache-control", control), ("age", "150")], "body")]);
        world.get(&target).await;
        let reply = world.get_with(&target, &[("cache-control", wish)]).await;
        assert_eq!(reply.outcome(), outcome, "{control} {wish}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_says_is_not_to_be_stored_is_not_rfc_9111_5_2_1_5() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get_with("/a", &[("cache-control", "no-store")]).await;
    assert_eq!(world.get("/a").await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_does_not_ask_about_an_immutable_answer_rfc_8246() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60, immutable"), ("etag", "\"1\"")];
    world.origin.at("/a", [answer(200, &headers, "body"), answer(304, &headers, "")]);
    world.get("/a").await;
    let reload = [("cache-control", "max-age=0")];
    assert_eq!(world.get_with("/a", &reload).await.outcome(), "cache_hit");
    let stale = [("cache-control", "max-age=60, immutable"), ("etag", "\"1\""), ("age", "70")];
    world.origin.at("/b", [answer(200, &stale, "body"), answer(304, &headers, "")]);
    world.get("/b").await;
    assert_eq!(world.get_with("/b", &reload).await.outcome(), "revalidated");
}
