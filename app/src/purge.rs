//! Telling all nodes to forget what they have stored. Nodes follow the table in the order of its numbers; a notice makes
//! them look at once, and a poll twice a second finds what a lost notice told.

use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};

use crate::announce::{Change, announce};
use crate::changes::{self, By, What};
use crate::domain::purge::{Purge, Target};

/// Has every node forget `target` within a second. `by`: who asks, an operator's email or a command.
pub async fn purge(db: &PgPool, target: &Target, by: &str) -> sqlx::Result<Purge> {
    let mut tx = db.begin().await?;
    let row = sqlx::query(
        "with
         -- The row's lock makes numbers come into force in their order: no node sees one and misses the one before.
         next as (
             update purge_number set last = last + 1 returning last
         ),
         -- Who was away for longer forgets everything.
         outdated as (
             delete from purge where at < now() - interval '30 days'
         )
         insert into purge (seq, kind, target, by) select last, $1, $2, $3 from next
         returning seq, at, kind, target, by",
    )
    .bind(target.kind())
    .bind(target.text())
    .bind(by)
    .fetch_one(&mut *tx)
    .await?;
    let after = json!({ "forgotten": target.kind() });
    changes::record(&mut tx, By(by), What::Cache, target.text(), None, Some(after)).await?;
    announce(&mut tx, Change::Purge).await?;
    tx.commit().await?;
    read(&row)
}

/// The last purges, newest first.
pub async fn recent(db: &PgPool, limit: i64) -> sqlx::Result<Vec<Purge>> {
    let rows = sqlx::query("select seq, at, kind, target, by from purge order by seq desc limit $1")
        .bind(limit)
        .fetch_all(db)
        .await?;
    rows.iter().map(read).collect()
}

/// The number of the last purge; 0 before the first.
pub async fn last(db: &PgPool) -> sqlx::Result<i64> {
    sqlx::query_scalar("select last from purge_number").fetch_one(db).await
}

/// The purges after number `seen`, in their order.
pub async fn since(db: &PgPool, seen: i64) -> sqlx::Result<Vec<Purge>> {
    let rows = sqlx::query("select seq, at, kind, target, by from purge where seq > $1 order by seq")
        .bind(seen)
        .fetch_all(db)
        .await?;
    rows.iter().map(read).collect()
}

fn read(row: &PgRow) -> sqlx::Result<Purge> {
    let (kind, text): (String, String) = (row.try_get("kind")?, row.try_get("target")?);
    let target = Target::read(&kind, &text).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(Purge { seq: row.try_get("seq")?, at: row.try_get("at")?, target, by: row.try_get("by")? })
}
