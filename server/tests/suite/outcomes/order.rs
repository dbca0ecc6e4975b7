//! Two neighbouring rules broken at once: the earlier one answers.

use app::domain::outcome::Outcome;

use super::house::House;
use crate::support::client::Reply;
use crate::support::raw::RawClient;

const PREFLIGHT: [(&str, &str); 2] =
    [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")];

fn assert_outcome(reply: &Reply, outcome: Outcome) {
    assert_eq!(reply.outcome(), outcome.name());
    assert!(Outcome::from_name(reply.outcome()).is_some_and(|o| o.belongs_to(stage(reply))));
}

fn stage(reply: &Reply) -> app::domain::stage::Stage {
    app::domain::stage::Stage::from_name(reply.stage()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn within_the_route_stage_the_order_is_framing_path_route_loop_off_preflight_method_length() {
    let house = House::open().await;
    let loops = [("Via", "1.1 toll")];
    for (method, path, headers, expected) in [
        ("GET", "/nowhere/../x", &[("Host", "another.test")][..], Outcome::BadRequest),
        ("GET", "/nowhere/../x", &[], Outcome::BadPath),
        ("GET", "/nowhere", &loops, Outcome::NoRoute),
        ("GET", "/closed", &loops, Outcome::LoopDetected),
        ("OPTIONS", "/closed", &PREFLIGHT, Outcome::RouteOff),
        ("OPTIONS", "/orders", &PREFLIGHT, Outcome::Preflight),
        ("DELETE", "/orders", &[("Content-Length", "1025")], Outcome::MethodNotAllowed),
    ] {
        assert_outcome(&house.ask(method, path, headers).await, expected);
    }
    assert_eq!(house.origin.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_route_stage_answers_before_the_key_stage() {
    let house = House::open().await;
    // None of these has a key.
    for (method, path, headers, expected) in [
        ("GET", "/nowhere", &[][..], Outcome::NoRoute),
        ("GET", "/closed", &[], Outcome::RouteOff),
        ("DELETE", "/orders", &[], Outcome::MethodNotAllowed),
        ("POST", "/orders", &[("Content-Length", "1025")], Outcome::BodyTooLarge),
    ] {
        assert_outcome(&house.ask(method, path, headers).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn within_the_key_stage_the_order_is_shape_revoked_expired_suspended_granted() {
    let house = House::open().await;
    let keys = [house.key.clone(), house.key_of("banned").await, house.key_of("outcast").await];
    for (slug, change) in
        [("acme", "revoked_at = now(), expires_at = now()"), ("banned", "expires_at = now()")]
    {
        let change = format!(
            "update api_key set created_at = now() - interval '1 day', {change}
             where partner_id = (select id from partner where slug = $1)"
        );
        let change = sqlx::query(sqlx::AssertSqlSafe(change)).bind(slug);
        change.execute(&house.toll.db.pool).await.unwrap();
    }
    let malformed = format!("{}!", &house.key[..42]);
    for (key, expected) in [
        // Whatever is malformed is unknown, too.
        (malformed.as_str(), Outcome::KeyMalformed),
        (&keys[0], Outcome::KeyRevoked),
        (&keys[1], Outcome::KeyExpired),
        (&keys[2], Outcome::PartnerSuspended),
    ] {
        assert_outcome(&house.ask("GET", "/orders", &[("X-Api-Key", key)]).await, expected);
    }
}

async fn empty_the_bucket(house: &House, partner: &str) {
    sqlx::query("update bucket set tokens = 0 where partner_id = (select id from partner where slug = $1)")
        .bind(partner)
        .execute(&house.toll.db.pool)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_stage_answers_before_the_quota_stage() {
    let house = House::open().await;
    let key = house.key_of("choosy").await;
    empty_the_bucket(&house, "choosy").await;
    let asked = [("X-Api-Key", key.as_str())];
    assert_outcome(&house.ask("GET", "/orders", &asked).await, Outcome::KeyNotAllowed);
    assert_outcome(&house.ask("GET", "/stored", &asked).await, Outcome::QuotaSpent);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quota_stage_answers_before_the_cache_stage() {
    let house = House::open().await;
    let key = house.key_of("choosy").await;
    assert_outcome(&house.get("/stored/keep").await, Outcome::Forwarded);
    assert_outcome(&house.get("/stored/keep").await, Outcome::CacheHit);
    empty_the_bucket(&house, "choosy").await;
    let asked = [("X-Api-Key", key.as_str())];
    assert_outcome(&house.ask("GET", "/stored/keep", &asked).await, Outcome::QuotaSpent);
    let only = [("X-Api-Key", key.as_str()), ("Cache-Control", "only-if-cached")];
    let refused = house.ask("GET", "/stored/other", &only).await;
    assert!(["quota_spent", "quota_early_retry"].contains(&refused.outcome()), "{}", refused.outcome());
}

/// Shuts the door to the upstream of `path`.
async fn shut(house: &House, path: &str) {
    sqlx::query(
        "update breaker set state = 'open', opened_at = now(), generation = generation + 1
         where upstream_id = (select upstream_id from route where path = $1)",
    )
    .bind(path)
    .execute(&house.toll.db.pool)
    .await
    .unwrap();
    house.toll.node.gateway.breakers.refresh(&house.toll.db.pool, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_stage_answers_before_the_breaker_stage() {
    let house = House::open().await;
    assert_outcome(&house.get("/stored/keep").await, Outcome::Forwarded);
    shut(&house, "/stored").await;
    assert_outcome(&house.get("/stored/keep").await, Outcome::CacheHit);
    let only = [("X-Api-Key", house.key.as_str()), ("Cache-Control", "only-if-cached")];
    assert_outcome(&house.ask("GET", "/stored/other", &only).await, Outcome::CacheOnly);
    assert_outcome(&house.get("/stored/other").await, Outcome::BreakerOpen);
}

/// A body over the limit whose length nobody was told.
async fn too_large(house: &House, path: &str) -> RawClient {
    let chunk = format!("200000\r\n{}", "x".repeat(0x2000));
    house.begin("POST", path, &[("Transfer-Encoding", "chunked")], &chunk).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_breaker_stage_answers_before_the_proxy_stage_and_that_before_the_upstream() {
    let house = House::open().await;
    shut(&house, "/orders").await;
    assert_outcome(&too_large(&house, "/orders").await.head().await, Outcome::BreakerOpen);
    let mut client = too_large(&house, "/dead").await;
    client.send("x".repeat(0x1f_e001)).await;
    assert_outcome(&client.head().await, Outcome::BodyTooLarge);
    assert_outcome(&house.get("/dead").await, Outcome::UpstreamUnreachable);
}
