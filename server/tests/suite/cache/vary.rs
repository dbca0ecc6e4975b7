//! Answers that depend on request headers (RFC 9111 §4.1).

use super::origin::{answer, cached};
use super::world::World;

/// Answers with the header that it varies by.
fn varying(vary: &str, body: &str) -> super::origin::Answer {
    answer(200, &[("cache-control", "max-age=60"), ("vary", vary)], body)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_variant_is_kept_and_given_to_whom_it_suits_rfc_9111_4_1() {
    let world = World::new().await;
    world.origin.at("/a", [varying("Foo", "1"), varying("Foo", "2"), varying("foo", "none")]);
    let one = [("foo", "1"), ("other", "x")];
    let two = [("foo", "2")];
    assert_eq!(world.get_with("/a", &one).await.body, "1");
    let reply = world.get_with("/a", &two).await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("forwarded", &b"2"[..]));
    assert!(reply.header("cache-status").contains("fwd=vary-miss"), "{reply:?}");
    assert_eq!(world.get("/a").await.body, "none");
    for (headers, body) in [(&[("foo", "1"), ("other", "y")][..], "1"), (&two[..], "2"), (&[][..], "none")] {
        let reply = world.get_with("/a", headers).await;
        assert_eq!((reply.outcome(), &reply.body[..]), ("cache_hit", body.as_bytes()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_fields_select_together_and_absent_is_a_value_rfc_9111_4_1() {
    let world = World::new().await;
    world.origin.at("/a", [varying("Foo, Bar", "1")]);
    world.get_with("/a", &[("foo", "1"), ("bar", "a")]).await;
    for (headers, outcome) in [
        (vec![("bar", "a"), ("foo", "1")], "cache_hit"),
        (vec![("foo", "1"), ("bar", "b")], "forwarded"),
        (vec![("foo", "1")], "forwarded"),
        (vec![("foo", "1"), ("bar", "")], "forwarded"),
        (vec![], "forwarded"),
        (vec![("foo", "1")], "cache_hit"),
    ] {
        assert_eq!(world.get_with("/a", &headers).await.outcome(), outcome, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blank_space_and_lines_make_no_difference_rfc_9111_4_1() {
    let world = World::new().await;
    world.origin.at("/a", [varying("Foo, Accept-Language", "1")]);
    world.get_with("/a", &[("foo", "1,2"), ("accept-language", "en, de")]).await;
    for (headers, outcome) in [
        (vec![("foo", "1, 2"), ("accept-language", "en,de")], "cache_hit"),
        (vec![("foo", "1"), ("foo", "2"), ("accept-language", "EN, de")], "cache_hit"),
        (vec![("foo", "2,1"), ("accept-language", "en, de")], "forwarded"),
        (vec![("foo", "1,2"), ("accept-language", "de, en")], "forwarded"),
    ] {
        assert_eq!(world.get_with("/a", &headers).await.outcome(), outcome, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_star_matches_nobody_rfc_9111_4_1() {
    let world = World::new().await;
    for (n, vary) in ["*", "*, *", ", *", "Foo, *", "*, Foo"].into_iter().enumerate() {
        let reply = world.twice(&format!("/{n}"), [varying(vary, "body")]).await;
        assert_eq!(reply.outcome(), "forwarded", "{vary}");
    }
    let lines = answer(200, &[("cache-control", "max-age=60"), ("vary", ""), ("vary", "*")], "body");
    assert_eq!(world.twice("/lines", [lines]).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_variant_is_validated_by_its_own_tag_rfc_9111_4_3_1() {
    let world = World::new().await;
    let stale = |tag, body| {
        let headers = [("cache-control", "max-age=10"), ("age", "20"), ("vary", "Foo"), ("etag", tag)];
        answer(200, &headers, body)
    };
    let good = answer(304, &[("cache-control", "max-age=60")], "");
    world.origin.at("/a", [stale("\"1\"", "one"), stale("\"2\"", "two"), good]);
    world.get_with("/a", &[("foo", "1")]).await;
    world.get_with("/a", &[("foo", "2")]).await;
    assert_eq!(world.origin.last("/a").header("if-none-match"), "", "a variant's tag is not another's");
    let reply = world.get_with("/a", &[("foo", "1")]).await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("revalidated", &b"one"[..]));
    let asked = world.origin.last("/a");
    assert_eq!((asked.header("if-none-match"), asked.header("foo")), ("\"1\"", "1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_toll_writes_for_each_request_anew_matches_nobody() {
    let world = World::new().await;
    for (n, vary) in ["X-Request-Id", "X-Forwarded-For"].into_iter().enumerate() {
        let reply = world.twice(&format!("/{n}"), [varying(vary, "body")]).await;
        assert_eq!(reply.outcome(), "forwarded", "{vary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_name_is_another_uri_rfc_9111_2() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    let reply = world.get_with("/a", &[("host", "evil.example")]).await;
    assert_eq!(reply.outcome(), "forwarded", "an upstream may have built links from the name");
    assert_eq!(world.get("/a").await.outcome(), "cache_hit");
}
