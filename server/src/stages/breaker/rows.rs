//! The rows that all nodes share. Every transition is a conditional update: who gets the row back made it.

use std::time::Duration;

use app::domain::numbers;
use sqlx::postgres::PgRow;
use sqlx::postgres::types::PgInterval;
use sqlx::{PgPool, Row};
use time::OffsetDateTime;
use uuid::Uuid;

use super::reports::ProbeResult;
use super::view::{State, View};
use crate::catalog::Upstream;

/// One breaker, or all.
pub async fn read(db: &PgPool, upstream: Option<i64>) -> sqlx::Result<Vec<(i64, View)>> {
    let rows = sqlx::query(
        "select upstream_id, state, generation, opened_at, lease_until
         from breaker
         where $1::bigint is null or upstream_id = $1",
    )
    .bind(upstream)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("upstream_id")?, view(row)?))).collect()
}

/// Adds failures of a generation; the one that fills the window opens the breaker. `None`: an older generation's, or
/// the breaker is not closed.
pub async fn fail(
    db: &PgPool,
    upstream: &Upstream,
    generation: i64,
    count: i32,
    last: &str,
    node: Uuid,
) -> sqlx::Result<Option<View>> {
    let settings = &upstream.breaker;
    let failures = numbers::count(settings.failures as u64, "failure");
    let reason = format!("{failures} in {} s, the last: {last}", settings.window.as_secs_f64());
    let row = sqlx::query(
        "with judged as (
             select b.upstream_id,
                    array(select f.at
                          from (select unnest(b.failures) as at
                                union all
                                select statement_timestamp() from generate_series(1, $3)) f
                          where f.at > statement_timestamp() - $4
                          order by f.at desc
                          limit $5) as recent
             from breaker b
             where b.upstream_id = $1 and b.generation = $2 and b.state = 'closed'
             for update
         ),
         moved as (
             update breaker b
             set failures = case when cardinality(j.recent) < $5 then j.recent else '{}' end,
                 state = case when cardinality(j.recent) < $5 then 'closed' else 'open' end,
                 opened_at = case when cardinality(j.recent) < $5 then b.opened_at else statement_timestamp() end,
                 generation = b.generation + case when cardinality(j.recent) < $5 then 0 else 1 end
             from judged j
             where b.upstream_id = j.upstream_id
             returning b.upstream_id, b.state, b.generation, b.opened_at, b.lease_until
         ),
         noted as (
             insert into breaker_event (upstream_id, state, generation, reason, node_id)
             select upstream_id, state, generation, $6, $7 from moved where state = 'open'
         )
         select state, generation, opened_at, lease_until from moved",
    )
    .bind(upstream.id)
    .bind(generation)
    .bind(count)
    .bind(interval(settings.window))
    .bind(settings.failures)
    .bind(reason)
    .bind(node)
    .fetch_optional(db)
    .await?;
    row.as_ref().map(view).transpose()
}

/// Claims the one probe, if the breaker is due. `None`: it is not, or somebody else is the probe.
pub async fn claim(
    db: &PgPool,
    upstream: i64,
    probe: Uuid,
    lease: Duration,
    open_for: Duration,
    node: Uuid,
) -> sqlx::Result<Option<View>> {
    let row = sqlx::query(
        "with moved as (
             update breaker b
             set state = 'half_open', probe = $2, lease_until = statement_timestamp() + $3,
                 generation = b.generation + 1
             where b.upstream_id = $1
               and (b.state = 'open' and b.opened_at + $4 <= statement_timestamp()
                    or b.state = 'half_open' and b.lease_until <= statement_timestamp())
             returning b.upstream_id, b.state, b.generation, b.opened_at, b.lease_until
         ),
         noted as (
             insert into breaker_event (upstream_id, state, generation, reason, node_id)
             select upstream_id, state, generation, 'a probe was sent', $5 from moved
         )
         select state, generation, opened_at, lease_until from moved",
    )
    .bind(upstream)
    .bind(probe)
    .bind(interval(lease))
    .bind(interval(open_for))
    .bind(node)
    .fetch_optional(db)
    .await?;
    row.as_ref().map(view).transpose()
}

/// The probe reports. `None`: it has lost its lease, and its word counts no more.
pub async fn end_probe(
    db: &PgPool,
    upstream: i64,
    probe: Uuid,
    result: ProbeResult,
    node: Uuid,
) -> sqlx::Result<Option<View>> {
    let (state, reason) = match result {
        ProbeResult::Succeeded => ("closed", "the probe succeeded".to_owned()),
        ProbeResult::Failed(failure) => ("open", format!("the probe failed: {}", failure.words())),
        ProbeResult::Abandoned => ("open", "the probe's client left".to_owned()),
    };
    // An abandoned probe says nothing: the breaker stays due, so `opened_at` stays.
    let restart = matches!(result, ProbeResult::Failed(_));
    let row = sqlx::query(
        "with moved as (
             update breaker b
             set state = $3, probe = null, lease_until = null, failures = '{}', generation = b.generation + 1,
                 opened_at = case when $4 then statement_timestamp() else b.opened_at end
             where b.upstream_id = $1 and b.state = 'half_open' and b.probe = $2
             returning b.upstream_id, b.state, b.generation, b.opened_at, b.lease_until
         ),
         noted as (
             insert into breaker_event (upstream_id, state, generation, reason, node_id)
             select upstream_id, state, generation, $5, $6 from moved
         )
         select state, generation, opened_at, lease_until from moved",
    )
    .bind(upstream)
    .bind(probe)
    .bind(state)
    .bind(restart)
    .bind(reason)
    .bind(node)
    .fetch_optional(db)
    .await?;
    row.as_ref().map(view).transpose()
}

/// Opens again what has waited for its probe beyond the lease.
pub async fn sweep(db: &PgPool, node: Uuid) -> sqlx::Result<Vec<i64>> {
    sqlx::query_scalar(
        "with moved as (
             update breaker b
             set state = 'open', opened_at = statement_timestamp(), probe = null, lease_until = null,
                 generation = b.generation + 1
             where b.state = 'half_open' and b.lease_until <= statement_timestamp()
             returning b.upstream_id, b.state, b.generation
         ),
         noted as (
             insert into breaker_event (upstream_id, state, generation, reason, node_id)
             select upstream_id, state, generation, 'the probe never reported', $1 from moved
         )
         select upstream_id from moved",
    )
    .bind(node)
    .fetch_all(db)
    .await
}

/// Tells the other nodes. A statement of its own: a notice selected from an update would not be routable.
pub async fn notify(db: &PgPool, upstream: i64) -> sqlx::Result<()> {
    sqlx::query("select pg_notify('toll', 'breaker ' || $1::bigint)").bind(upstream).execute(db).await?;
    Ok(())
}

fn view(row: &PgRow) -> sqlx::Result<View> {
    let micros = |at: OffsetDateTime| (at.unix_timestamp_nanos() / 1000) as i64;
    let state: String = row.try_get("state")?;
    let opened_at: Option<OffsetDateTime> = row.try_get("opened_at")?;
    let lease_until: Option<OffsetDateTime> = row.try_get("lease_until")?;
    let state = match (state.as_str(), opened_at, lease_until) {
        ("half_open", _, Some(until)) => State::HalfOpen { lease_until: micros(until) },
        ("open", Some(since), _) => State::Open { since: micros(since) },
        _ => State::Closed,
    };
    Ok(View { state, generation: row.try_get("generation")? })
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: duration.as_micros() as i64 }
}
