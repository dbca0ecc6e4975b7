//! The list of keys as its screen shows it: each with its last days, from the rollups, in one statement.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgPool, Row};
use time::OffsetDateTime;

use crate::domain::api_key::ApiKey;
use crate::domain::key_use::{DAYS, Day, ENDS, Exact, KeyUse, LastUse};

/// Keys on one page of the list.
pub const PAGE: i64 = 50;

/// How many keys a partner has and may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Allowance {
    /// A rotated key and its successor count as one.
    pub used: i64,
    pub max: i32,
}

impl Allowance {
    pub fn is_spent(self) -> bool {
        self.used >= i64::from(self.max)
    }
}

/// One page of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub keys: Vec<KeyUse>,
    /// Keys on all pages, ended ones included.
    pub total: i64,
    pub now: OffsetDateTime,
}

/// A page of the partner's keys, counted from 0: those that still count first, the newest of them on top.
pub async fn usage(db: &PgPool, partner: i64, page: i64) -> sqlx::Result<Page> {
    let rows = sqlx::query(include_str!("usage.sql"))
        .bind(partner)
        .bind(PAGE)
        .bind(page.max(0).saturating_mul(PAGE))
        .bind(DAYS as i32)
        .fetch_all(db)
        .await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let now = match rows.first() {
        Some(row) => row.try_get("now")?,
        None => sqlx::query_scalar("select now()").fetch_one(db).await?,
    };
    let keys = rows.iter().map(key_use).collect::<sqlx::Result<_>>()?;
    Ok(Page { keys, total, now })
}

fn key_use(row: &PgRow) -> sqlx::Result<KeyUse> {
    let ages: Vec<i32> = row.try_get("ages")?;
    let ends: Vec<i16> = row.try_get("ends")?;
    let requests: Vec<i64> = row.try_get("requests")?;
    let mut days = vec![Day::default(); DAYS];
    for ((age, end), requests) in ages.into_iter().zip(ends).zip(requests) {
        let (day, end) = (DAYS as i32 - 1 - age, end as usize);
        if (0..DAYS as i32).contains(&day) && (1..=ENDS).contains(&end) {
            days[day as usize][end - 1] += requests as u64;
        }
    }
    let exact = [("minute", Exact::Minute), ("hour", Exact::Hour), ("day", Exact::Day)];
    let mut last = None;
    for (name, to) in exact {
        let at: Option<OffsetDateTime> = row.try_get(name)?;
        last = last.or(at.map(|at| LastUse { at, to }));
    }
    Ok(KeyUse { key: ApiKey::from_row(row)?, days, last })
}
