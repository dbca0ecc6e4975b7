//! What ends after the upstream was reached.

use app::domain::outcome::Outcome;

use super::Driven;
use super::everywhere::{Ending, assert_told};
use super::house::House;

pub const DRIVEN: &[Driven] = &[
    (Outcome::Forwarded, an_answer_is_forwarded_whatever_its_status),
    (Outcome::Revalidated, an_upstream_that_says_304_renews_what_is_stored),
    (Outcome::StaleOnError, what_is_stored_covers_for_an_upstream_that_fails),
    (Outcome::UpstreamTimeout, an_upstream_that_does_not_answer_has_timed_out),
    (Outcome::UpstreamBroken, an_upstream_that_hangs_up_is_broken),
    (Outcome::Upgraded, an_upgraded_connection_is_in_the_books_until_it_is_closed),
];

/// What a client is told whose answer's head is out by the time things go wrong.
const PROMISED: Ending = Ending {
    stage: app::domain::stage::Stage::Proxy,
    outcome: Outcome::Forwarded,
    status: 200,
    upstream: Some(200),
};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_forwarded_whatever_its_status() {
    let house = House::open().await;
    let reply = house.get("/orders/7").await;
    assert_eq!(reply.body, "ok");
    house.assert_ended(&reply, PROMISED).await;

    let house = House::open().await;
    let reply = house.get("/orders/fail").await;
    let funnel = house.assert_ended(&reply, Ending::late(Outcome::Forwarded, 500, 500)).await;
    assert_eq!((funnel.reached_upstream, funnel.statuses.server_error), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_says_304_renews_what_is_stored() {
    let house = House::open().await;
    assert_eq!(house.get("/stored/same").await.outcome(), "forwarded");
    let reply = house.get("/stored/same").await;
    assert_eq!(reply.body, "old");
    let funnel = house.assert_ended(&reply, Ending::late(Outcome::Revalidated, 200, 304)).await;
    assert_eq!((funnel.statuses.success, funnel.statuses.redirection), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_covers_for_an_upstream_that_fails() {
    let house = House::open().await;
    assert_eq!(house.get("/stored/faint").await.outcome(), "forwarded");
    let reply = house.get("/stored/faint").await;
    assert_eq!(reply.body, "old");
    let funnel = house.assert_ended(&reply, Ending::late(Outcome::StaleOnError, 200, 500)).await;
    assert_eq!((funnel.statuses.success, funnel.statuses.server_error), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_does_not_answer_has_timed_out() {
    let house = House::open().await;
    let reply = house.get("/impatient/hold").await;
    let funnel = house.assert_ended(&reply, Ending::late(Outcome::UpstreamTimeout, 504, 0)).await;
    assert_eq!(funnel.statuses.no_answer, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_hangs_up_is_broken() {
    let house = House::open().await;
    let reply = house.get("/orders/close").await;
    let funnel = house.assert_ended(&reply, Ending::late(Outcome::UpstreamBroken, 502, 0)).await;
    assert_eq!(funnel.statuses.no_answer, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_the_upstream_breaks_off_is_aborted_and_the_books_decide() {
    let house = House::open().await;
    let mut client = house.begin("GET", "/orders/cut", &[], "").await;
    assert_told(&client.head().await, PROMISED);
    assert_eq!(client.rest().await, "the first few");
    house.in_the_books(Ending::late(Outcome::UpstreamBroken, 200, 200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_stops_coming_is_aborted_and_the_books_decide() {
    let house = House::with(&[("body_idle", "200ms")]).await;
    let mut client = house.begin("GET", "/orders/drip", &[], "").await;
    assert_told(&client.head().await, PROMISED);
    assert_eq!(client.rest().await, "the first few");
    house.in_the_books(Ending::late(Outcome::UpstreamTimeout, 200, 200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgraded_connection_is_in_the_books_until_it_is_closed() {
    let house = House::open().await;
    let asked = [("Connection", "Upgrade"), ("Upgrade", "echo")];
    let mut client = house.begin("GET", "/orders/upgrade", &asked, "").await;
    let switched = client.head().await;
    assert_told(&switched, Ending::late(Outcome::Upgraded, 101, 101));
    client.send("is anybody there?").await;
    assert_eq!(client.exactly(17).await, "is anybody there?");
    assert_eq!((house.toll.node.probe())().in_flight, 1);
    drop(client);
    let (funnel, row) = house.in_the_books(Ending::late(Outcome::Upgraded, 101, 101)).await;
    assert_eq!(switched.header("x-toll-id"), row.id.to_string());
    // Counted, and not timed.
    assert_eq!((funnel.statuses.informational, funnel.latency.counts.iter().sum::<u64>()), (1, 0));
    assert!(!row.timed);
}
