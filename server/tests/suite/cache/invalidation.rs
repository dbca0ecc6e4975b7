//! Unsafe methods end what is stored of what they change (RFC 9111 §4.4).

use http::Method;

use super::origin::{answer, cached, gate};
use super::world::{World, catalog};

fn methods() -> [Method; 5] {
    [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::from_bytes(b"M-SEARCH").unwrap()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_succeeded_ends_what_is_stored_of_its_target_rfc_9111_4_4() {
    let world = World::new().await;
    for method in methods() {
        for (status, outcome) in [
            (200, "forwarded"),
            (201, "forwarded"),
            (204, "forwarded"),
            (303, "forwarded"),
            (404, "cache_hit"),
            (500, "cache_hit"),
        ] {
            let target = format!("/{method}/{status}");
            world.origin.at(
                &target,
                [cached("max-age=60", "old"), answer(status, &[], ""), cached("max-age=60", "new")],
            );
            world.get(&target).await;
            assert_eq!(world.ask(method.clone(), &target, &[]).await.status, status);
            assert_eq!(world.get(&target).await.outcome(), outcome, "{method} {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn safe_methods_end_nothing_rfc_9110_9_2_1() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "old"), answer(200, &[], "")]);
    world.get("/a").await;
    world.ask(Method::OPTIONS, "/a", &[]).await;
    assert_eq!(world.get("/a").await.outcome(), "cache_hit");
}

#[tokio::test(flavor = "multi_thread")]
async fn location_and_content_location_of_the_same_origin_end_too_rfc_9111_4_4() {
    let world = World::new().await;
    let (own, behind) = (world.url("/things/7"), format!("{}/things/7", world.origin.url()));
    for name in ["location", "content-location"] {
        for (reference, outcome) in [
            // As the upstream knows its paths, as clients do, relative and absolute.
            ("/things/7", "forwarded"),
            ("/api/c/things/7", "forwarded"),
            ("things/7", "forwarded"),
            ("./x/../things/7#top", "forwarded"),
            (&own, "forwarded"),
            (&behind, "forwarded"),
            ("http://elsewhere.example/things/7", "cache_hit"),
            ("//elsewhere.example/things/7", "cache_hit"),
            ("/things/8", "cache_hit"),
            ("mailto:somebody", "cache_hit"),
            ("", "cache_hit"),
        ] {
            world.origin.at("/things/7", [cached("max-age=60", "old")]);
            world.origin.at("/things", [answer(201, &[(name, reference)], "")]);
            let held = world.get("/things/7").await;
            assert!(["cache_hit", "forwarded"].contains(&held.outcome()));
            world.ask(Method::POST, "/things", &[]).await;
            assert_eq!(world.get("/things/7").await.outcome(), outcome, "{name}: {reference}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_location_on_another_route_ends_what_is_stored_there() {
    let world = World::new().await;
    let more = "[[route]]\nname = \"deeper\"\npath = \"/c/deep\"\nupstream = \"origin\"\ncache = true\nstrip = false";
    crate::support::catalog::declare(&world.toll.db.pool, &catalog(&world.origin, more)).await;
    world.toll.settled().await;
    world.origin.at("/c/deep/1", [cached("max-age=60", "old")]);
    world.origin.at("/make", [answer(201, &[("location", "/api/c/deep/1")], "")]);
    world.get("/deep/1").await;
    assert_eq!(world.get("/deep/1").await.outcome(), "cache_hit");
    world.ask(Method::POST, "/make", &[]).await;
    assert_eq!(world.get("/deep/1").await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_for_before_a_change_is_not_stored_after_it() {
    let world = World::new().await;
    let slow = gate();
    let old = cached("max-age=60", "old").after(&slow);
    world.origin.at("/a", [old, answer(204, &[], ""), cached("max-age=60", "new")]);
    let (reading, ()) = tokio::join!(world.get("/a"), async {
        world.asked("/a", 1).await;
        world.ask(Method::PUT, "/a", &[]).await;
        slow.add_permits(1);
    });
    assert_eq!(reading.body, "old");
    assert_eq!(world.get("/a").await.body, "new");
}
