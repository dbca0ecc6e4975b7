//! Partners as operators see them: who they are, and what they send.

use serde::{Deserialize, Serialize};
use sqlx::{FromRow, PgPool};
use time::OffsetDateTime;

use crate::books::ends_of;
use crate::domain::ends::Ends;
use crate::domain::quota::terms;
use crate::domain::window::Window;

/// Partners on one page of the list.
pub const PAGE: i64 = 50;

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub partner: Partner,
    /// Keys that are honoured.
    pub keys: i64,
    pub ends: Ends,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub partners: Vec<Listed>,
    /// On all pages.
    pub total: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, FromRow)]
pub struct Partner {
    pub id: i64,
    pub slug: String,
    pub name: String,
    /// The plan's name.
    pub plan: String,
    pub suspended: bool,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromRow)]
pub struct Plan {
    pub name: String,
    pub capacity: i32,
    pub refill_per_second: f64,
}

impl Plan {
    /// "free: 60 at once, one more each second".
    pub fn words(&self) -> String {
        format!("{}: {}", self.name, terms(self.capacity.max(0) as u32, self.refill_per_second))
    }
}

#[derive(FromRow)]
struct Row {
    #[sqlx(flatten)]
    partner: Partner,
    keys: i64,
    total: i64,
}

/// A page of `size`, counted from 0, of the partners whose slug or name has `search` in it, by slug; with what they sent in the window.
pub async fn list(db: &PgPool, window: Window, search: &str, page: i64, size: i64) -> sqlx::Result<Page> {
    let rows: Vec<Row> = sqlx::query_as(
        "select partner.id, slug, partner.name, plan.name as plan, suspended, partner.created_at,
             -- Of a rotated key and its successor one, as they count towards the limit.
             (with honoured as (
                  select id, replaces from api_key
                  where partner_id = partner.id
                    and (revoked_at is null or revoked_at > now()) and (expires_at is null or expires_at > now())
              )
              select count(*) from honoured
              where not exists (select from honoured as successor where successor.replaces = honoured.id)) as keys,
             count(*) over () as total
         from partner join plan on plan.id = plan_id
         where partner.retired_at is null and strpos(lower(slug || ' ' || partner.name), lower($1)) > 0
         order by slug
         limit $2 offset $3",
    )
    .bind(search.trim())
    .bind(size)
    .bind(page.max(0).saturating_mul(size))
    .fetch_all(db)
    .await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.partner.id).collect();
    let mut ends = ends_of(db, window, &ids).await?;
    let total = rows.first().map_or(0, |row| row.total);
    let listed = rows.into_iter().map(|Row { partner, keys, .. }| {
        let ends = ends.remove(&partner.id).unwrap_or_default();
        Listed { partner, keys, ends }
    });
    Ok(Page { partners: listed.collect(), total })
}

pub async fn find(db: &PgPool, slug: &str) -> sqlx::Result<Option<Partner>> {
    sqlx::query_as(
        "select partner.id, slug, partner.name, plan.name as plan, suspended, partner.created_at
         from partner join plan on plan.id = plan_id
         where slug = $1 and partner.retired_at is null",
    )
    .bind(slug)
    .fetch_optional(db)
    .await
}

/// The plans that a partner may be on.
pub async fn plans(db: &PgPool) -> sqlx::Result<Vec<Plan>> {
    sqlx::query_as(
        "select name, capacity, refill_per_second from plan where retired_at is null order by capacity, name",
    )
    .fetch_all(db)
    .await
}
