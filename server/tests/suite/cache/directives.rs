//! What responses allow (RFC 9111 §5.2.2).

use super::origin::{answer, cached};
use super::world::World;

const TAG: (&str, &str) = ("etag", "\"1\"");

#[tokio::test(flavor = "multi_thread")]
async fn private_and_no_store_are_never_given_to_another_rfc_9111_5_2_2() {
    let world = World::with("cache_ttl = \"60s\"").await;
    for (n, control) in
        ["private, max-age=60", "no-store, max-age=60", "No-StOrE", "PRIVATE", "max-age=60, no-store"]
            .into_iter()
            .enumerate()
    {
        let target = format!("/{n}");
        let headers = [("cache-control", control), TAG];
        let reply = world.twice(&target, [answer(200, &headers, "mine")]).await;
        assert_eq!((reply.outcome(), world.origin.asked(&target)), ("forwarded", 2), "{control}");
        assert_eq!(world.origin.last(&target).header("if-none-match"), "", "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cache_is_stored_and_asked_about_each_time_rfc_9111_5_2_2_4() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60, No-Cache"), TAG];
    world.origin.at("/a", [answer(200, &headers, "body"), answer(304, &headers, "")]);
    world.get("/a").await;
    for _ in 0..2 {
        let reply = world.get("/a").await;
        assert_eq!((reply.outcome(), &reply.body[..]), ("revalidated", &b"body"[..]));
    }
    assert_eq!(world.origin.asked("/a"), 3);
    let reply = world.twice("/b", [cached("max-age=60, no-cache", "body")]).await;
    assert_eq!(reply.outcome(), "forwarded", "without a validator there is nothing to ask about");
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_no_cache_or_private_name_are_left_out_rfc_9111_5_2_2_4() {
    let world = World::new().await;
    for (n, control) in [
        "max-age=60, no-cache=\"a, b\"",
        "max-age=60, private=\"A, B\"",
        "private=a, max-age=60, no-cache=\"b\"",
    ]
    .into_iter()
    .enumerate()
    {
        let headers = [("cache-control", control), ("a", "1"), ("b", "2"), ("c", "3")];
        let reply = world.twice(&format!("/{n}"), [answer(200, &headers, "body")]).await;
        assert_eq!(reply.outcome(), "cache_hit", "{control}");
        assert_eq!((reply.header("a"), reply.header("b"), reply.header("c")), ("", "", "3"), "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_understands_the_status_stores_must_understand_rfc_9111_5_2_2_3() {
    let world = World::new().await;
    let control = "must-understand, no-store, max-age=60";
    let reply = world.twice("/known", [cached(control, "body")]).await;
    assert_eq!(reply.outcome(), "cache_hit");
    let reply = world.twice("/unknown", [answer(299, &[("cache-control", control)], "body")]).await;
    assert_eq!(reply.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_answer_that_must_be_revalidated_later_is_given_now_rfc_9111_5_2_2_2() {
    let world = World::new().await;
    for (n, control) in
        ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate"].into_iter().enumerate()
    {
        let reply = world.twice(&format!("/{n}"), [cached(control, "body")]).await;
        assert_eq!(reply.outcome(), "cache_hit", "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_answer_that_may_not_be_kept_takes_the_older_ones_place_rfc_9111_4_3_3() {
    let world = World::new().await;
    let stale = [("cache-control", "max-age=10, stale-if-error=600"), ("age", "20"), TAG];
    let mine = answer(200, &[("cache-control", "no-store")], "mine");
    world.origin.at("/a", [answer(200, &stale, "old"), mine, answer(503, &[], "sorry")]);
    world.get("/a").await;
    assert_eq!(world.get("/a").await.body, "mine");
    assert_eq!(world.get("/a").await.status, 503, "the old answer is gone");
}
