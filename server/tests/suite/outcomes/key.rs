//! What the key stage answers.

use app::domain::key_text;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::Driven;
use super::everywhere::Ending;
use super::house::House;

pub const DRIVEN: &[Driven] = &[
    (Outcome::KeyMissing, who_sends_no_key_is_told_to),
    (Outcome::KeyMalformed, a_key_with_a_typo_is_malformed),
    (Outcome::KeyUnknown, a_key_that_was_never_made_is_unknown),
    (Outcome::KeyRevoked, a_revoked_key_is_called_revoked),
    (Outcome::KeyExpired, an_expired_key_is_called_expired),
    (Outcome::KeyNotAllowed, a_route_that_is_not_in_the_plan_is_not_allowed),
    (Outcome::PartnerSuspended, a_suspended_partner_is_told_so),
    (Outcome::KeyUnverifiable, a_key_not_seen_before_cannot_be_verified_without_the_database),
];

async fn assert_refused(house: &House, key: &str, outcome: Outcome) {
    let headers = [("X-Api-Key", key)];
    let headers = if key.is_empty() { &headers[1..] } else { &headers[..] };
    let reply = house.ask("GET", "/orders/7", headers).await;
    house.assert_ended(&reply, Ending::early(Stage::Key, outcome)).await;
    let kept: i64 =
        sqlx::query_scalar("select count(*) from request_log l where l::text like '%' || $1 || '%'")
            .bind(if key.is_empty() { "toll_" } else { key })
            .fetch_one(&house.toll.db.pool)
            .await
            .unwrap();
    assert_eq!(kept, 0, "a key stands in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_no_key_is_told_to() {
    assert_refused(&House::open().await, "", Outcome::KeyMissing).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_a_typo_is_malformed() {
    let house = House::open().await;
    let typo = format!("{}{}", &house.key[..42], if house.key.ends_with('x') { 'y' } else { 'x' });
    assert_refused(&house, &typo, Outcome::KeyMalformed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_never_made_is_unknown() {
    assert_refused(&House::open().await, &key_text::key_from([7; 32]), Outcome::KeyUnknown).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_called_revoked() {
    let house = House::open().await;
    let revoke = "update api_key set revoked_at = now()";
    sqlx::query(revoke).execute(&house.toll.db.pool).await.unwrap();
    assert_refused(&house, &house.key, Outcome::KeyRevoked).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_key_is_called_expired() {
    let house = House::open().await;
    let expire =
        "update api_key set created_at = now() - interval '2 days', expires_at = now() - interval '1 day'";
    sqlx::query(expire).execute(&house.toll.db.pool).await.unwrap();
    assert_refused(&house, &house.key, Outcome::KeyExpired).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_not_in_the_plan_is_not_allowed() {
    let house = House::open().await;
    let key = house.key_of("choosy").await;
    assert_refused(&house, &key, Outcome::KeyNotAllowed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_partner_is_told_so() {
    let house = House::open().await;
    let key = house.key_of("banned").await;
    assert_refused(&house, &key, Outcome::PartnerSuspended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_not_seen_before_cannot_be_verified_without_the_database() {
    let (house, flaky) = House::before_a_flaky_database(&[]).await;
    flaky.go_away();
    let reply = house.get("/orders/7").await;
    flaky.come_back();
    house.assert_ended(&reply, Ending::early(Stage::Key, Outcome::KeyUnverifiable)).await;
}
