//! Once an hour one of the nodes makes the log's partitions for the days ahead, and drops what is past its age.

use std::time::Duration;

use app::away::is_gone;
use app::domain::window::Grain;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use time::{OffsetDateTime, Time};

use super::partitions;

const EVERY: Duration = Duration::from_secs(3600);
const AGAIN: Duration = Duration::from_secs(10);
/// Held while a node keeps house; any number that nobody else uses.
const LOCK: i64 = 0x746f_6c6c_0001;

/// Whole days that things are kept for. Rollups by day are kept for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub log_days: u16,
    /// Rollups, totals and door by minute.
    pub minute_days: u16,
    /// The same by hour.
    pub hour_days: u16,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { log_days: 14, minute_days: 35, hour_days: 400 }
    }
}

/// Keeps house for as long as the task lives.
pub async fn run(database: PgConnectOptions, retention: Retention) {
    loop {
        let kept = async {
            let mut db = database.connect().await?;
            keep(&mut db, retention).await?;
            db.close().await
        };
        let pause = match kept.await {
            Ok(()) => EVERY,
            Err(error) if is_gone(&error) => AGAIN,
            Err(error) => {
                tracing::warn!(%error, "partitions and ages will be seen to later");
                AGAIN
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Once, unless another node is at it; says which.
pub async fn keep(db: &mut PgConnection, retention: Retention) -> sqlx::Result<bool> {
    // The shipper waits behind a lock that this waits for; rather try again later.
    sqlx::query("set lock_timeout = '3s'").execute(&mut *db).await?;
    let mine: bool =
        sqlx::query_scalar("select pg_try_advisory_lock($1)").bind(LOCK).fetch_one(&mut *db).await?;
    if !mine {
        return Ok(false);
    }
    let kept = keep_alone(db, retention).await;
    sqlx::query("select pg_advisory_unlock($1)").bind(LOCK).execute(db).await?;
    kept.map(|()| true)
}

async fn keep_alone(db: &mut PgConnection, retention: Retention) -> sqlx::Result<()> {
    let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(&mut *db).await?;
    partitions::make_ahead(db, now).await?;
    // What is gone is gone in whole days, so that each hour and day can be compared with all of its parts or with none.
    let first = |days: u16| now.replace_time(Time::MIDNIGHT) - time::Duration::days(days.into());

    let mut tx = db.begin().await?;
    partitions::drop_before(&mut tx, first(retention.log_days).date()).await?;
    kept_from(&mut tx, "log", first(retention.log_days)).await?;
    tx.commit().await?;

    let ages = [(Grain::Minute, retention.minute_days), (Grain::Hour, retention.hour_days)];
    for (grain, days) in ages {
        let mut tx = db.begin().await?;
        for family in ["rollup", "total", "ends", "door"] {
            let delete = format!("delete from {family}_{} where at < $1", grain.name());
            sqlx::query(AssertSqlSafe(delete)).bind(first(days)).execute(&mut *tx).await?;
        }
        kept_from(&mut tx, grain.name(), first(days)).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Notes from where on something is whole, for those who compare.
async fn kept_from(db: &mut PgConnection, what: &str, at: OffsetDateTime) -> sqlx::Result<()> {
    sqlx::query(
        "insert into ledger_kept (what, since) values ($1, $2)
         on conflict (what) do update set since = greatest(ledger_kept.since, excluded.since)",
    )
    .bind(what)
    .bind(at)
    .execute(db)
    .await?;
    Ok(())
}
