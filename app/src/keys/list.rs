//! Reading keys.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, PgPool, Row};

use super::KeyError;
use crate::domain::api_key::{ApiKey, KeyState};

const KEYS: &str = "
    select api_key.id, slug, api_key.name, start, routes, api_key.created_at, expires_at, revoked_at, now() as now
    from api_key join partner on partner.id = partner_id and retired_at is null
    where ($1::bigint is null or partner_id = $1) and ($2::bigint is null or api_key.id = $2)
    -- Those that still count first, the newest of them on top.
    order by slug, coalesce(least(expires_at, revoked_at) <= now(), false), api_key.id desc";

/// The keys of one partner, or of all; ended ones last.
pub async fn list(db: &PgPool, scope: Option<i64>) -> sqlx::Result<Vec<ApiKey>> {
    sqlx::query_as(KEYS).bind(scope).bind(None::<i64>).fetch_all(db).await
}

/// As the caller's transaction sees it.
pub(super) async fn one(conn: &mut PgConnection, scope: Option<i64>, id: i64) -> Result<ApiKey, KeyError> {
    let key = sqlx::query_as(KEYS).bind(scope).bind(id).fetch_optional(conn).await?;
    key.ok_or(KeyError::NotFound(id))
}

impl FromRow<'_, PgRow> for ApiKey {
    fn from_row(row: &PgRow) -> sqlx::Result<ApiKey> {
        let (expires_at, revoked_at) = (row.try_get("expires_at")?, row.try_get("revoked_at")?);
        Ok(ApiKey {
            id: row.try_get("id")?,
            partner: row.try_get("slug")?,
            name: row.try_get("name")?,
            start: row.try_get("start")?,
            state: KeyState::at(row.try_get("now")?, expires_at, revoked_at),
            routes: row.try_get("routes")?,
            created_at: row.try_get("created_at")?,
            expires_at,
            revoked_at,
        })
    }
}
