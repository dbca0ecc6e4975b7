//! What one caller gets another may have, if it does not depend on who asks.

use super::origin::{answer, cached};
use super::world::World;
use crate::support::client::get;
use crate::support::gateway::create_key;

#[tokio::test(flavor = "multi_thread")]
async fn a_hit_for_a_second_key_is_charged_like_any_other_request() {
    let world = World::new().await;
    let second = create_key(&world.toll.db, "acme").await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    let first = world.get("/a").await;
    let reply = get(&world.client, &world.url("/a"), &second).await;
    assert_eq!((reply.stage(), reply.outcome(), &reply.body[..]), ("cache", "cache_hit", &b"body"[..]));
    assert_eq!(reply.number("x-ratelimit-remaining"), first.number("x-ratelimit-remaining") - 1);
    assert_eq!(world.origin.last("/a").header("x-api-key"), "", "no key goes up, nor into what is stored");
    let funnel = world.books(2).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_answered_from_the_store_before_it_is_paid_for() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    sqlx::query("update bucket set tokens = 0").execute(&world.toll.db.pool).await.unwrap();
    let reply = world.get("/a").await;
    assert_eq!((reply.status, reply.stage()), (429, "quota"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_sets_a_cookie_is_never_given_to_another() {
    let world = World::new().await;
    let headers = [("cache-control", "max-age=60"), ("set-cookie", "session=mine")];
    let reply = world.twice("/a", [answer(200, &headers, "mine"), answer(200, &[], "yours")]).await;
    assert_eq!(
        (reply.outcome(), reply.header("set-cookie"), &reply.body[..]),
        ("forwarded", "", &b"yours"[..])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_in_the_request_does_not_keep_it_from_what_is_stored_for_all() {
    let world = World::new().await;
    world.origin.at("/a", [cached("max-age=60", "body")]);
    world.get("/a").await;
    assert_eq!(world.get_with("/a", &[("cookie", "a=b")]).await.outcome(), "cache_hit");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_told_apart_by_the_gateway_shares_only_what_is_public() {
    let world = World::with("identity = true").await;
    let second = create_key(&world.toll.db, "acme").await;
    for (target, control, outcome) in
        [("/mine", "max-age=60", "forwarded"), ("/all", "public, max-age=60", "cache_hit")]
    {
        world.origin.at(target, [cached(control, "body")]);
        world.get(target).await;
        assert_eq!(get(&world.client, &world.url(target), &second).await.outcome(), outcome, "{control}");
    }
    let by_key = [("cache-control", "public, max-age=60"), ("vary", "X-Toll-Key-Id")];
    world.origin.at("/each", [answer(200, &by_key, "body")]);
    world.get("/each").await;
    assert_eq!(get(&world.client, &world.url("/each"), &second).await.outcome(), "forwarded");
    assert_eq!(world.get("/each").await.outcome(), "cache_hit");
}
