//! What the cache stage answers.

use std::time::Duration;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::Driven;
use super::everywhere::Ending;
use super::house::House;

pub const DRIVEN: &[Driven] = &[
    (Outcome::CacheHit, what_is_stored_and_fresh_is_a_hit),
    (Outcome::CacheNotModified, who_holds_what_is_stored_is_told_that_it_has_not_changed),
    (Outcome::CacheStale, what_is_stale_and_may_be_is_given_while_a_newer_one_is_fetched),
    (Outcome::CacheCollapsed, who_comes_while_another_fetches_the_same_shares_what_it_gets),
    (Outcome::CacheOnly, who_wants_only_what_is_stored_hears_that_nothing_is),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_and_fresh_is_a_hit() {
    let house = House::open().await;
    assert_eq!(house.get("/stored/keep").await.outcome(), "forwarded");
    let reply = house.get("/stored/keep").await;
    assert_eq!(reply.body, "kept");
    let hit = Ending { status: 200, ..Ending::early(Stage::Cache, Outcome::CacheHit) };
    let funnel = house.assert_ended(&reply, hit).await;
    assert_eq!(funnel.upstream_calls, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_what_is_stored_is_told_that_it_has_not_changed() {
    let house = House::open().await;
    assert_eq!(house.get("/stored/keep").await.outcome(), "forwarded");
    let held = [("X-Api-Key", house.key.as_str()), ("If-None-Match", "\"v0\", \"v1\"")];
    let reply = house.ask("GET", "/stored/keep", &held).await;
    house.assert_ended(&reply, Ending::early(Stage::Cache, Outcome::CacheNotModified)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_only_what_is_stored_hears_that_nothing_is() {
    let house = House::open().await;
    let only = [("X-Api-Key", house.key.as_str()), ("Cache-Control", "only-if-cached")];
    let reply = house.ask("GET", "/stored/keep", &only).await;
    let funnel = house.assert_ended(&reply, Ending::early(Stage::Cache, Outcome::CacheOnly)).await;
    assert_eq!(funnel.upstream_calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stale_and_may_be_is_given_while_a_newer_one_is_fetched() {
    let house = House::open().await;
    assert_eq!(house.get("/stored/stale").await.outcome(), "forwarded");
    let reply = house.get("/stored/stale").await;
    assert_eq!(reply.body, "old");
    house.origin.until_count(2).await;
    let stale = Ending { status: 200, ..Ending::early(Stage::Cache, Outcome::CacheStale) };
    let funnel = house.assert_ended(&reply, stale).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_while_another_fetches_the_same_shares_what_it_gets() {
    let house = House::open().await;
    for round in 1..20 {
        let path = format!("/stored/slow{round}");
        let mut first = house.begin("GET", &path, &[], "").await;
        house.origin.until_count(round).await;
        let mut second = house.begin("GET", &path, &[], "").await;
        house.until_arrived(2 * round).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        house.gate.add_permits(1);
        assert_eq!(first.reply().await.outcome(), "forwarded");
        let reply = second.reply().await;
        assert_eq!(reply.body, "slow");
        // A machine that is busy with other things may let the second one come too late.
        if reply.outcome() == "cache_collapsed" {
            let shared = Ending { status: 200, ..Ending::early(Stage::Cache, Outcome::CacheCollapsed) };
            let funnel = house.assert_ended(&reply, shared).await;
            return assert_eq!(funnel.upstream_calls, round);
        }
        assert_eq!(reply.outcome(), "cache_hit");
    }
    panic!("nobody shared");
}
