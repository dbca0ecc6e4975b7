//! The one statement.

use sqlx::{PgConnection, Row};

use super::{Ask, Verdict};

/// Spends for all of `asks` at once; a verdict each, in their order. `None`: the partner has no bucket.
pub async fn spend(db: &mut PgConnection, asks: &[Ask]) -> sqlx::Result<Vec<Option<Verdict>>> {
    let partners: Vec<i64> = asks.iter().map(|ask| ask.partner).collect();
    let capacities: Vec<f64> = asks.iter().map(|ask| ask.capacity).collect();
    let refills: Vec<f64> = asks.iter().map(|ask| ask.refill).collect();
    let keys: Vec<i64> = asks.iter().map(|ask| ask.key).collect();
    let addresses: Vec<&str> = asks.iter().map(|ask| ask.address.as_str()).collect();
    let ago: Vec<f64> = asks.iter().map(|ask| ask.decided.elapsed().as_secs_f64()).collect();
    let crowded: Vec<bool> = asks.iter().map(|ask| ask.inside.is_one_of_a_crowd()).collect();
    let rows = sqlx::query(include_str!("spend.sql"))
        .bind(partners)
        .bind(capacities)
        .bind(refills)
        .bind(keys)
        .bind(addresses)
        .bind(ago)
        .bind(crowded)
        .fetch_all(db)
        .await?;
    let mut verdicts = vec![None; asks.len()];
    for row in rows {
        let position: i64 = row.try_get("position")?;
        let verdict = Verdict {
            granted: row.try_get("granted")?,
            tokens_before: row.try_get("tokens_before")?,
            tokens_after: row.try_get("tokens_after")?,
            retry_after: row.try_get::<i64, _>("retry_after")? as u64,
            early_after_ms: row.try_get("early_after_ms")?,
            locally: false,
        };
        verdicts[position as usize - 1] = Some(verdict);
    }
    Ok(verdicts)
}

/// Takes from the buckets what nodes granted while the database was away: partner, capacity, refill per second, tokens.
pub async fn settle(db: &mut PgConnection, owed: &[(i64, f64, f64, f64)]) -> sqlx::Result<()> {
    let partners: Vec<i64> = owed.iter().map(|debt| debt.0).collect();
    let capacities: Vec<f64> = owed.iter().map(|debt| debt.1).collect();
    let refills: Vec<f64> = owed.iter().map(|debt| debt.2).collect();
    let tokens: Vec<f64> = owed.iter().map(|debt| debt.3).collect();
    sqlx::query(
        "with owed as (
             select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::float8[])
                  as o (partner_id, capacity, refill, tokens)
         ),
         -- In id order, as every statement on buckets.
         locked as (
             select b.partner_id, b.tokens, b.refilled_at, o.capacity, o.refill, o.tokens as owed
             from bucket b
             join owed o on o.partner_id = b.partner_id
             order by b.partner_id
             for update of b
         )
         update bucket b
         set tokens = greatest(0, least(l.capacity, l.tokens
                 + l.refill * greatest(0, extract(epoch from statement_timestamp() - l.refilled_at)::float8)) - l.owed),
             refilled_at = greatest(b.refilled_at, statement_timestamp())
         from locked l
         where b.partner_id = l.partner_id",
    )
    .bind(partners)
    .bind(capacities)
    .bind(refills)
    .bind(tokens)
    .execute(db)
    .await?;
    Ok(())
}
