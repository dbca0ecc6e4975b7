//! The breaker through the gateway: shared state, one probe, and who is to blame.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use futures::future::join_all;

use crate::support::catalog::declare;
use crate::support::client::{Reply, client, get};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway, create_key};
use crate::support::origin::Origin;
use crate::support::toll::PATIENCE;

const BREAKER: &str = r#"{ failures = 3, window = "60s", open_for = "2s", max_in_flight = 500 }"#;
/// After it the door is no longer shut.
const OPEN_FOR: Duration = Duration::from_millis(2_100);

async fn set_up(origin: &Origin, breaker: &str) -> (TestGateway, String) {
    let db = TestDatabase::new().await;
    let file = format!(
        r#"
        [[upstream]]
        name = "billing"
        urls = ["{}"]
        timeout = "2s"
        breaker = {breaker}
        [[plan]]
        name = "free"
        capacity = 100000
        refill_per_second = 0.0
        [[route]]
        name = "billing"
        path = "/billing"
        upstream = "billing"
        [[partner]]
        slug = "acme"
        name = "Acme"
        plan = "free"
        "#,
        origin.url()
    );
    declare(&db.pool, &file).await;
    let key = create_key(&db, "acme").await;
    (TestGateway::on(db, &Options::default()).await, key)
}

/// Accepts every request and answers only while `awake`.
async fn sleeper(awake: Arc<AtomicBool>) -> Origin {
    Origin::start(move |_| {
        let awake = awake.clone();
        async move {
            if !awake.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
            Response::new(Body::from("ok"))
        }
    })
    .await
}

async fn status(origin_status: Arc<AtomicU16>) -> Origin {
    Origin::start(move |_| {
        let status = origin_status.load(Ordering::SeqCst);
        async move { Response::builder().status(status).body(Body::from("body")).unwrap() }
    })
    .await
}

/// Failures until the door is shut, in the database and for this node.
async fn trip(toll: &TestGateway, url: &str, key: &str, failures: usize) {
    let client = client();
    join_all((0..failures).map(|_| get(&client, url, key))).await;
    wait_for_state(toll, "open").await;
}

/// The row is so, and this node has heard of it.
async fn wait_for_state(toll: &TestGateway, state: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (upstream, now): (i64, String) =
            sqlx::query_as("select upstream_id, state from breaker").fetch_one(&toll.db.pool).await.unwrap();
        let seen = format!("{:?}", toll.node.gateway.breakers.of(upstream).view().state);
        if now == state && seen.to_lowercase().starts_with(&state.replace('_', "")) {
            return;
        }
        assert!(Instant::now() < deadline, "the breaker is {now}, seen as {seen}, not {state}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn tally(replies: &[Reply]) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for reply in replies {
        *tally.entry(reply.outcome().to_owned()).or_default() += 1;
    }
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn after_its_time_exactly_one_of_a_hundred_reaches_the_upstream_and_the_others_are_answered_at_once() {
    let awake = Arc::new(AtomicBool::new(false));
    let origin = sleeper(awake.clone()).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let url = toll.url("/api/billing");
    trip(&toll, &url, &key, 3).await;

    let open = get(&client(), &url, &key).await;
    assert_eq!((open.status, open.stage(), open.outcome()), (503, "breaker", "breaker_open"));
    assert!((1..=2).contains(&open.number("retry-after")));

    tokio::time::sleep(OPEN_FOR).await;
    let (before, client) = (origin.count(), client());
    let timed = join_all((0..100).map(|_| async {
        let began = Instant::now();
        (get(&client, &url, &key).await, began.elapsed())
    }))
    .await;
    assert_eq!(origin.count() - before, 1);
    let (refused, probe): (Vec<_>, Vec<_>) = timed.into_iter().partition(|(reply, _)| reply.status == 503);
    assert_eq!((refused.len(), probe.len()), (99, 1));
    assert_eq!(probe[0].0.outcome(), "upstream_timeout");
    for (reply, took) in refused {
        assert!(reply.number("retry-after") >= 1);
        assert!(["breaker_probing", "breaker_open"].contains(&reply.outcome()), "{}", reply.outcome());
        assert!(took < probe[0].1, "answered after {took:?}, no sooner than the probe");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_succeeds_closes_it_for_everybody() {
    let code = Arc::new(AtomicU16::new(503));
    let origin = status(code.clone()).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let url = toll.url("/api/billing");
    trip(&toll, &url, &key, 3).await;
    code.store(200, Ordering::SeqCst);
    tokio::time::sleep(OPEN_FOR).await;
    assert_eq!(get(&client(), &url, &key).await.status, 200);
    wait_for_state(&toll, "closed").await;
    let client = client();
    let replies = join_all((0..50).map(|_| get(&client, &url, &key))).await;
    assert_eq!(tally(&replies), BTreeMap::from([("forwarded".into(), 50)]));
    let states: Vec<String> = sqlx::query_scalar("select state from breaker_event order by id")
        .fetch_all(&toll.db.pool)
        .await
        .unwrap();
    assert_eq!(states, ["open", "half_open", "closed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_below_500_and_those_of_strange_requests_never_open_the_breaker() {
    let code = Arc::new(AtomicU16::new(404));
    let origin = status(code.clone()).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let (client, url) = (client(), toll.url("/api/billing"));
    for bad in [404, 429, 501, 505] {
        code.store(bad, Ordering::SeqCst);
        let replies = join_all((0..5).map(|_| get(&client, &url, &key))).await;
        assert!(replies.iter().all(|reply| reply.status == bad && reply.outcome() == "forwarded"));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(get(&client, &url, &key).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_hang_up_never_open_the_breaker() {
    let origin = sleeper(Arc::new(AtomicBool::new(false))).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let (client, url) = (client(), toll.url("/api/billing"));
    join_all((0..20).map(|_| async {
        let request = client.get(&url).header("x-api-key", &key).timeout(Duration::from_millis(100)).send();
        assert!(request.await.is_err());
    }))
    .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (state, failures): (String, i32) = sqlx::query_as("select state, cardinality(failures) from breaker")
        .fetch_one(&toll.db.pool)
        .await
        .unwrap();
    assert_eq!((state.as_str(), failures), ("closed", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_whose_client_leaves_gives_its_place_to_the_next_request() {
    let awake = Arc::new(AtomicBool::new(false));
    let origin = sleeper(awake.clone()).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let (client, url) = (client(), toll.url("/api/billing"));
    trip(&toll, &url, &key, 3).await;
    tokio::time::sleep(OPEN_FOR).await;
    let probe = client.get(&url).header("x-api-key", &key).timeout(Duration::from_millis(700)).send();
    assert!(probe.await.is_err());
    awake.store(true, Ordering::SeqCst);
    wait_for_state(&toll, "open").await;
    assert_eq!(get(&client, &url, &key).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_may_be_in_flight_are_refused_as_saturated() {
    let awake = Arc::new(AtomicBool::new(false));
    let origin = sleeper(awake.clone()).await;
    let breaker = r#"{ failures = 1000, window = "10s", open_for = "1s", max_in_flight = 10 }"#;
    let (toll, key) = set_up(&origin, breaker).await;
    let (client, url) = (client(), toll.url("/api/billing"));
    let replies = join_all((0..30).map(|_| get(&client, &url, &key))).await;
    let expected = BTreeMap::from([("breaker_saturated".into(), 20), ("upstream_timeout".into(), 10)]);
    assert_eq!(tally(&replies), expected);
    awake.store(true, Ordering::SeqCst);
    assert_eq!(get(&client, &url, &key).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_never_reports_loses_its_lease() {
    let code = Arc::new(AtomicU16::new(500));
    let origin = status(code.clone()).await;
    let (toll, key) = set_up(&origin, BREAKER).await;
    let url = toll.url("/api/billing");
    trip(&toll, &url, &key, 3).await;
    // As a node leaves it that was killed while its probe was under way.
    sqlx::query(
        "update breaker set state = 'half_open', probe = gen_random_uuid(), generation = generation + 1,
                            lease_until = now() + interval '700 milliseconds'",
    )
    .execute(&toll.db.pool)
    .await
    .unwrap();
    wait_for_state(&toll, "open").await;
    let reason: String = sqlx::query_scalar("select reason from breaker_event order by id desc limit 1")
        .fetch_one(&toll.db.pool)
        .await
        .unwrap();
    assert_eq!(reason, "the probe never reported");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_breaker_is_open_on_every_node_and_only_one_of_both_sends_the_probe() {
    let origin = sleeper(Arc::new(AtomicBool::new(false))).await;
    let (first, key) = set_up(&origin, BREAKER).await;
    let db = TestDatabase { pool: first.db.pool.clone(), url: first.db.url.clone() };
    let second = TestGateway::on(db, &Options::default()).await;
    trip(&first, &first.url("/api/billing"), &key, 3).await;
    wait_for_state(&second, "open").await;
    assert_eq!(get(&client(), &second.url("/api/billing"), &key).await.outcome(), "breaker_open");

    tokio::time::sleep(OPEN_FOR).await;
    let (before, client) = (origin.count(), client());
    let urls = [first.url("/api/billing"), second.url("/api/billing")];
    let replies = join_all((0..100).map(|n| get(&client, &urls[n % 2], &key))).await;
    assert_eq!(origin.count() - before, 1);
    assert_eq!(replies.iter().filter(|reply| reply.status == 503).count(), 99);
}
