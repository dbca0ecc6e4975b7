//! Conditional requests of clients, answered from the store (RFC 9110 §13, RFC 9111 §4.3.2).

use app::domain::cache_miss::CacheMiss;
use http::Method;

use super::origin::{answer, cached};
use super::world::World;

const MODIFIED: (&str, &str) = ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT");

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_the_stored_version_gets_304_rfc_9110_13_1_2() {
    let world = World::new().await;
    for (n, (etag, holds, status)) in [
        ("\"abc\"", "\"abc\"", 304),
        ("\"abc\"", "W/\"abc\"", 304),
        ("W/\"abc\"", "W/\"abc\"", 304),
        ("W/\"abc\"", "\"abc\"", 304),
        ("\"abc\"", "\"1\", \"abc\", \"2\"", 304),
        ("\"abc\"", "*", 304),
        ("\"a,b\"", "\"a,b\"", 304),
        ("\"abc\"", "\"1\"", 200),
        ("\"abc\"", "abc", 200),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("/{n}");
        let headers = [("cache-control", "max-age=60"), ("etag", etag), ("content-type", "text/plain")];
        world.origin.at(&target, [answer(200, &headers, "body")]);
        world.get(&target).await;
        let reply = world.get_with(&target, &[("if-none-match", holds)]).await;
        let outcome = if status == 304 { "cache_not_modified" } else { "cache_hit" };
        assert_eq!((reply.status, reply.outcome()), (status, outcome), "{etag} {holds}");
        if status == 304 {
            assert_eq!((reply.header("etag"), reply.header("cache-control")), (etag, "max-age=60"));
            assert!(!reply.header("date").is_empty() && !reply.header("age").is_empty());
            assert_eq!((reply.header("content-type"), reply.header("content-length")), ("", ""));
            assert!(reply.body.is_empty());
        }
        assert_eq!(world.origin.asked(&target), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_counts_where_there_is_no_tag_rfc_9110_13_1_3() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60"), ("etag", "\"1\""), MODIFIED];
    world.origin.at("/a", [answer(200, &headers, "body")]);
    world.get("/a").await;
    for (holds, status) in [
        (vec![("if-modified-since", MODIFIED.1)], 304),
        (vec![("if-modified-since", "Thu, 22 Oct 2015 07:28:00 GMT")], 304),
        (vec![("if-modified-since", "Wednesday, 21-Oct-15 07:28:00 GMT")], 304),
        (vec![("if-modified-since", "Tue, 20 Oct 2015 07:28:00 GMT")], 200),
        (vec![("if-modified-since", "yesterday")], 200),
        (vec![("if-none-match", "\"2\""), ("if-modified-since", MODIFIED.1)], 200),
        (vec![("if-none-match", "\"1\""), ("if-modified-since", "Tue, 20 Oct 2015 07:28:00 GMT")], 304),
    ] {
        assert_eq!(world.get_with("/a", &holds).await.status, status, "{holds:?}");
    }
    world.origin.at("/undated", [answer(200, &[("cache-control", "max-age=60")], "body")]);
    world.get("/undated").await;
    let later = super::origin::date(60);
    let reply = world.get_with("/undated", &[("if-modified-since", &later)]).await;
    assert_eq!(reply.status, 304, "without Last-Modified the Date counts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_answer_is_validated_before_the_client_is_told_304_rfc_9111_4_3_2() {
    let world = World::new().await;
    let stale = [("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
    world.origin.at("/a", [answer(200, &stale, "body"), answer(304, &[("cache-control", "max-age=60")], "")]);
    world.get("/a").await;
    let reply = world.get_with("/a", &[("if-none-match", "\"0\", \"1\"")]).await;
    assert_eq!((reply.status, reply.outcome()), (304, "revalidated"));
    assert_eq!(world.origin.last("/a").header("if-none-match"), "\"1\"", "the cache asks about its own");
    assert_eq!(world.get("/a").await.body, "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_stored_answer_the_clients_condition_goes_up_and_its_304_comes_down() {
    let world = World::new().await;
    world.origin.at(
        "/a",
        [
            answer(304, &[("etag", "\"1\""), ("cache-control", "max-age=60")], ""),
            cached("max-age=60", "body"),
        ],
    );
    let reply = world.get_with("/a", &[("if-none-match", "\"1\"")]).await;
    assert_eq!((reply.status, reply.outcome()), (304, "forwarded"));
    assert_eq!(world.origin.last("/a").header("if-none-match"), "\"1\"");
    let reply = world.get("/a").await;
    assert_eq!((reply.status, &reply.body[..]), (200, &b"body"[..]), "the 304 was not stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn preconditions_of_changes_are_the_upstreams_business_rfc_9110_13_1_1() {
    let world = World::new().await;
    world
        .origin
        .at("/a", [cached("max-age=60", "body"), answer(412, &[("cache-control", "max-age=60")], "no")]);
    world.get("/a").await;
    let reply = world.get_with("/a", &[("if-match", "\"1\"")]).await;
    assert_eq!((reply.status, reply.outcome()), (412, "forwarded"));
    assert_eq!(world.get("/a").await.body, "body", "and their answers are not stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_with_a_body_goes_past_the_cache() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    let request =
        world.client.request(Method::GET, world.url("/a")).header("x-api-key", &world.key).body("?");
    assert_eq!(crate::support::client::Reply::of(request).await.outcome(), "forwarded");
}

/// Its 304 is for this client alone, which is no fault of the upstream's headers.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_about_a_version_that_is_not_stored_goes_past_the_cache() {
    let world = World::new().await;
    let version = [("cache-control", "max-age=60"), ("etag", "\"1\"")];
    world.origin.at("/mine", [answer(304, &version, "")]);
    world.origin.at("/kept", [answer(200, &version, "body")]);
    world.origin.at("/never", [answer(200, &[("cache-control", "no-store")], "body")]);
    for target in ["/mine", "/kept", "/never"] {
        world.get_with(target, &[("if-none-match", "\"1\"")]).await;
    }
    world.books(3).await;
    let causes: Vec<i16> = sqlx::query_scalar("select cache_miss from request_log order by at")
        .fetch_all(&world.toll.db.pool)
        .await
        .unwrap();
    let causes: Vec<_> = causes.into_iter().filter_map(CacheMiss::from_code).collect();
    assert_eq!(causes, [CacheMiss::Bypass, CacheMiss::First, CacheMiss::Unstorable]);
}
