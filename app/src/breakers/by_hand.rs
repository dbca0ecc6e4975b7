//! An operator moves a breaker.

use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::types::PgInterval;
use time::Duration;

use crate::changes::{self, By, What};
use crate::domain::numbers::count;

/// What is done to a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// Nobody passes for so long; after that a probe finds out, as after any outage.
    Open(Duration),
    Close,
}

/// Changes the row that all nodes share, and tells them. `generation` is what the operator has seen: whatever has changed
/// meanwhile goes before, and the answer is false. Calls that began under it report into the void, as after any transition.
pub async fn by_hand(
    db: &PgPool,
    upstream: i64,
    generation: i64,
    hand: Hand,
    who: &str,
) -> sqlx::Result<bool> {
    let (state, hold, reason) = match hand {
        Hand::Open(hold) => ("open", hold, format!("opened by {who} for {}", words(hold))),
        Hand::Close => ("closed", Duration::ZERO, format!("closed by {who}")),
    };
    let mut tx = db.begin().await?;
    let moved = sqlx::query(
        "with moved as (
             update breaker as b
             set state = $3, probe = null, lease_until = null, failures = '{}', generation = b.generation + 1,
                 -- Due is who was opened `breaker_open_ms` ago: a longer hold begins in the future.
                 opened_at = case when $3 = 'closed' then b.opened_at
                     else statement_timestamp() + $4 - make_interval(secs => u.breaker_open_ms / 1000.0) end
             from upstream as u
             where b.upstream_id = $1 and b.generation = $2 and u.id = b.upstream_id and u.retired_at is null
               and (b.state <> 'closed' or $3 = 'open')
             returning b.upstream_id, b.state, b.generation
         )
         insert into breaker_event (upstream_id, state, generation, reason, by_hand)
         select upstream_id, state, generation, $5, true from moved",
    )
    .bind(upstream)
    .bind(generation)
    .bind(state)
    .bind(PgInterval { months: 0, days: 0, microseconds: hold.whole_microseconds() as i64 })
    .bind(reason)
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if moved == 1 {
        let name: String = sqlx::query_scalar("select name from upstream where id = $1")
            .bind(upstream)
            .fetch_one(&mut *tx)
            .await?;
        let after = match hand {
            Hand::Open(hold) => json!({ "state": "open", "for": words(hold) }),
            Hand::Close => json!({ "state": "closed" }),
        };
        changes::record(&mut tx, By(who), What::Breaker, &name, None, Some(after)).await?;
    }
    sqlx::query("select pg_notify('toll', 'breaker ' || $1::bigint)")
        .bind(upstream)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(moved == 1)
}

fn words(hold: Duration) -> String {
    match hold.whole_hours() {
        0 => count(hold.whole_minutes() as u64, "minute"),
        hours => count(hours as u64, "hour"),
    }
}
