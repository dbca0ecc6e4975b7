//! Rollups of every grain are what the log sums to.

use std::sync::Arc;

use app::books::{Filter, funnel};
use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use rand::prelude::*;
use sqlx::AssertSqlSafe;
use time::{Duration, OffsetDateTime};
use toll::clock::Clock;
use toll::ledger::record::End;
use toll::ledger::{Ledger, LedgerSettings};

use super::{Books, flush, start};

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

const LOG: &str = "select node_id, date_bin('1 {grain}', at, timestamptz 'epoch') as at, {keys},
    count(*) as requests, sum(bytes_in)::bigint, sum(bytes_out)::bigint, sum(upstream_calls)::bigint,
    count(*) filter (where metered_locally), {buckets}, {stages}
    from (select *, (case when reached then upstream_status else status end / 100)::smallint as status_class from request_log) as l
    group by node_id, date_bin('1 {grain}', at, timestamptz 'epoch'), {keys}";

/// In the order of `LOG`.
const MEASURES: &str = "requests, bytes_in, bytes_out, upstream_calls, metered_locally,
    b0, b1, b2, b3, b4, b5, b6, b7, b8, us_route, us_key, us_quota, us_cache, us_breaker, us_proxy";

#[tokio::test(flavor = "multi_thread")]
async fn rollups_of_every_family_and_grain_equal_the_log() {
    let books = any_books(6_000).await;
    let bounds = [0, 5, 10, 25, 50, 100, 250, 1_000, 5_000];
    let buckets: Vec<String> = (0..9)
        .map(|b| {
            let high = bounds.get(b + 1).map_or("true".into(), |ms| format!("duration_us <= {ms} * 1000"));
            let low = if b == 0 { "true".into() } else { format!("duration_us > {} * 1000", bounds[b]) };
            format!("count(*) filter (where reached and timed and {low} and {high})")
        })
        .collect();
    let stages: Vec<String> = (1..=6).map(|n| format!("sum(stage_us[{n}])::bigint")).collect();
    for (family, keys) in [
        ("rollup", "route_id, partner_id, key_id, stage, outcome, reached, status_class, cache_miss"),
        ("total", "route_id, stage, outcome, reached, status_class, cache_miss"),
    ] {
        for grain in ["minute", "hour", "day"] {
            let log = LOG
                .replace("{grain}", grain)
                .replace("{keys}", keys)
                .replace("{buckets}", &buckets.join(", "))
                .replace("{stages}", &stages.join(", "));
            let table = format!("{family}_{grain}");
            let rows = format!("select node_id, at, {keys}, {MEASURES} from {table}");
            let differ = format!(
                "select (select count(*) from (({rows}) except all ({log})) as a)
                      + (select count(*) from (({log}) except all ({rows})) as b)"
            );
            let rows: i64 =
                sqlx::query_scalar(AssertSqlSafe(differ)).fetch_one(&books.db.pool).await.unwrap();
            assert_eq!(rows, 0, "{table}");
            let count = format!("select sum(requests)::bigint from {table}");
            let sum: i64 = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&books.db.pool).await.unwrap();
            assert_eq!(sum, 6_000, "{table}");
        }
    }
    for grain in ["minute", "hour", "day"] {
        let rows = format!("select node_id, at, partner_id, stage, reached, requests from ends_{grain}");
        let log = format!(
            "select node_id, date_bin('1 {grain}', at, timestamptz 'epoch') as at, partner_id, stage, reached, count(*)
             from request_log group by 1, 2, 3, 4, 5"
        );
        let differ = format!(
            "select (select count(*) from (({rows}) except all ({log})) as a)
                  + (select count(*) from (({log}) except all ({rows})) as b)"
        );
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(differ)).fetch_one(&books.db.pool).await.unwrap();
        assert_eq!(rows, 0, "ends_{grain}");
    }
    for grain in ["hour", "day"] {
        let differ = format!(
            "select count(*) from (
                 select node_id, lane, at, arrived, open from door_{grain}
                 except all
                 select node_id, lane, date_bin('1 {grain}', at, timestamptz 'epoch'), sum(arrived)::bigint, sum(open)::bigint
                 from door_minute group by 1, 2, 3
             ) as d"
        );
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(differ)).fetch_one(&books.db.pool).await.unwrap();
        assert_eq!(rows, 0, "door_{grain}");
    }
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
