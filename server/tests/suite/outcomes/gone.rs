//! Clients that leave: the books say at which stage.

use std::time::{Duration, Instant};

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use sqlx::{AssertSqlSafe, Executor};

use super::Driven;
use super::everywhere::{Ending, assert_told};
use super::house::House;
use crate::support::toll::PATIENCE;

pub const DRIVEN: &[Driven] =
    &[(Outcome::ClientGone, who_leaves_while_its_key_is_looked_up_is_gone_at_the_key_stage)];

const GONE: Outcome = Outcome::ClientGone;

/// Waits until a statement of the gateway waits for a table that the test has locked.
async fn until_blocked(house: &House, table: &str) {
    let deadline = Instant::now() + PATIENCE;
    let blocked = "select count(*) from pg_locks where relation = to_regclass($1) and not granted
        and database = (select oid from pg_database where datname = current_database())";
    while sqlx::query_scalar::<_, i64>(blocked).bind(table).fetch_one(&house.toll.db.pool).await.unwrap() == 0
    {
        assert!(Instant::now() < deadline, "nobody waits for the lock");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn until_nobody_is_inside(house: &House) {
    let (deadline, probe) = (Instant::now() + PATIENCE, house.toll.node.probe());
    while probe().in_flight > 0 {
        assert!(Instant::now() < deadline, "the request is still inside");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A client leaves while the gateway's statement waits for a table that is locked in a mode.
async fn leave_behind(house: &House, table: &str, mode: &str) {
    let mut holder = house.connection().await;
    holder.execute(AssertSqlSafe(format!("begin; lock table {table} in {mode} mode"))).await.unwrap();
    let client = house.begin("GET", "/orders/7", &[], "").await;
    until_blocked(house, table).await;
    drop(client);
    until_nobody_is_inside(house).await;
    holder.execute("rollback").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_while_its_key_is_looked_up_is_gone_at_the_key_stage() {
    let house = House::open().await;
    leave_behind(&house, "api_key", "access exclusive").await;
    house.in_the_books(Ending::early(Stage::Key, GONE)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_while_it_waits_for_a_token_is_gone_at_the_quota_stage() {
    let house = House::open().await;
    leave_behind(&house, "bucket", "exclusive").await;
    house.in_the_books(Ending::early(Stage::Quota, GONE)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_within_its_body_is_gone_before_the_upstream_is_reached() {
    let house = House::open().await;
    let client = house.begin("POST", "/orders", &[("Content-Length", "10")], "four").await;
    house.until_arrived(1).await;
    drop(client);
    house.in_the_books(Ending::early(Stage::Proxy, GONE)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_before_the_upstream_answers_is_gone_and_the_upstream_was_reached() {
    let house = House::open().await;
    let client = house.begin("GET", "/orders/hold", &[], "").await;
    house.origin.until_count(1).await;
    drop(client);
    let (funnel, _) = house.in_the_books(Ending::late(GONE, 499, 0)).await;
    assert_eq!((funnel.reached_upstream, funnel.statuses.no_answer), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_within_the_answer_is_gone_though_its_head_said_forwarded() {
    let house = House::open().await;
    let mut client = house.begin("GET", "/orders/drip", &[], "").await;
    assert_told(&client.head().await, Ending::late(Outcome::Forwarded, 200, 200));
    client.exactly(9).await;
    drop(client);
    house.in_the_books(Ending::late(GONE, 499, 200)).await;
}
