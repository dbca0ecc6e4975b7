//! The recount: what the door counted, what the rollups sum and what the log holds must be the same, node by node and
//! minute by minute. In one snapshot that holds exactly, however much is under way, as each batch brings all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Row};
use time::OffsetDateTime;
use uuid::Uuid;

use super::LIVES;
use super::recount::{by_minute, by_outcome, by_stage, coarse};
use crate::domain::window::{Grain, Window};

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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeState {
    pub identity: Uuid,
    pub host: String,
    pub state: Life,
    #[serde(with = "time::serde::rfc3339")]
    pub heard: OffsetDateTime,
    /// Inside when it was last heard of, of any time.
    pub open: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    Living,
    /// Ended in good order.
    Stopped,
    /// Not heard of, and without a goodbye: what it has not shipped waits in its data folder.
    Silent,
}

impl Life {
    pub fn word(self) -> &'static str {
        match self {
            Life::Living => "living",
            Life::Stopped => "stopped",
            Life::Silent => "silent",
        }
    }
}

/// A node and a time for which counts are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub node: Uuid,
    pub host: String,
    pub grain: &'static str,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// For counts of one stage; absent for all requests together.
    pub stage: Option<&'static str>,
    /// For counts of one way to end.
    pub outcome: Option<&'static str>,
    /// Requests by who counted them: `door` (arrived less open), `totals`, `rollups`, `ends` (by partner), `log`, and for
    /// hours and days `minutes`. What is too old to be whole is not here.
    pub counts: BTreeMap<&'static str, i64>,
}

/// Recounts a window.
pub async fn audit(db: &PgPool, window: Window) -> sqlx::Result<Audit> {
    let mut tx = super::snapshot_with_log(db).await?;
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
    differences.extend(by_stage(&mut tx, window).await?);
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

/// All nodes that ever were, the oldest first.
pub async fn nodes(db: &mut PgConnection) -> sqlx::Result<Vec<NodeState>> {
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
