//! Rollups of every grain are what the log sums to.

use std::sync::Arc;

use app::books::{Filter, funnel};
use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use rand::prelude::*;
use time::{Duration, OffsetDateTime};
use toll::clock::Clock;
use toll::ledger::record::End;
use toll::ledger::{Ledger, LedgerSettings};

use super::{Books, flush, start};
use crate::support::books::{
    assert_hours_and_days_of_the_door_sum_its_minutes, assert_rollups_are_what_the_log_sums_to,
};

/// A few thousand requests of all kinds over the last days, shipped in several batches.
async fn any_books(requests: usize) -> Books {
    let books = Books::new().await;
    let clock = Arc::new(Clock::at(OffsetDateTime::now_utc()));
    let settings = LedgerSettings { lanes: 2, segment_bytes: 1 << 18, ..LedgerSettings::default() };
    let ledger = Ledger::open(books.dir.path(), clock.clone(), settings).unwrap();
    let mut random = StdRng::seed_from_u64(4);
    for n in 0..requests {
        clock.set(OffsetDateTime::now_utc() - Duration::minutes(random.random_range(0..60 * 60)));
        let mut entry = ledger.lane(n % 2).arrive().unwrap();
        let stage = *Stage::ALL.choose(&mut random).unwrap();
        let ends: Vec<_> = Outcome::ALL.iter().filter(|o| o.belongs_to(stage)).collect();
        let outcome = **ends.choose(&mut random).unwrap();
        let reached = stage == Stage::Proxy && random.random();
        let record = &mut entry.record;
        record.route = random.random_range(0..3);
        record.partner = random.random_range(0..4);
        record.key = record.partner * 10 + random.random_range(0..2);
        record.bytes_in = random.random_range(0..10_000);
        record.bytes_out = random.random_range(0..1_000_000);
        record.cache_miss =
            [None, Some(CacheMiss::First), Some(CacheMiss::Stale)].choose(&mut random).unwrap().to_owned();
        record.metered_locally = random.random_ratio(1, 10);
        record.upstream_calls = random.random_range(0..3);
        record.timed = random.random_ratio(9, 10);
        entry.at(stage);
        entry.settle(End {
            stage,
            outcome,
            status: if outcome.status() > 0 { outcome.status() } else { random.random_range(200..600) },
            reached,
            upstream_status: if reached && random.random_ratio(9, 10) {
                random.random_range(200..600)
            } else {
                0
            },
        });
    }
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    books
}

#[tokio::test(flavor = "multi_thread")]
async fn rollups_of_every_family_and_grain_equal_the_log() {
    let books = any_books(6_000).await;
    assert_rollups_are_what_the_log_sums_to(&books.db.pool).await;
    assert_hours_and_days_of_the_door_sum_its_minutes(&books.db.pool).await;
    assert_eq!(books.count("select count(*) from request_log").await, 6_000);
    assert_eq!(books.count("select sum(arrived)::bigint from door_minute").await, 6_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_funnel_of_any_window_and_filter_is_what_the_log_says() {
    let books = any_books(3_000).await;
    let now = OffsetDateTime::now_utc();
    let mut random = StdRng::seed_from_u64(5);
    for _ in 0..40 {
        let from = now - Duration::minutes(random.random_range(1..70 * 60));
        let window = Window::new(from, from + Duration::minutes(random.random_range(1..70 * 60))).unwrap();
        let of = Filter {
            partner: random.random_bool(0.5).then(|| random.random_range(0..5)),
            route: random.random_bool(0.5).then(|| random.random_range(0..4)),
        };
        let funnel = funnel(&books.db.pool, window, &of).await.unwrap();
        let (all, reached, calls, local, timed): (i64, i64, i64, i64, i64) = sqlx::query_as(
            "select count(*), count(*) filter (where reached), coalesce(sum(upstream_calls), 0)::bigint,
                 count(*) filter (where metered_locally), count(*) filter (where reached and timed)
             from request_log where at >= $1 and at < $2
                 and ($3::bigint is null or partner_id = $3) and ($4::bigint is null or route_id = $4)",
        )
        .bind(window.from)
        .bind(window.to)
        .bind(of.partner)
        .bind(of.route)
        .fetch_one(&books.db.pool)
        .await
        .unwrap();
        let said = (funnel.arrived, funnel.reached_upstream, funnel.upstream_calls, funnel.metered_locally);
        assert_eq!(said, (all as u64, reached as u64, calls as u64, local as u64), "{window:?} {of:?}");
        assert_eq!(funnel.latency.counts.iter().sum::<u64>(), timed as u64);
        let unfiltered = of == Filter::default();
        assert_eq!(funnel.unaccounted, unfiltered.then_some(0));
    }
}
