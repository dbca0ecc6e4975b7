//! Traffic over time, shut doors and latency: the same numbers as the funnel's, step by step.

use app::books::{Filter, funnel};
use app::breakers::{Hand, HeldBack, by_hand, held_back, opened, outages};
use app::cache_use::cache_use;
use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::over_time::{by_upstream, over_time};
use rand::prelude::*;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::support::database::TestDatabase;
use crate::support::traffic::{catalog, ended, write};

#[tokio::test]
async fn the_steps_of_any_window_sum_to_the_funnel() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let mut random = StdRng::seed_from_u64(8);
    let now = OffsetDateTime::now_utc();
    let mut minutes = Vec::new();
    for _ in 0..150 {
        let mut records = Vec::new();
        for _ in 0..random.random_range(1..6) {
            let outcomes = [
                (Stage::Route, Outcome::NoRoute),
                (Stage::Quota, Outcome::QuotaSpent),
                (Stage::Breaker, Outcome::BreakerOpen),
                (Stage::Proxy, Outcome::UpstreamUnreachable),
                (Stage::Proxy, Outcome::Forwarded),
            ];
            let (stage, outcome) = *outcomes.choose(&mut random).unwrap();
            let mut record = ended(stage, outcome);
            if stage != Stage::Route {
                record.route = *catalog.routes.choose(&mut random).unwrap();
                record.partner = *catalog.partners.choose(&mut random).unwrap();
            }
            records.push(record);
        }
        minutes.push((now - Duration::minutes(random.random_range(0..40 * 24 * 60)), records));
    }
    write(&db, minutes).await;
    for span in [
        Duration::minutes(15),
        Duration::hours(1),
        Duration::hours(6),
        Duration::hours(24),
        Duration::days(7),
        Duration::days(30),
        Duration::days(45),
    ] {
        let window = Window::last(span, now);
        for partner in [None, Some(catalog.partners[0])] {
            let of = Filter { partner, route: None };
            let funnel = funnel(&db, window, &of).await.unwrap();
            let traffic = over_time(&db, window, &of).await.unwrap();
            for line in &funnel.stages {
                let reached = if line.stage == Stage::Proxy { funnel.reached_upstream } else { 0 };
                assert_eq!(traffic.total(line.stage), line.stopped + reached, "{span} {partner:?}");
            }
        }
        // What has no route leads to no upstream.
        let all = over_time(&db, window, &Filter::default()).await.unwrap();
        let billing = by_upstream(&db, window).await.unwrap().of(catalog.upstream);
        for stage in Stage::ALL {
            let routed = if stage == Stage::Route { 0 } else { all.total(stage) };
            assert_eq!(billing.total(stage), routed, "{span}");
        }
    }
}

/// A transition that happened some minutes ago.
async fn moved(db: &PgPool, upstream: i64, minutes_ago: i32, state: &str, reason: &str) {
    sqlx::query(
        "insert into breaker_event (upstream_id, at, state, generation, reason)
         values ($1, date_trunc('minute', now()) - make_interval(mins => $2), $3, 1, $4)",
    )
    .bind(upstream)
    .bind(minutes_ago)
    .bind(state)
    .bind(reason)
    .execute(db)
    .await
    .unwrap();
}

#[tokio::test]
async fn an_outage_lasts_from_the_first_opening_to_the_closing_and_names_whom_it_held_back() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let upstream = catalog.upstream;
    for (ago, state, reason) in [
        (200, "open", "before the window"),
        (150, "closed", "the probe succeeded"),
        (50, "open", "5 failures"),
        (48, "half_open", "a probe was sent"),
        (48, "open", "the probe failed"),
        (40, "closed", "the probe succeeded"),
        (10, "open", "3 failures"),
    ] {
        moved(&db, upstream, ago, state, reason).await;
    }
    let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(&db).await.unwrap();
    let of = |partner: usize, outcome, count: usize| {
        let mut record = ended(Stage::Breaker, outcome);
        (record.route, record.partner) = (catalog.routes[1], catalog.partners[partner]);
        vec![record; count]
    };
    let ago = |minutes| now - Duration::minutes(minutes);
    write(
        &db,
        vec![
            (ago(60), of(0, Outcome::BreakerSaturated, 9)),
            (ago(49), of(0, Outcome::BreakerOpen, 3)),
            (ago(48), of(1, Outcome::BreakerProbing, 2)),
            (ago(45), of(0, Outcome::BreakerSaturated, 9)),
            (ago(5), of(1, Outcome::BreakerOpen, 7)),
        ],
    )
    .await;

    let window = Window::last(Duration::hours(2), now);
    let outages = outages(&db, window, None).await.unwrap();
    let told: Vec<_> = outages.iter().map(|outage| (outage.reason.as_str(), outage.to.is_some())).collect();
    assert_eq!(told, [("3 failures", false), ("5 failures", true)]);
    let held = held_back(&db, &outages, now, 10).await.unwrap();
    let partners: Vec<_> = held.iter().map(|held| held.partners.clone()).collect();
    let name = |slug: &str, requests| (slug.to_owned(), requests);
    assert_eq!(partners, [vec![name("globex", 7)], vec![name("acme", 3), name("globex", 2)]]);
    assert_eq!((held[1].requests, held[1].outages.len()), (5, 1));

    let (opened, all) = opened(&db, window, &outages).await.unwrap();
    assert_eq!(all, HeldBack { requests: 12, partners: 2 });
    let [one] = opened.as_slice() else { panic!("{opened:?}") };
    assert_eq!((one.times, one.held), (2, all));
    assert_eq!(one.newest.reason, "3 failures");
    // Of an outage that began before, only what is within the window counts.
    let since = Window::last(Duration::minutes(49), now);
    let (opened, all) = app::breakers::opened(&db, since, &outages).await.unwrap();
    assert!(opened[0].first < since.from && all == HeldBack { requests: 9, partners: 1 }, "{all:?}");
}

async fn state(db: &PgPool, upstream: i64) -> (String, i64) {
    sqlx::query_as("select state, generation from breaker where upstream_id = $1")
        .bind(upstream)
        .fetch_one(db)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_breaker_is_opened_and_closed_by_hand_once_and_says_by_whom() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let upstream = catalog(&db).await.upstream;
    sqlx::query("insert into breaker (upstream_id) values ($1)").bind(upstream).execute(&db).await.unwrap();

    let hold = Hand::Open(Duration::minutes(10));
    assert!(by_hand(&db, upstream, 1, hold, "ada@example.com").await.unwrap());
    assert_eq!(state(&db, upstream).await, ("open".into(), 2));
    // Somebody else has seen the breaker before that.
    assert!(!by_hand(&db, upstream, 1, hold, "bob@example.com").await.unwrap());
    let due: OffsetDateTime = sqlx::query_scalar(
        "select opened_at + make_interval(secs => breaker_open_ms / 1000.0)
         from breaker join upstream on id = upstream_id",
    )
    .fetch_one(&db)
    .await
    .unwrap();
    let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(&db).await.unwrap();
    assert!((due - now - Duration::minutes(10)).abs() < Duration::minutes(1), "{due}");

    assert!(by_hand(&db, upstream, 2, Hand::Close, "ada@example.com").await.unwrap());
    assert_eq!(state(&db, upstream).await, ("closed".into(), 3));
    assert!(!by_hand(&db, upstream, 3, Hand::Close, "ada@example.com").await.unwrap());
    let events = "select state, reason, by_hand from breaker_event order by id";
    let events: Vec<(String, String, bool)> = sqlx::query_as(events).fetch_all(&db).await.unwrap();
    let event = |state: &str, reason: &str| (state.to_owned(), reason.to_owned(), true);
    assert_eq!(
        events,
        [
            event("open", "opened by ada@example.com for 10 minutes"),
            event("closed", "closed by ada@example.com")
        ]
    );
}

#[tokio::test]
async fn the_cache_is_told_by_what_it_served_what_that_saved_and_why_it_did_not() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    sqlx::query("update route set cache = true where name = 'orders'").execute(&db).await.unwrap();
    let now = OffsetDateTime::now_utc();
    let orders = |stage, outcome, miss, count: usize| {
        let mut record = ended(stage, outcome);
        (record.route, record.cache_miss) = (catalog.routes[0], miss);
        record.stage_us = [0, 0, 0, 0, 0, 500_000];
        record.upstream_calls = u16::from(outcome == Outcome::CacheStale);
        vec![record; count]
    };
    let mut records = orders(Stage::Cache, Outcome::CacheHit, None, 6);
    records.extend(orders(Stage::Cache, Outcome::CacheStale, None, 2));
    records.extend(orders(Stage::Cache, Outcome::CacheOnly, None, 1));
    records.extend(orders(Stage::Breaker, Outcome::BreakerOpen, Some(CacheMiss::First), 3));
    records.extend(orders(Stage::Proxy, Outcome::Forwarded, Some(CacheMiss::First), 2));
    records.extend(orders(Stage::Proxy, Outcome::Forwarded, Some(CacheMiss::Vary), 1));
    records.extend(orders(Stage::Quota, Outcome::QuotaSpent, None, 50));
    write(&db, vec![(now, records)]).await;

    let routes = cache_use(&db, Window::last(Duration::HOUR, now)).await.unwrap();
    assert_eq!(routes.len(), 1, "billing does not cache");
    let orders = &routes[0];
    assert_eq!((orders.route.as_str(), orders.asked, orders.hits()), ("orders", 15, 8));
    assert_eq!(orders.misses, [(CacheMiss::First, 5), (CacheMiss::Vary, 1)]);
    // Two were refreshed in the background.
    assert_eq!((orders.saved_calls(), orders.saved_us()), (6, 3_000_000));
}
