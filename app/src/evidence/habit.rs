//! A partner's newest refusals. The only thing that is read from the log: rollups keep neither waits nor paths.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use time::{Duration, OffsetDateTime};

use super::number;
use crate::domain::outcome::Outcome;
use crate::domain::verdict::evidence::Habit;
use crate::domain::verdict::habit::Refusal;
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
    // Whoever calls by another program is another caller, and it asks for the same thing on its own account.
    let rows = sqlx::query(
        "with newest as (
             select key_id, address, user_agent, method, path, outcome, at, duration_us, retry_asked_ms,
                 case when same_again is distinct from false then retry_waited_ms end as retry_waited_ms
             from request_log
             where partner_id = $1 and at >= $2 and at < $3
             order by at desc limit $4
         )
         select dense_rank() over (order by key_id, address, user_agent) as caller,
             dense_rank() over (order by key_id, address, user_agent, method, path) as request,
             at, at + duration_us * interval '1 microsecond' as answered_at, outcome = $5 as is_early,
             retry_asked_ms, retry_waited_ms
         from newest
         where outcome in ($5, $6) and retry_asked_ms is not null
         order by at",
    )
    .bind(partner)
    .bind(from)
    .bind(until)
    .bind(LOOKED_AT)
    .bind(Outcome::QuotaEarlyRetry.code())
    .bind(Outcome::QuotaSpent.code())
    .fetch_all(db)
    .await?;
    let refusals: Vec<Refusal> = rows.iter().map(refusal).collect::<sqlx::Result<_>>()?;
    Ok(Habit::of(&refusals))
}

fn refusal(row: &PgRow) -> sqlx::Result<Refusal> {
    Ok(Refusal {
        caller: row.try_get("caller")?,
        request: row.try_get("request")?,
        at: row.try_get("at")?,
        answered_at: row.try_get("answered_at")?,
        is_early: row.try_get("is_early")?,
        asked_ms: number(row, "retry_asked_ms")?,
        waited_ms: row.try_get::<Option<i64>, _>("retry_waited_ms")?.map(|ms| ms as u64),
    })
}
