//! How long an answer is fresh (RFC 9111 §4.2).

use super::origin::{answer, cached, date};
use super::world::World;

const MODIFIED: (&str, &str) = ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT");

/// Asks each twice, and says what the second answer was.
async fn outcomes(world: &World, cases: &[Vec<(&str, &str)>]) -> Vec<String> {
    let mut outcomes = Vec::new();
    for (n, headers) in cases.iter().enumerate() {
        let reply = world.twice(&format!("/{n}"), [answer(200, headers, "body")]).await;
        assert_eq!(reply.body, "body");
        outcomes.push(reply.outcome().to_owned());
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explicit_lifetime_makes_an_answer_fresh_rfc_9111_4_2_1() {
    let world = World::new().await;
    let (now, later, past) = (date(0), date(100), date(-100));
    let cases = [
        vec![("cache-control", "max-age=60")],
        vec![("cache-control", "s-maxage=60, max-age=0")],
        vec![("cache-control", "MaX-aGe=60")],
        vec![("cache-control", "foobar, max-age=60")],
        vec![("cache-control", "max-age=\"60\"")],
        vec![("cache-control", "max-age=0060")],
        vec![("cache-control", "max-age=99999999999")],
        vec![("cache-control", "max-age=60"), ("expires", &past), ("date", &now)],
        vec![("cache-control", "max-age=60"), ("expires", "0")],
        vec![("expires", &later), ("date", &now)],
        vec![("expires", &later), ("date", "foo")],
        vec![("expires", &later)],
        vec![("cache-control", "max-age=60"), ("pragma", "no-cache")],
        vec![("cache-control", "max-age=60, must-revalidate")],
        vec![("cache-control", "max-age=60"), ("age", "abc")],
    ];
    assert_eq!(outcomes(&world, &cases).await, vec!["cache_hit"; cases.len()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_expired_malformed_or_contradictory_is_not_fresh_rfc_9111_4_2_1() {
    let world = World::new().await;
    let (now, later, past) = (date(0), date(100), date(-100));
    let cases = [
        vec![],
        vec![("cache-control", "max-age=0")],
        vec![("cache-control", "s-maxage=0, max-age=60")],
        vec![("cache-control", "max-age=-60")],
        vec![("cache-control", "max-age=60a")],
        vec![("cache-control", "max-age='60'")],
        vec![("cache-control", "max-age=60.5")],
        vec![("cache-control", "max-age=60, max-age=1800")],
        vec![("cache-control", "max-age=1800"), ("cache-control", "max-age=60")],
        vec![("cache-control", "extension=\"max-age=60\"")],
        vec![("cache-control", "max-age=0"), ("expires", &later), ("date", &now)],
        vec![("expires", "0")],
        vec![("expires", &past), ("date", &now)],
        vec![("expires", &now), ("date", &now)],
        vec![("expires", &later), ("date", &later)],
        vec![("expires", "Thu, 18 Aug 2050 02:01:18 UTC")],
        vec![("expires", &later), ("expires", &past)],
        vec![("cache-control", "max-age=60"), ("age", "60")],
        vec![("cache-control", "max-age=60"), ("age", "99999999999999")],
        vec![("cache-control", "max-age=60"), ("age", "7200, 0")],
        vec![("cache-control", "max-age=60"), ("date", &past)],
        vec![MODIFIED],
    ];
    for (n, outcome) in outcomes(&world, &cases).await.iter().enumerate() {
        assert!(["forwarded", "revalidated"].contains(&outcome.as_str()), "{outcome}: {:?}", cases[n]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_a_lifetime_live_for_the_routes_where_one_may_be_given_rfc_9111_4_2_2() {
    let world = World::with("cache_ttl = \"60s\"").await;
    for (status, outcome) in [(200, "cache_hit"), (404, "cache_hit"), (403, "forwarded"), (500, "forwarded")]
    {
        let reply = world.twice(&format!("/{status}"), [answer(status, &[], "body")]).await;
        assert_eq!((reply.status, reply.outcome()), (status, outcome));
    }
    let reply = world.twice("/own", [cached("max-age=0", "body")]).await;
    assert_eq!(reply.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn age_grows_date_stays_and_the_origins_age_counts_rfc_9111_5_1() {
    let world = World::new().await;
    let then = date(-20);
    let headers = [("cache-control", "max-age=600"), ("age", "30"), ("date", &then)];
    let first = world.twice("/aged", [answer(200, &headers, "body")]).await;
    assert!((30..40).contains(&first.number("age")), "{first:?}");
    assert_eq!(first.header("date"), then);
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    let later = world.get("/aged").await;
    assert!(later.number("age") >= first.number("age") + 2);
    assert_eq!(later.header("date"), then);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_date_gets_that_of_its_coming_rfc_9110_6_6_1() {
    let world = World::new().await;
    let first = world.twice("/undated", [cached("max-age=60", "body")]).await;
    assert!(!first.header("date").is_empty());
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(world.get("/undated").await.header("date"), first.header("date"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_becomes_stale_when_its_time_is_over_rfc_9111_4_2() {
    let world = World::new().await;
    world.origin.at("/short", [cached("max-age=2", "one"), cached("max-age=60", "two")]);
    world.get("/short").await;
    assert_eq!(world.get("/short").await.outcome(), "cache_hit");
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    let reply = world.get("/short").await;
    assert_eq!((reply.outcome(), &reply.body[..]), ("forwarded", &b"two"[..]));
}
