//! How a partner's early retries come. The only thing that is read from the log: rollups keep neither waits nor paths.

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use super::number;
use crate::domain::outcome::Outcome;
use crate::domain::verdict::evidence::Habit;
use crate::domain::window::Window;

/// Requests that are looked at: as much for a partner with a thousand as for one with a million.
const LOOKED_AT: i64 = 400;

/// Of a partner's newest early retries in the window; none if the log has none.
pub async fn newest(db: &mut PgConnection, window: Window, partner: i64) -> sqlx::Result<Option<Habit>> {
    let last: Option<OffsetDateTime> = sqlx::query_scalar(
        "select max(at) from rollup_minute where partner_id = $1 and outcome = $2 and at >= $3 and at < $4",
    )
    .bind(partner)
    .bind(Outcome::QuotaEarlyRetry.code())
    .bind(window.from)
    .bind(window.to)
    .fetch_one(&mut *db)
    .await?;
    match last {
        Some(last) => before(db, window.from, last + Duration::MINUTE, partner).await,
        None => Ok(None),
    }
}

/// Of the newest early retries up to the end of a minute, hour or day that had some.
pub async fn before(
    db: &mut PgConnection,
    from: OffsetDateTime,
    until: OffsetDateTime,
    partner: i64,
) -> sqlx::Result<Option<Habit>> {
    let row = sqlx::query(
        "with newest as (
             select key_id, address, method, path, outcome, at, retry_waited_ms, retry_asked_ms from request_log
             where partner_id = $1 and at >= $2 and at < $3
             order by at desc limit $4
         ),
         -- With the refusal of the same request before, and until when that had asked to wait.
         refused as (
             select outcome, at, retry_waited_ms, retry_asked_ms,
                 lag(at + retry_asked_ms * interval '1 millisecond') over same as until
             from newest
             where outcome in ($5, $6)
             window same as (partition by key_id, address, method, path order by at)
         )
         select percentile_disc(0.5) within group (order by retry_waited_ms) as waited_ms,
             percentile_disc(0.5) within group (order by retry_asked_ms) as asked_ms,
             count(*) as looked_at, count(*) filter (where at < until) as repeated
         from refused
         where outcome = $5 and retry_waited_ms is not null and retry_asked_ms is not null
         having count(*) > 0",
    )
    .bind(partner)
    .bind(from)
    .bind(until)
    .bind(LOOKED_AT)
    .bind(Outcome::QuotaEarlyRetry.code())
    .bind(Outcome::QuotaSpent.code())
    .fetch_optional(db)
    .await?;
    let habit = |row| {
        Ok(Habit {
            waited_ms: number(&row, "waited_ms")?,
            asked_ms: number(&row, "asked_ms")?,
            looked_at: number(&row, "looked_at")?,
            repeated: number(&row, "repeated")?,
        })
    };
    row.map(habit).transpose()
}
