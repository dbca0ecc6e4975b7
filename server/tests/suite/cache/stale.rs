//! Stale answers: while a newer one is fetched, and when none is to be had (RFC 5861, RFC 9111 §4.2.4).

use std::time::Duration;

use app::domain::outcome::Outcome;
use http::Method;

use super::origin::{Answer, answer, cached, gate};
use super::world::{World, catalog, until};

const TAG: (&str, &str) = ("etag", "\"1\"");

/// Has been stale for ten seconds when it comes.
fn stale(control: &str) -> Answer {
    answer(200, &[("cache-control", control), ("age", "20"), TAG], "old")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_answer_is_given_at_once_and_renewed_in_the_background_rfc_5861_3() {
    let world = World::new().await;
    let slow = gate();
    let newer = cached("max-age=60", "new").after(&slow);
    world.origin.at("/a", [stale("max-age=10, stale-while-revalidate=60"), newer]);
    world.get("/a").await;
    for _ in 0..5 {
        let reply = world.get("/a").await;
        assert_eq!((reply.status, reply.stage(), reply.outcome()), (200, "cache", "cache_stale"));
        assert_eq!(reply.body, "old");
        assert!(reply.number("age") >= 20);
    }
    world.asked("/a", 2).await;
    assert_eq!(world.origin.last("/a").header("if-none-match"), "\"1\"");
    assert_eq!(world.origin.last("/a").header("x-api-key"), "");
    slow.add_permits(1);
    let mut asked = 6;
    let fresh = loop {
        let reply = world.get("/a").await;
        asked += 1;
        if reply.outcome() != "cache_stale" {
            break reply;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((fresh.outcome(), &fresh.body[..]), ("cache_hit", &b"new"[..]));
    assert_eq!(world.origin.asked("/a"), 2, "one request asks for all");
    // One reached the upstream, and one more call went there in the background.
    let funnel = world.books(asked).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_304_in_the_background_makes_the_stored_answer_fresh_rfc_5861_3() {
    let world = World::new().await;
    world.origin.at(
        "/a",
        [stale("max-age=10, stale-while-revalidate=60"), answer(304, &[("cache-control", "max-age=60")], "")],
    );
    world.get("/a").await;
    let held = [("if-none-match", "\"1\""), ("range", "bytes=0-0")];
    assert_eq!(world.get_with("/a", &held).await.status, 304);
    world.asked("/a", 2).await;
    assert_eq!(world.origin.last("/a").header("range"), "", "the background asks for the whole");
    for _ in 0..500 {
        if world.get("/a").await.outcome() == "cache_hit" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never fresh again");
}

#[tokio::test(flavor = "multi_thread")]
async fn head_of_a_stale_answer_renews_it_by_get() {
    let world = World::new().await;
    world.origin.at("/a", [stale("max-age=10, stale-while-revalidate=60"), cached("max-age=60", "new")]);
    world.get("/a").await;
    assert_eq!(world.head("/a").await.outcome(), "cache_stale");
    world.asked("/a", 2).await;
    assert_eq!(world.origin.last("/a").method, "GET");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_the_background_harms_nothing_and_an_answer_for_one_ends_the_old_one() {
    let world = World::new().await;
    let control = "max-age=10, stale-while-revalidate=60";
    world.origin.at("/broken", [stale(control), answer(500, &[], "sorry"), Answer::closed()]);
    world.get("/broken").await;
    for calls in 2..4 {
        until_called(&world, "/broken", calls).await;
        assert_eq!(world.get("/broken").await.body, "old");
    }
    world.origin.at("/mine", [stale(control), cached("private", "mine")]);
    world.get("/mine").await;
    world.get("/mine").await;
    for _ in 0..500 {
        if world.get("/mine").await.outcome() == "forwarded" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the old answer is still given");
}

async fn until_called(world: &World, target: &str, calls: usize) {
    for _ in 0..500 {
        world.get(target).await;
        if world.origin.asked(target) >= calls {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no call in the background");
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_its_time_or_against_the_origins_word_nobody_gets_it_stale_rfc_5861_3() {
    let world = World::new().await;
    for (n, control) in [
        "max-age=10, stale-while-revalidate=5",
        "max-age=10, must-revalidate, stale-while-revalidate=60",
        "max-age=10, proxy-revalidate, stale-while-revalidate=60",
        "max-age=10, no-cache, stale-while-revalidate=60",
        "max-age=10, stale-while-revalidate=x",
    ]
    .into_iter()
    .enumerate()
    {
        let reply = world.twice(&format!("/{n}"), [stale(control), cached("max-age=60", "new")]).await;
        assert_eq!((reply.outcome(), &reply.body[..]), ("forwarded", &b"new"[..]), "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_covered_by_what_is_stored_rfc_5861_4() {
    let world = World::new().await;
    let mut asked = 0;
    for status in [500, 502, 503, 504] {
        let sorry = answer(status, &[], "sorry");
        let target = format!("/{status}");
        let reply = world.twice(&target, [stale("max-age=10, stale-if-error=60"), sorry.clone()]).await;
        assert_eq!((reply.status, reply.stage(), reply.outcome()), (200, "proxy", "stale_on_error"));
        assert_eq!(reply.body, "old");
        assert!(reply.header("cache-status").contains(&format!("fwd-status={status}")));
        let reply = world.twice(&format!("{target}/not"), [stale("max-age=10"), sorry.clone()]).await;
        assert_eq!((reply.status, reply.outcome()), (status, "forwarded"));
        let reply =
            world.twice(&format!("{target}/over"), [stale("max-age=10, stale-if-error=5"), sorry]).await;
        assert_eq!((reply.status, reply.outcome()), (status, "forwarded"));
        asked += 6;
    }
    let reply = world.twice("/404", [stale("max-age=10, stale-if-error=60"), answer(404, &[], "gone")]).await;
    assert_eq!(reply.status, 404, "that is an answer");
    let funnel = world.books(asked + 2).await;
    assert_eq!(funnel.reached_upstream, asked + 2);
    assert_eq!(funnel.statuses.server_error, 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_may_ask_for_cover_and_the_origin_may_forbid_it_rfc_5861_4() {
    let world = World::new().await;
    for (n, (control, status)) in [
        ("max-age=10", 200),
        ("max-age=10, must-revalidate", 503),
        ("max-age=10, proxy-revalidate", 503),
        ("s-maxage=10", 503),
        ("max-age=10, no-cache", 503),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("/{n}");
        world.origin.at(&target, [stale(control), answer(503, &[], "sorry")]);
        world.get(&target).await;
        let wish = [("cache-control", "stale-if-error=60")];
        assert_eq!(world.get_with(&target, &wish).await.status, status, "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_closes_is_an_error_too_rfc_5861_4() {
    let world = World::new().await;
    let reply = world.twice("/sie", [stale("max-age=10, stale-if-error=60"), Answer::closed()]).await;
    assert_eq!((reply.status, reply.outcome(), &reply.body[..]), (200, "stale_on_error", &b"old"[..]));
    let garbage = Answer::written("not HTTP at all\r\n\r\n").then_closed();
    let reply = world.twice("/garbage", [stale("max-age=10, stale-if-error=60"), garbage]).await;
    assert_eq!((reply.status, reply.outcome()), (200, "stale_on_error"));
    for control in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=15"] {
        let target = format!("/{control}");
        let reply = world.twice(&target, [stale(&format!("max-age=15, {control}")), Answer::closed()]).await;
        assert_eq!((reply.status, reply.outcome()), (502, "upstream_broken"), "{control}");
    }
    let reply = world.twice("/long", [stale("max-age=5"), Answer::closed()]).await;
    assert_eq!(reply.status, 502, "stale for longer than it was fresh");
    let reply = world.twice("/short", [stale("max-age=15"), Answer::closed()]).await;
    assert_eq!((reply.status, reply.outcome()), (200, "stale_on_error"), "nobody answers: RFC 9111 §4.2.4");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nobody_takes_a_connection_or_the_breaker_is_open_stale_answers_serve() {
    let touchy = "failures = 1, open_for = \"60s\"";
    let world = World::of(|origin| catalog(origin, "").replace("failures = 1000", touchy)).await;
    world.origin.at("/a", [stale("max-age=10, stale-if-error=600")]);
    world.get("/a").await;
    let calls = world.origin.seen().len();
    world.origin.stop();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let reply = world.get("/a").await;
    assert_eq!((reply.status, reply.stage(), reply.outcome()), (200, "proxy", "stale_on_error"));
    for _ in 0..500 {
        if world.get("/other").await.outcome() == "breaker_open" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let reply = world.get("/a").await;
    assert_eq!((reply.status, reply.stage(), reply.outcome()), (200, "cache", "cache_stale"));
    assert_eq!((reply.body, reply.headers.contains_key("retry-after")), ("old".into(), false));
    assert_eq!(world.origin.seen().len(), calls);
    // Its receipt says by the outcome what happened.
    assert!(!Outcome::CacheStale.advice().means.contains("fetched"), "nothing was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_not_covered() {
    let world = World::new().await;
    world.origin.at("/a", [stale("max-age=10, stale-if-error=60"), answer(503, &[], "sorry")]);
    world.get("/a").await;
    assert_eq!(world.ask(Method::POST, "/a", &[]).await.status, 503);
    until(|| world.origin.asked("/a") == 2, "the change went up").await;
}
