//! Ending, replacing and renaming a key.

use serde_json::{Value, json};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::create::{NewKey, insert, lock};
use super::{KeyError, LONGEST_OVERLAP, MadeKey, announce_key, check_name, list, note};
use crate::changes::By;
use crate::domain::api_key::{ApiKey, KeyState};

/// Ends the key now, an overlap included. One that has ended stays as it is.
pub async fn revoke(db: &PgPool, by: By<'_>, scope: Option<i64>, id: i64) -> Result<ApiKey, KeyError> {
    let mut tx = db.begin().await?;
    let before = list::one(&mut tx, scope, id).await?;
    let hash: Option<[u8; 32]> = sqlx::query_scalar(
        "update api_key set revoked_at = now()
         where id = $1 and ($2::bigint is null or partner_id = $2) and (revoked_at is null or revoked_at > now())
         returning hash",
    )
    .bind(id)
    .bind(scope)
    .fetch_optional(&mut *tx)
    .await?;
    let key = list::one(&mut tx, scope, id).await?;
    if let Some(hash) = hash {
        note(&mut tx, by, &key, Some(state(before.state)), Some(state(key.state))).await?;
        announce_key(&mut tx, hash).await?;
    }
    tx.commit().await?;
    Ok(key)
}

/// Gives the key another name.
pub async fn rename(
    db: &PgPool,
    by: By<'_>,
    scope: Option<i64>,
    id: i64,
    name: &str,
) -> Result<ApiKey, KeyError> {
    check_name(name)?;
    let mut tx = db.begin().await?;
    let before = list::one(&mut tx, scope, id).await?;
    let hash: Option<[u8; 32]> = sqlx::query_scalar(
        "update api_key set name = $3 where id = $1 and ($2::bigint is null or partner_id = $2)
         returning hash",
    )
    .bind(id)
    .bind(scope)
    .bind(name)
    .fetch_optional(&mut *tx)
    .await?;
    let hash = hash.ok_or(KeyError::NotFound(id))?;
    let key = list::one(&mut tx, scope, id).await?;
    if before.name != key.name {
        let names = (json!({ "name": before.name }), json!({ "name": key.name }));
        note(&mut tx, by, &before, Some(names.0), Some(names.1)).await?;
    }
    announce_key(&mut tx, hash).await?;
    tx.commit().await?;
    Ok(key)
}

/// Makes a successor of the same name, routes and length of life; the key itself is honoured for `overlap` more.
/// Both count as one towards the plan's limit, so a key has one successor, and that one waits with its own.
pub async fn rotate(
    db: &PgPool,
    by: By<'_>,
    scope: Option<i64>,
    id: i64,
    overlap: Duration,
) -> Result<MadeKey, KeyError> {
    if overlap < Duration::ZERO || overlap > LONGEST_OVERLAP {
        return Err(KeyError::BadOverlap);
    }
    let mut tx = db.begin().await?;
    let partner: Option<i64> = sqlx::query_scalar(
        "select partner_id from api_key where id = $1 and ($2::bigint is null or partner_id = $2)",
    )
    .bind(id)
    .bind(scope)
    .fetch_optional(&mut *tx)
    .await?;
    let partner = partner.ok_or(KeyError::NotFound(id))?;
    // Before anything is judged: whoever rotates at the same time comes before or after, never between.
    lock(&mut tx, partner).await?.ok_or(KeyError::NotFound(id))?;
    let old = list::one(&mut tx, scope, id).await?;
    match old.state {
        KeyState::Active | KeyState::Expiring => {}
        KeyState::Rotating => return Err(KeyError::RotatedAlready),
        KeyState::Expired | KeyState::Revoked => return Err(KeyError::Ended),
    }
    let overlaps: bool = sqlx::query_scalar(
        "select exists (
             select from api_key as old join api_key as former on former.id = old.replaces
             where old.id = $1 and least(former.revoked_at, former.expires_at) > now()
         )",
    )
    .bind(id)
    .fetch_one(&mut *tx)
    .await?;
    if overlaps {
        return Err(KeyError::StillOverlapping);
    }
    // A revocation needs no lock of the partner's. If one came meanwhile, it must not be put off.
    let hash: Option<[u8; 32]> = sqlx::query_scalar(
        "update api_key set revoked_at = now() + make_interval(secs => $2) where id = $1 and revoked_at is null
         returning hash",
    )
    .bind(id)
    .bind(overlap.as_seconds_f64())
    .fetch_optional(&mut *tx)
    .await?;
    let hash = hash.ok_or(KeyError::Ended)?;
    let lasted = |expires: OffsetDateTime| expires - old.created_at;
    let new =
        NewKey { name: &old.name, expires_in: old.expires_at.map(lasted), routes: old.routes.as_deref() };
    let rotated = list::one(&mut tx, scope, id).await?;
    note(&mut tx, by, &old, Some(state(old.state)), Some(state(rotated.state))).await?;
    let made = insert(&mut tx, by, partner, new, Some(id)).await?;
    announce_key(&mut tx, hash).await?;
    tx.commit().await?;
    Ok(made)
}

fn state(state: KeyState) -> Value {
    json!({ "state": state.word() })
}
