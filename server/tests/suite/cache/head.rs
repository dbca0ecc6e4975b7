//! HEAD is answered from what GET has stored, and what it learns renews that (RFC 9111 §4.3.5).

use super::origin::{Answer, answer, cached};
use super::world::World;

fn stale(more: &[(&str, &str)]) -> Answer {
    answer(
        200,
        &[&[("cache-control", "max-age=10"), ("age", "20"), ("x-a", "old")][..], more].concat(),
        "body",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn head_is_answered_from_what_get_has_stored_rfc_9111_4() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    let reply = world.head("/a").await;
    assert_eq!((reply.status, reply.outcome(), reply.header("content-length")), (200, "cache_hit", "4"));
    assert!(reply.body.is_empty());
    assert_eq!(world.origin.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn head_of_something_stale_goes_up_as_head_and_freshens_it_rfc_9111_4_3_5() {
    let world = World::new().await;
    let newer = [("cache-control", "max-age=60"), ("x-a", "new"), ("etag", "\"1\"")];
    world.origin.at("/a", [stale(&[("etag", "\"1\""), ("x-b", "1")]), answer(200, &newer, "body")]);
    world.get("/a").await;
    world.head("/a").await;
    assert_eq!(world.origin.last("/a").method, "HEAD");
    let reply = world.get("/a").await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("cache_hit", &b"body"[..]));
    assert_eq!((reply.header("x-a"), reply.header("x-b")), ("new", "1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn head_of_another_version_ends_what_is_stored_rfc_9111_4_3_5() {
    let world = World::new().await;
    let fresh = ("cache-control", "max-age=60");
    for (n, other) in [
        answer(200, &[fresh, ("etag", "\"2\"")], "body"),
        answer(200, &[fresh, ("etag", "\"1\"")], "longer"),
        answer(200, &[fresh, ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT")], "body"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("/{n}");
        world.origin.at(&target, [stale(&[("etag", "\"1\"")]), other, cached("no-store", "new")]);
        world.get(&target).await;
        world.head(&target).await;
        assert_eq!(world.get(&target).await.body, "new", "{n}");
        assert_eq!(world.origin.last(&target).header("if-none-match"), "", "{n}");
    }
}
