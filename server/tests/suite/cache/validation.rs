//! Asking whether a stored answer is still good (RFC 9111 §4.3).

use super::origin::{Answer, answer};
use super::world::World;

const TAG: (&str, &str) = ("etag", "\"1\"");
const WEAK: (&str, &str) = ("etag", "W/\"1\"");
const MODIFIED: (&str, &str) = ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT");

/// Stale when it comes.
fn stale(more: &[(&str, &str)]) -> Answer {
    answer(200, &[&[("cache-control", "max-age=10"), ("age", "20")][..], more].concat(), "body")
}

fn not_modified(more: &[(&str, &str)]) -> Answer {
    answer(304, &[&[("cache-control", "max-age=60")][..], more].concat(), "")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_answer_is_validated_by_tag_and_date_rfc_9111_4_3_1() {
    let world = World::new().await;
    for (n, (validator, field)) in
        [(TAG, "if-none-match"), (WEAK, "if-none-match"), (MODIFIED, "if-modified-since")]
            .into_iter()
            .enumerate()
    {
        let target = format!("/{n}");
        let reply = world.twice(&target, [stale(&[validator]), not_modified(&[])]).await;
        assert_eq!((reply.status, reply.stage(), reply.outcome()), (200, "proxy", "revalidated"));
        assert_eq!(reply.body, "body");
        assert_eq!(world.origin.last(&target).header(field), validator.1);
        assert_eq!(world.get(&target).await.outcome(), "cache_hit", "it is fresh again");
    }
    let reply = world.twice("/both", [stale(&[TAG, MODIFIED]), not_modified(&[TAG])]).await;
    assert_eq!(reply.outcome(), "revalidated");
    let asked = world.origin.last("/both");
    assert_eq!((asked.header("if-none-match"), asked.header("if-modified-since")), (TAG.1, MODIFIED.1));
    let funnel = world.books(11).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (8, 8));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_renews_the_stored_headers_and_what_it_omits_stays_rfc_9111_4_3_4() {
    let world = World::new().await;
    let old =
        [TAG, ("x-a", "old"), ("x-b", "old"), ("x-c", "1"), ("x-c", "2"), ("content-type", "text/plain")];
    let new = [TAG, ("x-a", "new"), ("x-c", "3"), ("expires", "Fri, 01 Jan 2038 01:01:01 GMT")];
    let first = world.twice("/a", [stale(&old), not_modified(&new)]).await;
    let second = world.get("/a").await;
    for reply in [&first, &second] {
        assert_eq!((reply.header("x-a"), reply.header("x-b")), ("new", "old"));
        assert_eq!(reply.headers.get_all("x-c").iter().collect::<Vec<_>>(), ["3"]);
        assert_eq!(reply.header("cache-control"), "max-age=60");
        assert_eq!(reply.header("content-type"), "text/plain");
        assert_eq!(reply.header("expires"), "Fri, 01 Jan 2038 01:01:01 GMT");
        assert_eq!((reply.header("content-length"), &reply.body[..]), ("4", &b"body"[..]));
        assert!(reply.number("age") < 10);
    }
    assert_eq!(second.outcome(), "cache_hit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_does_not_describe_the_stored_bytes_anew_rfc_9111_3_2() {
    let world = World::new().await;
    let wrong = [
        TAG,
        ("content-encoding", "br"),
        ("content-range", "bytes 0-1/9"),
        ("connection", "x-once"),
        ("x-once", "1"),
    ];
    let reply = world.twice("/a", [stale(&[TAG]), not_modified(&wrong)]).await;
    for name in ["content-encoding", "content-range", "x-once"] {
        assert_eq!(reply.header(name), "", "{name}");
    }
    assert_eq!(reply.body, "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_answer_takes_the_place_of_the_stale_one_rfc_9111_4_3_3() {
    let world = World::new().await;
    let newer = answer(200, &[("cache-control", "max-age=60"), ("etag", "\"2\"")], "newer");
    let reply = world.twice("/a", [stale(&[TAG]), newer]).await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("forwarded", &b"newer"[..]));
    let reply = world.get("/a").await;
    assert_eq!((reply.outcome(), reply.header("etag")), ("cache_hit", "\"2\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_that_forbids_storing_ends_what_is_stored_rfc_9111_4_3_4() {
    let world = World::new().await;
    let ends = answer(304, &[("cache-control", "no-store"), TAG], "");
    let fresh = answer(200, &[("cache-control", "no-store")], "mine");
    world.origin.at("/a", [stale(&[TAG]), ends, fresh]);
    world.get("/a").await;
    assert_eq!(world.get("/a").await.outcome(), "revalidated");
    assert_eq!(world.get("/a").await.body, "mine");
    assert_eq!(world.origin.last("/a").header("if-none-match"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_on_a_304_is_for_one_client_only() {
    let world = World::new().await;
    let reply = world.twice("/a", [stale(&[TAG]), not_modified(&[TAG, ("set-cookie", "a=b")])]).await;
    assert_eq!(reply.header("set-cookie"), "a=b");
    let reply = world.get("/a").await;
    assert_eq!((reply.outcome(), reply.header("set-cookie")), ("cache_hit", ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_about_another_version_ends_what_is_stored_rfc_9111_4_3_4() {
    let world = World::new().await;
    world.origin.at("/a", [stale(&[TAG]), not_modified(&[("etag", "\"2\"")]), stale(&[("etag", "\"2\"")])]);
    world.get("/a").await;
    world.get("/a").await;
    world.get("/a").await;
    assert_eq!(world.origin.last("/a").header("if-none-match"), "", "it is fetched anew");
}
