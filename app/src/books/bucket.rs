//! A partner's bucket, read without touching it: as the quota stage would find it now.

use sqlx::{PgPool, Row};

use crate::domain::quota::Quota;

/// `None`: there is no such partner. The refill since the last request is computed, not written: the quota stage alone
/// writes buckets.
pub async fn quota_now(db: &PgPool, partner: i64) -> sqlx::Result<Option<Quota>> {
    let row = sqlx::query(
        "select plan.name, capacity, refill_per_second, now() as now,
             greatest(0, least(capacity, tokens + refill_per_second
                 * greatest(0, extract(epoch from now() - refilled_at)::float8))) as level
         from partner
         join plan on plan.id = partner.plan_id
         join bucket on bucket.partner_id = partner.id
         where partner.id = $1",
    )
    .bind(partner)
    .fetch_optional(db)
    .await?;
    row.map(|row| {
        Ok(Quota {
            plan: row.try_get("name")?,
            capacity: row.try_get::<i32, _>("capacity")? as u32,
            refill_per_second: row.try_get("refill_per_second")?,
            level: row.try_get("level")?,
            now: row.try_get("now")?,
        })
    })
    .transpose()
}
