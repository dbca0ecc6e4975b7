//! What the books of a test's database say, once everything is in them.

use std::time::{Duration, Instant};

use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::window::Window;
use sqlx::{AssertSqlSafe, PgPool};
use time::OffsetDateTime;

use super::gateway::TestGateway;
use super::toll::PATIENCE;

/// The funnel of yesterday to tomorrow.
pub async fn funnel(db: &PgPool) -> Funnel {
    books::funnel(db, around_now(), &Filter::default()).await.unwrap()
}

fn around_now() -> Window {
    let now = OffsetDateTime::now_utc();
    Window::new(now - time::Duration::DAY, now + time::Duration::DAY).unwrap()
}

/// Waits until everything that this node has seen is in the books, and nobody is inside. Then log, rollups of every grain,
/// totals and door must say the same.
pub async fn closed_books(toll: &TestGateway) -> Funnel {
    let probe = toll.node.probe();
    closed_at(&toll.db.pool, || probe().arrived).await
}

/// The same for whatever nodes there are: `arrived` is what their doors have counted by now.
pub async fn closed_at(db: &PgPool, arrived: impl Fn() -> u64) -> Funnel {
    let deadline = Instant::now() + PATIENCE;
    let funnel = loop {
        let (expected, funnel) = (arrived(), funnel(db).await);
        if (funnel.arrived, funnel.in_flight, funnel.unaccounted) == (expected, Some(0), Some(0)) {
            break funnel;
        }
        assert!(Instant::now() < deadline, "{expected} arrived, and the books do not close: {funnel:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_rollups_are_what_the_log_sums_to(db).await;
    assert_hours_and_days_of_the_door_sum_its_minutes(db).await;
    let audit = books::audit::audit(db, around_now()).await.unwrap();
    assert!(audit.agrees, "{:?}", audit.differences);
    let n = funnel.arrived as i64;
    assert_eq!((audit.arrived, audit.open, audit.totals, audit.rollups, audit.log), (n, 0, n, n, n));
    funnel
}

const LOG: &str = "select node_id, date_bin('1 {grain}', at, timestamptz 'epoch') as at, {keys},
    count(*) as requests, sum(bytes_in)::bigint, sum(bytes_out)::bigint, {calls},
    count(*) filter (where metered_locally), {buckets}, {stages}
    from (select *, (case when reached then upstream_status else status end / 100)::smallint as status_class from request_log) as l
    group by node_id, date_bin('1 {grain}', at, timestamptz 'epoch'), {keys}";

/// Of `cache_stale` the log does not know all: its rollups also hold the calls that no request waited for.
const CALLS: &str = "sum(case when outcome = 62 then 0 else upstream_calls end)::bigint";

/// In the order of `LOG`.
const MEASURES: &str = "requests, bytes_in, bytes_out,
    case when outcome = 62 then 0 else upstream_calls end, metered_locally,
    b0, b1, b2, b3, b4, b5, b6, b7, b8, us_route, us_key, us_quota, us_cache, us_breaker, us_proxy";

/// Row by row, column by column, in every family and grain.
pub async fn assert_rollups_are_what_the_log_sums_to(db: &PgPool) {
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
                .replace("{calls}", CALLS)
                .replace("{keys}", keys)
                .replace("{buckets}", &buckets.join(", "))
                .replace("{stages}", &stages.join(", "));
            let table = format!("{family}_{grain}");
            let rows = format!("select node_id, at, {keys}, {MEASURES} from {table} where requests > 0");
            assert_same_rows(db, &table, &rows, &log).await;
        }
    }
    for grain in ["minute", "hour", "day"] {
        let stages =
            (1..=6).map(|n| format!("sum(case when stage = {n} and not reached then requests else 0 end)"));
        let stages = stages.collect::<Vec<_>>().join(", ");
        let rows = format!("select * from ends_{grain}");
        let rollups = format!(
            "select node_id, at, partner_id, {stages}, sum(case when reached then requests else 0 end),
                 sum(case when outcome = 40 then requests else 0 end),
                 sum(case when outcome = 41 then requests else 0 end),
                 sum(case when reached and status_class = 5 or outcome in (101, 105, 106) then requests else 0 end),
                 sum(requests)
             from rollup_{grain} where requests > 0 group by 1, 2, 3"
        );
        assert_same_rows(db, &format!("ends_{grain}"), &rows, &rollups).await;
    }
}

async fn assert_same_rows(db: &PgPool, table: &str, rows: &str, expected: &str) {
    let differ = format!(
        "select (select count(*) from (({rows}) except all ({expected})) as a)
              + (select count(*) from (({expected}) except all ({rows})) as b)"
    );
    let rows: i64 = sqlx::query_scalar(AssertSqlSafe(differ)).fetch_one(db).await.unwrap();
    assert_eq!(rows, 0, "rows of {table} that are not what the log sums to");
}

pub async fn assert_hours_and_days_of_the_door_sum_its_minutes(db: &PgPool) {
    for grain in ["hour", "day"] {
        let differ = format!(
            "select count(*) from (
                 select node_id, lane, at, arrived, open from door_{grain}
                 except all
                 select node_id, lane, date_bin('1 {grain}', at, timestamptz 'epoch'), sum(arrived)::bigint, sum(open)::bigint
                 from door_minute group by 1, 2, 3
             ) as d"
        );
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(differ)).fetch_one(db).await.unwrap();
        assert_eq!(rows, 0, "rows of door_{grain} that are not what its minutes sum to");
    }
}
