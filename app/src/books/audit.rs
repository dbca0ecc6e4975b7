//! The recount: what the door counted, what the rollups sum and what the log holds must be the same, node by node and
//! minute by minute. In one snapshot that holds exactly, however much is under way, as each batch brings all of them.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Row};
use time::OffsetDateTime;
use uuid::Uuid;

use super::LIVES;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::window::{Grain, Window};

/// Differences that are listed; more of them say nothing more.
const LISTED: i64 = 200;

#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    #[serde(with = "time::serde::rfc3339")]
    pub from: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub to: OffsetDateTime,
    pub agrees: bool,
    pub arrived: i64,
    pub open: i64,
    /// Requests by the totals, by the rollups, and as rows of the log.
    pub totals: i64,
    pub rollups: i64,
    pub log: i64,
    pub nodes: Vec<NodeState>,
    pub differences: Vec<Difference>,
}

/// Up to when a node has shipped.
#[derive(Clone, Debug, Serialize)]
pub struct NodeState {
    pub identity: Uuid,
    pub host: String,
    pub state: Life,
    #[serde(with = "time::serde::rfc3339")]
    pub heard: OffsetDateTime,
    /// Inside when it was last heard of, of any time.
    pub open: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    Living,
    /// Ended in good order.
    Stopped,
    /// Not heard of, and without a goodbye: what it has not shipped waits in its data folder.
    Silent,
}

/// A node and a time for which counts are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub node: Uuid,
    pub host: String,
    pub grain: &'static str,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// For counts of one way to end; absent for all requests together.
    pub stage: Option<&'static str>,
    pub outcome: Option<&'static str>,
    /// Requests by who counted them: `door` (arrived less open), `totals`, `rollups`, `log`, and for hours and days
    /// `minutes`. What is too old to be whole is not here.
    pub counts: BTreeMap<&'static str, i64>,
}

/// Recounts a window.
pub async fn audit(db: &PgPool, window: Window) -> sqlx::Result<Audit> {
    let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
    let kept = Kept::read(&mut tx).await?;
    let sums = sqlx::query(
        "select
             (select coalesce(sum(arrived), 0)::bigint from door_minute where at >= $1 and at < $2) as arrived,
             (select coalesce(sum(open), 0)::bigint from door_minute where at >= $1 and at < $2) as open,
             (select coalesce(sum(requests), 0)::bigint from total_minute where at >= $1 and at < $2) as totals,
             (select coalesce(sum(requests), 0)::bigint from rollup_minute where at >= $1 and at < $2) as rollups,
             (select count(*) from request_log where at >= $1 and at < $2) as log",
    )
    .bind(window.from)
    .bind(window.to)
    .fetch_one(&mut *tx)
    .await?;
    let mut differences = by_minute(&mut tx, window, kept.log).await?;
    differences.extend(by_outcome(&mut tx, window, kept.log).await?);
    differences.extend(coarse(&mut tx, window, Grain::Hour, kept.minute).await?);
    differences.extend(coarse(&mut tx, window, Grain::Day, kept.minute).await?);
    let nodes = nodes(&mut tx).await?;
    tx.commit().await?;
    Ok(Audit {
        from: window.from,
        to: window.to,
        agrees: differences.is_empty(),
        arrived: sums.try_get("arrived")?,
        open: sums.try_get("open")?,
        totals: sums.try_get("totals")?,
        rollups: sums.try_get("rollups")?,
        log: sums.try_get("log")?,
        nodes,
        differences,
    })
}

/// From where on log and minutes are whole.
struct Kept {
    log: OffsetDateTime,
    minute: OffsetDateTime,
}

impl Kept {
    async fn read(db: &mut PgConnection) -> sqlx::Result<Kept> {
        let rows: Vec<(String, OffsetDateTime)> =
            sqlx::query_as("select what, since from ledger_kept").fetch_all(db).await?;
        let since = |what: &str| {
            rows.iter().find(|(name, _)| name == what).map_or(OffsetDateTime::UNIX_EPOCH, |(_, since)| *since)
        };
        Ok(Kept { log: since("log"), minute: since("minute") })
    }
}

/// All four counts of each minute.
async fn by_minute(
    db: &mut PgConnection,
    window: Window,
    log_since: OffsetDateTime,
) -> sqlx::Result<Vec<Difference>> {
    let rows = sqlx::query(
        "with counted as (
             select node_id, at, arrived - open as door, 0 as totals, 0 as rollups, 0 as log
             from door_minute where at >= $1 and at < $2
             union all
             select node_id, at, 0, requests, 0, 0 from total_minute where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, requests, 0 from rollup_minute where at >= $1 and at < $2
             union all
             select node_id, date_bin('1 minute', at, timestamptz 'epoch') as minute, 0, 0, 0, count(*)
             from request_log where at >= $1 and at < $2 group by 1, 2
         ),
         summed as (
             select node_id, at, sum(door)::bigint as door, sum(totals)::bigint as totals,
                 sum(rollups)::bigint as rollups, case when at >= $3 then sum(log)::bigint end as log
             from counted group by node_id, at
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where door <> totals or rollups <> totals or log <> totals
         order by at, node_id limit $4",
    )
    .bind(window.from)
    .bind(window.to)
    .bind(log_since)
    .bind(LISTED)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| found(row, Grain::Minute, &["door", "totals", "rollups", "log"])).collect()
}

/// Totals, rollups and log of each way to end: the sums could agree while a request is filed under a wrong one.
async fn by_outcome(
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
    rows.iter()
        .map(|row| {
            Ok(Difference {
                stage: Stage::from_code(row.try_get("stage")?).map(Stage::name),
                outcome: Outcome::from_code(row.try_get("outcome")?).map(Outcome::name),
                ..found(row, Grain::Minute, &["totals", "rollups", "log"])?
            })
        })
        .collect()
}

/// Rows of an hour or day against their minutes, where the window has all of them.
async fn coarse(
    db: &mut PgConnection,
    window: Window,
    grain: Grain,
    minutes_since: OffsetDateTime,
) -> sqlx::Result<Vec<Difference>> {
    let name = grain.name();
    let select = format!(
        "with counted as (
             select node_id, at, arrived - open as door, 0 as totals, 0 as rollups, 0 as minutes
             from door_{name} where at >= $1 and at < $2
             union all
             select node_id, at, 0, requests, 0, 0 from total_{name} where at >= $1 and at < $2
             union all
             select node_id, at, 0, 0, requests, 0 from rollup_{name} where at >= $1 and at < $2
             union all
             select node_id, date_bin('1 {name}', at, timestamptz 'epoch') as start, 0, 0, 0, sum(requests)
             from total_minute where at >= $1 and at < $2 group by 1, 2
         ),
         summed as (
             select node_id, at, sum(door)::bigint as door, sum(totals)::bigint as totals,
                 sum(rollups)::bigint as rollups, sum(minutes)::bigint as minutes
             from counted group by node_id, at
         )
         select identity, host, summed.* from summed left join node on node.id = node_id
         where door <> minutes or totals <> minutes or rollups <> minutes
         order by at, node_id limit $3"
    );
    let (from, to) = whole(window, grain, minutes_since);
    let rows = sqlx::query(AssertSqlSafe(select)).bind(from).bind(to).bind(LISTED).fetch_all(db).await?;
    rows.iter().map(|row| found(row, grain, &["door", "totals", "rollups", "minutes"])).collect()
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

async fn nodes(db: &mut PgConnection) -> sqlx::Result<Vec<NodeState>> {
    let rows = sqlx::query(
        "select identity, host, heartbeat_at, stopped_at is not null as stopped,
             heartbeat_at > now() - make_interval(secs => $1) as living,
             (select coalesce(sum(open), 0)::bigint from door_day where node_id = node.id) as open
         from node order by id",
    )
    .bind(LIVES)
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            let state = match (row.try_get("stopped")?, row.try_get("living")?) {
                (true, _) => Life::Stopped,
                (false, true) => Life::Living,
                (false, false) => Life::Silent,
            };
            Ok(NodeState {
                identity: row.try_get("identity")?,
                host: row.try_get("host")?,
                state,
                heard: row.try_get("heartbeat_at")?,
                open: row.try_get("open")?,
            })
        })
        .collect()
}
