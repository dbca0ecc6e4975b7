//! The breaker across two processes, one of which is killed while its probe is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use futures::future::join_all;
use sqlx::PgPool;
use time::OffsetDateTime;

use super::{Machine, catalog};
use crate::support::client::{client, get};
use crate::support::database::TestDatabase;
use crate::support::origin::Origin;
use crate::support::toll::PATIENCE;

/// The lease of a probe is one second longer than connecting and waiting may take together: four seconds.
const UPSTREAM: &str = r#"
connect_timeout = "1s"
timeout = "2s"
breaker = { failures = 3, window = "10s", open_for = "1s", max_in_flight = 500 }
"#;
/// After it the door is no longer shut.
const OPEN_FOR: Duration = Duration::from_millis(1_100);

async fn state(db: &PgPool) -> String {
    sqlx::query_scalar("select state from breaker").fetch_one(db).await.unwrap()
}

async fn until_state(db: &PgPool, wanted: &str) {
    let deadline = Instant::now() + PATIENCE;
    while state(db).await != wanted {
        assert!(Instant::now() < deadline, "the breaker is not {wanted}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_a_hundred_through_two_nodes_is_the_probe_and_a_killed_prober_loses_its_lease() {
    let awake = Arc::new(AtomicBool::new(false));
    let answers = awake.clone();
    let origin = Origin::start(move |_| {
        let answers = answers.clone();
        async move {
            if !answers.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_secs(30)).await;
            }
            Response::new(Body::from("ok"))
        }
    })
    .await;
    let db = TestDatabase::new().await;
    let machines = [Machine::on(&db.url), Machine::on(&db.url)];
    machines[0].apply(&catalog(&origin, UPSTREAM, 100_000, 0.0));
    let (_, key) = machines[0].create_key("acme");
    let [mut first, second] = machines.each_ref().map(Machine::serve);
    let urls = [&first, &second].map(|node| format!("{}/api/orders", node.url));
    let client = client();

    join_all((0..3).map(|_| get(&client, &urls[0], &key))).await;
    until_state(&db.pool, "open").await;
    tokio::time::sleep(OPEN_FOR).await;
    let before = origin.count();
    let timed = join_all((0..100).map(|n| {
        let (client, url, key) = (&client, &urls[n % 2], &key);
        async move {
            let began = Instant::now();
            (get(client, url, key).await, began.elapsed())
        }
    }))
    .await;
    assert_eq!(origin.count() - before, 1);
    let (refused, probe): (Vec<_>, Vec<_>) = timed.into_iter().partition(|(reply, _)| reply.status == 503);
    assert_eq!((refused.len(), probe.len()), (99, 1));
    assert_eq!(probe[0].0.outcome(), "upstream_timeout");
    for (reply, took) in refused {
        assert!(reply.number("retry-after") >= 1);
        assert!(took < probe[0].1, "answered after {took:?}, no sooner than the probe");
    }

    until_state(&db.pool, "open").await;
    tokio::time::sleep(OPEN_FOR).await;
    let before = origin.count();
    let (asker, url, its_key) = (client.clone(), urls[1].clone(), key.clone());
    let cut_off =
        tokio::spawn(async move { asker.get(url).header("x-api-key", its_key).send().await.is_err() });
    let deadline = Instant::now() + PATIENCE;
    while origin.count() == before {
        assert!(Instant::now() < deadline, "the probe does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(state(&db.pool).await, "half_open");
    second.kill();
    assert!(cut_off.await.unwrap());
    awake.store(true, Ordering::SeqCst);
    assert_eq!(get(&client, &urls[0], &key).await.outcome(), "breaker_probing");
    let (lease, now): (OffsetDateTime, OffsetDateTime) =
        sqlx::query_as("select lease_until, clock_timestamp() from breaker")
            .fetch_one(&db.pool)
            .await
            .unwrap();
    assert!(lease - now <= time::Duration::seconds(4), "a lease of {}", lease - now);
    until_state(&db.pool, "open").await;
    let now: OffsetDateTime =
        sqlx::query_scalar("select clock_timestamp()").fetch_one(&db.pool).await.unwrap();
    // Nodes look for it every second; a busy machine may be late.
    assert!((0..10).contains(&(now - lease).whole_seconds()), "{} past its lease", now - lease);

    tokio::time::sleep(OPEN_FOR).await;
    assert_eq!(get(&client, &urls[0], &key).await.status, 200);
    until_state(&db.pool, "closed").await;
    assert_eq!(first.stop(), Some(0));
}
