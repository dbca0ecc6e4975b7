//! Parts of a whole that is stored (RFC 9110 §14, RFC 9111 §3.3).

use super::origin::{answer, cached};
use super::world::World;

const FRESH: (&str, &str) = ("cache-control", "max-age=60");

async fn holding(headers: &[(&str, &str)]) -> World {
    let world = World::new().await;
    world.origin.at("/a", [answer(200, headers, "0123456789A")]);
    world.get("/a").await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_is_cut_from_the_stored_whole_rfc_9110_14_2() {
    let world = holding(&[FRESH, ("etag", "\"1\""), ("content-type", "text/plain")]).await;
    for (range, body, content_range) in [
        ("bytes=0-1", "01", "bytes 0-1/11"),
        ("bytes=1-", "123456789A", "bytes 1-10/11"),
        ("bytes=-1", "A", "bytes 10-10/11"),
        ("bytes=-99", "0123456789A", "bytes 0-10/11"),
        ("bytes=9-99", "9A", "bytes 9-10/11"),
    ] {
        let reply = world.get_with("/a", &[("range", range)]).await;
        assert_eq!((reply.status, reply.outcome()), (206, "cache_hit"), "{range}");
        assert_eq!((reply.header("content-range"), &reply.body[..]), (content_range, body.as_bytes()));
        assert_eq!(reply.number("content-length"), body.len() as u64);
        assert_eq!((reply.header("etag"), reply.header("content-type")), ("\"1\"", "text/plain"));
        assert!(!reply.header("age").is_empty() && !reply.header("date").is_empty());
    }
    assert_eq!(world.get("/a").await.body, "0123456789A", "the whole is still there");
    assert_eq!(world.origin.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_single_range_of_bytes_gets_the_whole_rfc_9110_14_2() {
    let world = holding(&[FRESH]).await;
    for range in ["bytes=0-1,3-4", "bytes=4-2", "lines=0-1", "bytes=x", "0-1"] {
        let reply = world.get_with("/a", &[("range", range)]).await;
        assert_eq!((reply.status, reply.outcome(), reply.body.len()), (200, "cache_hit", 11), "{range}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_beyond_the_end_is_416_rfc_9110_15_5_17() {
    let world = holding(&[FRESH, ("etag", "\"1\"")]).await;
    for range in ["bytes=11-", "bytes=50-60", "bytes=-0"] {
        let reply = world.get_with("/a", &[("range", range)]).await;
        assert_eq!((reply.status, reply.header("content-range")), (416, "bytes */11"), "{range}");
        assert_eq!((reply.outcome(), reply.header("cache-control")), ("cache_hit", "no-store"));
    }
    world.books(4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_range_gives_a_part_of_the_same_version_only_rfc_9110_13_1_5() {
    let modified = "Wed, 21 Oct 2015 07:28:00 GMT";
    let world = holding(&[FRESH, ("etag", "\"1\""), ("last-modified", modified)]).await;
    for (condition, status) in [
        ("\"1\"", 206),
        (modified, 206),
        ("\"2\"", 200),
        ("W/\"1\"", 200),
        ("Thu, 22 Oct 2015 07:28:00 GMT", 200),
    ] {
        let reply = world.get_with("/a", &[("range", "bytes=0-1"), ("if-range", condition)]).await;
        assert_eq!((reply.status, reply.outcome()), (status, "cache_hit"), "{condition}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_goes_before_a_part_and_a_part_is_of_a_200_only_rfc_9110_13_2_2() {
    let world = holding(&[FRESH, ("etag", "\"1\"")]).await;
    let both = [("range", "bytes=0-1"), ("if-none-match", "\"1\"")];
    assert_eq!(world.get_with("/a", &both).await.status, 304);
    world.origin.at("/404", [answer(404, &[FRESH], "missing")]);
    world.get("/404").await;
    let reply = world.get_with("/404", &[("range", "bytes=0-1")]).await;
    assert_eq!((reply.status, &reply.body[..]), (404, &b"missing"[..]));
    let reply = world.ask(http::Method::HEAD, "/a", &[("range", "bytes=0-1")]).await;
    assert_eq!((reply.status, reply.header("content-length")), (200, "11"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_of_something_stale_goes_up_and_harms_nothing_rfc_9111_3_3() {
    let world = World::new().await;
    let stale = [("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
    let part = answer(206, &[FRESH, ("content-range", "bytes 0-1/11"), ("etag", "\"1\"")], "01");
    let good = answer(304, &[FRESH], "");
    world.origin.at("/a", [answer(200, &stale, "0123456789A"), part, good]);
    world.get("/a").await;
    let reply = world.get_with("/a", &[("range", "bytes=0-1")]).await;
    assert_eq!((reply.status, reply.outcome(), &reply.body[..]), (206, "forwarded", &b"01"[..]));
    let reply = world.get("/a").await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("revalidated", &b"0123456789A"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_that_answers_a_range_is_stored_as_the_whole() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "0123456789A")]);
    let reply = world.get_with("/a", &[("range", "bytes=0-1")]).await;
    assert_eq!((reply.status, reply.body.len()), (200, 11));
    let reply = world.get_with("/a", &[("range", "bytes=0-1")]).await;
    assert_eq!((reply.status, reply.outcome(), &reply.body[..]), (206, "cache_hit", &b"01"[..]));
    let missing = answer(416, &[FRESH, ("content-range", "bytes */0")], "no");
    world.origin.at("/b", [missing, cached("max-age=60", "there")]);
    world.get_with("/b", &[("range", "bytes=9-")]).await;
    assert_eq!(world.get("/b").await.body, "there", "what answers a part is not the answer to the whole");
}
