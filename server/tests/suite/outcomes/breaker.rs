//! What the breaker stage holds back.

use std::time::Duration;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::Driven;
use super::everywhere::Ending;
use super::house::House;
use crate::support::client::Reply;
use crate::support::raw::RawClient;

pub const DRIVEN: &[Driven] = &[
    (Outcome::BreakerOpen, an_upstream_that_failed_is_left_alone),
    (Outcome::BreakerProbing, while_one_request_is_the_probe_others_are_held_back),
    (Outcome::BreakerSaturated, more_than_an_upstream_may_have_are_held_back),
];

fn held_back(outcome: Outcome) -> Ending {
    Ending::early(Stage::Breaker, outcome)
}

/// Failures until the door is shut; the first answer that says so.
async fn trip(house: &House, path: &str) -> Reply {
    for _ in 0..500 {
        let reply = house.get(path).await;
        if reply.outcome() == "breaker_open" {
            return reply;
        }
        assert_eq!((reply.status, reply.outcome()), (500, "forwarded"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the breaker stays closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_failed_is_left_alone() {
    let house = House::open().await;
    let reply = trip(&house, "/brittle/fail").await;
    house.assert_ended(&reply, held_back(Outcome::BreakerOpen)).await;
}

/// A request that the upstream has and does not answer; asked for until the breaker is due.
async fn probe(house: &House) -> RawClient {
    let before = house.origin.count();
    for _ in 0..500 {
        let mut probe = house.begin("GET", "/reviving/hold", &[], "").await;
        tokio::select! {
            () = house.origin.until_count(before + 1) => return probe,
            refused = probe.head() => assert_eq!(refused.outcome(), "breaker_open"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the breaker stays open");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_request_is_the_probe_others_are_held_back() {
    let house = House::open().await;
    trip(&house, "/reviving/fail").await;
    let probe = probe(&house).await;
    let reply = house.get("/reviving/fail").await;
    drop(probe);
    house.assert_ended(&reply, held_back(Outcome::BreakerProbing)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_an_upstream_may_have_are_held_back() {
    let house = House::open().await;
    let first = house.begin("GET", "/narrow/hold", &[], "").await;
    house.origin.until_count(1).await;
    let reply = house.get("/narrow/hold").await;
    drop(first);
    house.assert_ended(&reply, held_back(Outcome::BreakerSaturated)).await;
}
