//! What the quota stage refuses.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::Driven;
use super::everywhere::Ending;
use super::house::House;

pub const DRIVEN: &[Driven] = &[
    (Outcome::QuotaSpent, who_finds_the_bucket_empty_has_spent_its_quota),
    (Outcome::QuotaEarlyRetry, who_comes_back_before_its_time_retries_too_early),
    (Outcome::QuotaUnavailable, without_the_database_the_quota_is_unavailable_if_so_set),
];

#[tokio::test(flavor = "multi_thread")]
async fn who_finds_the_bucket_empty_has_spent_its_quota() {
    let house = House::open().await;
    let key = house.key_of("thrifty").await;
    let served = house.ask("GET", "/orders/7", &[("X-Api-Key", &key)]).await;
    assert_eq!((served.status, served.header("x-ratelimit-remaining")), (200, "0"));
    let reply = house.ask("GET", "/orders/7", &[("X-Api-Key", &key)]).await;
    assert_eq!((reply.header("x-ratelimit-limit"), reply.header("x-ratelimit-remaining")), ("1", "0"));
    assert_eq!(reply.header("retry-after"), "86400");
    house.assert_ended(&reply, Ending::early(Stage::Quota, Outcome::QuotaSpent)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_before_its_time_retries_too_early() {
    let house = House::open().await;
    let key = house.key_of("thrifty").await;
    let mut replies = Vec::new();
    for _ in 0..3 {
        replies.push(house.ask("GET", "/orders/7", &[("X-Api-Key", &key)]).await);
    }
    let outcomes: Vec<_> = replies.iter().map(|reply| reply.outcome()).collect();
    assert_eq!(outcomes, ["forwarded", "quota_spent", "quota_early_retry"]);
    house.assert_ended(&replies[2], Ending::early(Stage::Quota, Outcome::QuotaEarlyRetry)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_the_quota_is_unavailable_if_so_set() {
    let (house, flaky) = House::before_a_flaky_database(&[("on_store_failure", "refuse")]).await;
    assert_eq!(house.get("/orders/7").await.status, 200);
    flaky.go_away();
    let reply = house.get("/orders/7").await;
    flaky.come_back();
    house.assert_ended(&reply, Ending::early(Stage::Quota, Outcome::QuotaUnavailable)).await;
}
