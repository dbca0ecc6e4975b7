//! The queries of the audit: each counts the same requests several ways and returns where the counts differ.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, Row};
use time::OffsetDateTime;
use uuid::Uuid;

use super::audit::Difference;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::window::{Grain, Window};

/// Differences that are listed; more of them say nothing more.
const LISTED: i64 = 200;

/// All counts of each minute.
pub async fn by_minute(
    db: &mut PgConnection,
    window: Window,
    log_since: OffsetDateTime,
) -> sqlx::Result<Vec<Difference>> {
    let rows = sqlx::query(
        "with counted as (
             select node_id, at, arrived - open as door, 0 as totals, 0 as rollups, 0 as ends, 0 as log
             from door_minute where at >= $1 and at < $2
             union all
             select node_id, at, 0, requests, 0, 0, 0 from total_minute where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, requests, 0, 0 from rollup_minute where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, 0, requests, 0 from ends_minute where at >= $1 and at < $2
             union all
             select node_id, date_bin('1 minute', at, timestamptz 'epoch') as minute, 0, 0, 0, 0, count(*)
             from request_log where at >= $1 and at < $2 group by 1, 2
         ),
         summed as (
             select node_id, at, sum(door)::bigint as door, sum(totals)::bigint as totals,
                 sum(rollups)::bigint as rollups, sum(ends)::bigint as ends,
                 case when at >= $3 then sum(log)::bigint end as log
             from counted group by node_id, at
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where door <> totals or rollups <> totals or ends <> totals or log <> totals
         order by at, node_id limit $4",
    )
    .bind(window.from)
    .bind(window.to)
    .bind(log_since)
    .bind(LISTED)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| found(row, Grain::Minute, &["door", "totals", "rollups", "ends", "log"])).collect()
}

/// Totals, rollups and log of each way to end: the sums could agree while a request is filed under a wrong one.
pub async fn by_outcome(
    db: &mut PgConnection,
    window: Window,
    log_since: OffsetDateTime,
) -> sqlx::Result<Vec<Difference>> {
    let rows = sqlx::query(
        "with counted as (
             select node_id, at, stage, outcome, requests as totals, 0 as rollups, 0 as log
             from total_minute where at >= $1 and at < $2
             union all
             select node_id, at, stage, outcome, 0, requests, 0 from rollup_minute where at >= $1 and at < $2
             union all
             select node_id, date_bin('1 minute', at, timestamptz 'epoch') as minute, stage, outcome, 0, 0, count(*)
             from request_log where at >= $1 and at < $2 group by 1, 2, 3, 4
         ),
         summed as (
             select node_id, at, stage, outcome, sum(totals)::bigint as totals, sum(rollups)::bigint as rollups,
                 case when at >= $3 then sum(log)::bigint end as log
             from counted group by node_id, at, stage, outcome
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where rollups <> totals or log <> totals
         order by at, node_id, stage, outcome limit $4",
    )
    .bind(window.from)
    .bind(window.to)
    .bind(log_since)
    .bind(LISTED)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| filed(row, &["totals", "rollups", "log"])).collect()
}

/// Totals and ends of each stage, and of early retries. What reached the upstream is under the last stage too.
pub async fn by_stage(db: &mut PgConnection, window: Window) -> sqlx::Result<Vec<Difference>> {
    let early = Outcome::QuotaEarlyRetry;
    let rows = sqlx::query(
        "with counted as (
             select node_id, at, stage, null::smallint as outcome, reached, requests as totals, 0 as ends
             from total_minute where at >= $1 and at < $2
             union all
             select node_id, at, stage, outcome, false, requests, 0
             from total_minute where outcome = $3 and at >= $1 and at < $2
             union all
             select node_id, at, stage, outcome, has_reached, 0, requests_there
             from ends_minute cross join lateral (values
                 (1::smallint, null::smallint, false, at_route), (2, null, false, at_key), (3, null, false, at_quota),
                 (4, null, false, at_cache), (5, null, false, at_breaker), (6, null, false, at_proxy),
                 (6, null, true, reached), (3, $3, false, early)
             ) as there (stage, outcome, has_reached, requests_there)
             where at >= $1 and at < $2 and requests_there <> 0
         ),
         summed as (
             select node_id, at, case when reached then 6 else stage end::smallint as stage, outcome, reached,
                 sum(totals)::bigint as totals, sum(ends)::bigint as ends
             from counted group by 1, 2, 3, 4, 5
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where ends <> totals order by at, node_id, stage, outcome limit $4",
    )
    .bind(window.from)
    .bind(window.to)
    .bind(early.code())
    .bind(LISTED)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| filed(row, &["totals", "ends"])).collect()
}

/// Rows of an hour or day against their minutes, where the window has all of them.
pub async fn coarse(
    db: &mut PgConnection,
    window: Window,
    grain: Grain,
    minutes_since: OffsetDateTime,
) -> sqlx::Result<Vec<Difference>> {
    let name = grain.name();
    let select = format!(
        "with counted as (
             select node_id, at, arrived - open as door, 0 as totals, 0 as rollups, 0 as ends, 0 as minutes
             from door_{name} where at >= $1 and at < $2
             union all
             select node_id, at, 0, requests, 0, 0, 0 from total_{name} where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, requests, 0, 0 from rollup_{name} where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, 0, requests, 0 from ends_{name} where at >= $1 and at < $2
             union all
             select node_id, date_bin('1 {name}', at, timestamptz 'epoch') as start, 0, 0, 0, 0, sum(requests)
             from total_minute where at >= $1 and at < $2 group by 1, 2
         ),
         summed as (
             select node_id, at, sum(door)::bigint as door, sum(totals)::bigint as totals,
                 sum(rollups)::bigint as rollups, sum(ends)::bigint as ends, sum(minutes)::bigint as minutes
             from counted group by node_id, at
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where door <> minutes or totals <> minutes or rollups <> minutes or ends <> minutes
         order by at, node_id limit $3"
    );
    let (from, to) = whole(window, grain, minutes_since);
    let rows = sqlx::query(AssertSqlSafe(select)).bind(from).bind(to).bind(LISTED).fetch_all(db).await?;
    rows.iter().map(|row| found(row, grain, &["door", "totals", "rollups", "ends", "minutes"])).collect()
}

/// The part of a window that consists of whole hours or days, all of whose minutes are kept.
fn whole(window: Window, grain: Grain, since: OffsetDateTime) -> (OffsetDateTime, OffsetDateTime) {
    let floor =
        |at: OffsetDateTime| at - time::Duration::seconds(at.unix_timestamp().rem_euclid(grain.seconds()));
    let from = window.from.max(since);
    let first =
        if floor(from) == from { from } else { floor(from) + time::Duration::seconds(grain.seconds()) };
    (first, floor(window.to))
}

/// Of one way to end.
fn filed(row: &PgRow, counters: &[&'static str]) -> sqlx::Result<Difference> {
    let outcome = row.try_get::<Option<i16>, _>("outcome")?;
    Ok(Difference {
        stage: Stage::from_code(row.try_get("stage")?).map(Stage::name),
        outcome: outcome.and_then(Outcome::from_code).map(Outcome::name),
        ..found(row, Grain::Minute, counters)?
    })
}

fn found(row: &PgRow, grain: Grain, counters: &[&'static str]) -> sqlx::Result<Difference> {
    let mut counts = BTreeMap::new();
    for counter in counters {
        counts.extend(row.try_get::<Option<i64>, _>(*counter)?.map(|requests| (*counter, requests)));
    }
    Ok(Difference {
        node: row.try_get::<Option<Uuid>, _>("identity")?.unwrap_or_default(),
        host: row.try_get::<Option<String>, _>("host")?.unwrap_or_else(|| "unknown".into()),
        grain: grain.name(),
        at: row.try_get("at")?,
        stage: None,
        outcome: None,
        counts,
    })
}
