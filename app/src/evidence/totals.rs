//! Everything that arrived, by route and by how it ended, in the window and in the one before.

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, Row};
use time::{Duration, OffsetDateTime};

use super::{Route, before, number, select, until};
use crate::books::Tiles;
use crate::domain::cache_miss::CacheMiss;
use crate::domain::histogram::Histogram;
use crate::domain::verdict::evidence::{Compared, Ended, Tally};
use crate::domain::verdict::{Evidence, Who};
use crate::domain::window::Window;

/// What a row says; `SUMS` is made of it.
const COLUMNS: &str =
    "route_id, stage, outcome, reached, status_class, cache_miss, requests, upstream_calls, us_proxy,
    b0, b1, b2, b3, b4, b5, b6, b7, b8";
const SUMS: &str = "stage, outcome, reached, status_class, cache_miss, sum(requests)::bigint as requests,
    max(until) filter (where requests > 0) as until,
    sum(upstream_calls)::bigint as upstream_calls, sum(us_proxy)::bigint as us_proxy,
    array[sum(b0), sum(b1), sum(b2), sum(b3), sum(b4), sum(b5), sum(b6), sum(b7), sum(b8)]::bigint[] as latency";

pub async fn read(db: &mut PgConnection, evidence: &mut Evidence, routes: &mut [Route]) -> sqlx::Result<()> {
    let window = evidence.window;
    let mut tiles = Tiles::default();
    let sql = match evidence.who {
        Who::Ops if !is_comparable(db, window).await? => rows(&mut tiles, "total", window, true, "true"),
        Who::Ops => {
            let now = rows(&mut tiles, "total", window, true, "true");
            let past = rows(&mut tiles, "total", before(window), false, "true");
            format!("{now}\nunion all\n{past}")
        }
        // A partner is compared with itself by nothing.
        Who::Partner(_) => rows(&mut tiles, "rollup", window, true, "partner_id = $2"),
    };
    let sql = format!("select route_id, is_now, {SUMS} from ({sql}) as piece group by 1, 2, 3, 4, 5, 6, 7");
    let query = tiles.query(sql);
    let query = match evidence.who {
        Who::Ops => query,
        Who::Partner(partner) => query.bind(partner),
    };
    for row in query.fetch_all(db).await? {
        let (id, is_now, ended) =
            (row.try_get::<i64, _>("route_id")?, row.try_get("is_now")?, measured(&row)?);
        let side = |tally: &mut Compared<Tally>| {
            let tally = if is_now { &mut tally.now } else { &mut tally.before };
            tally.add(&ended);
        };
        side(&mut evidence.all);
        // Requests without a route are of all, and of none of them.
        if let Some(route) = routes.iter_mut().find(|route| route.id == id) {
            side(&mut route.evidence.tally);
            if let Some(why) = ended.cache_miss.filter(|_| is_now) {
                missed(&mut route.evidence.misses, why, ended.requests);
            }
        }
    }
    Ok(())
}

fn rows(tiles: &mut Tiles, family: &str, window: Window, is_now: bool, condition: &str) -> String {
    tiles.union(window, |grain| {
        let columns = format!("{is_now} as is_now, {}, {COLUMNS}", until(grain));
        select(family, grain, &columns, condition)
    })
}

/// Whether the books reach back over most of the window before: a day old, Toll has no week to compare with.
async fn is_comparable(db: &mut PgConnection, window: Window) -> sqlx::Result<bool> {
    // Minutes are dropped sooner than hours.
    let family = if window.length() < Duration::DAY { "total_minute" } else { "total_hour" };
    let first: Option<OffsetDateTime> =
        sqlx::query_scalar(AssertSqlSafe(format!("select min(at) from {family}"))).fetch_one(db).await?;
    Ok(first.is_some_and(|first| first <= window.from - window.length() / 2))
}

fn missed(misses: &mut Vec<(CacheMiss, u64)>, why: CacheMiss, requests: u64) {
    match misses.iter_mut().find(|(known, _)| *known == why) {
        Some((_, sum)) => *sum += requests,
        None => misses.push((why, requests)),
    }
}

/// A row that was summed over `SUMS`.
fn measured(row: &PgRow) -> sqlx::Result<Ended> {
    let (stage, outcome, reached) = (row.try_get("stage")?, row.try_get("outcome")?, row.try_get("reached")?);
    let ended =
        Ended::counted(stage, outcome, reached, row.try_get("status_class")?, number(row, "requests")?);
    Ok(Ended {
        cache_miss: CacheMiss::from_code(row.try_get("cache_miss")?),
        until: row.try_get("until")?,
        upstream_calls: number(row, "upstream_calls")?,
        upstream_us: number(row, "us_proxy")?,
        latency: histogram(&row.try_get::<Vec<i64>, _>("latency")?),
        ..ended
    })
}

fn histogram(counts: &[i64]) -> Histogram {
    let mut histogram = Histogram::default();
    for (bucket, count) in histogram.counts.iter_mut().zip(counts) {
        *bucket = *count as u64;
    }
    histogram
}
