//! A new key, within the limit of the partner's plan.

use rand::Rng;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool, Row};
use time::Duration;

use super::{Allowance, KeyError, LONGEST_EXPIRY, MadeKey, announce_key, check_name, described, list, note};
use crate::changes::By;
use crate::domain::key_text;

#[derive(Clone, Copy, Debug, Default)]
pub struct NewKey<'a> {
    pub name: &'a str,
    /// None: until it is revoked.
    pub expires_in: Option<Duration>,
    /// Names of the routes that it is limited to. None: all of the partner's plan.
    pub routes: Option<&'a [String]>,
}

/// Makes a key of the partner with this id. It can be called with as soon as this returns.
pub async fn create(db: &PgPool, by: By<'_>, partner: i64, new: NewKey<'_>) -> Result<MadeKey, KeyError> {
    check_name(new.name)?;
    if new.expires_in.is_some_and(|span| span <= Duration::ZERO || span > LONGEST_EXPIRY) {
        return Err(KeyError::BadExpiry);
    }
    let mut tx = db.begin().await?;
    let max = lock(&mut tx, partner).await?.ok_or_else(|| KeyError::NoPartner(partner.to_string()))?;
    if let Some(routes) = new.routes {
        check_routes(&mut tx, partner, routes).await?;
    }
    if in_use(&mut tx, partner).await? >= i64::from(max) {
        return Err(KeyError::LimitReached { max });
    }
    let made = insert(&mut tx, by, partner, new, None).await?;
    tx.commit().await?;
    Ok(made)
}

/// Takes the partner's row, so that of two who make a key the second counts the first one's; gives the plan's limit.
/// None: there is no such partner.
pub(super) async fn lock(conn: &mut PgConnection, partner: i64) -> sqlx::Result<Option<i32>> {
    sqlx::query_scalar(
        "select max_keys from partner join plan on plan.id = plan_id
         where partner.id = $1 and partner.retired_at is null
         for update of partner",
    )
    .bind(partner)
    .fetch_optional(conn)
    .await
}

/// Keys that count towards the limit: those that are honoured, but of a rotated key and its successor only one.
async fn in_use(conn: &mut PgConnection, partner: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "with honoured as (
             select id, replaces from api_key
             where partner_id = $1
               and (revoked_at is null or revoked_at > statement_timestamp())
               and (expires_at is null or expires_at > statement_timestamp())
         )
         select count(*) from honoured
         where not exists (select from honoured as successor where successor.replaces = honoured.id)",
    )
    .bind(partner)
    .fetch_one(conn)
    .await
}

/// How many keys the partner has of those it may have. None: there is no such partner.
pub async fn allowance(db: &PgPool, partner: i64) -> sqlx::Result<Option<Allowance>> {
    let max: Option<i32> = sqlx::query_scalar(
        "select max_keys from partner join plan on plan.id = plan_id
         where partner.id = $1 and partner.retired_at is null",
    )
    .bind(partner)
    .fetch_optional(db)
    .await?;
    let Some(max) = max else { return Ok(None) };
    Ok(Some(Allowance { used: in_use(&mut *db.acquire().await?, partner).await?, max }))
}

async fn check_routes(conn: &mut PgConnection, partner: i64, routes: &[String]) -> Result<(), KeyError> {
    if routes.is_empty() {
        return Err(KeyError::NoRoutes);
    }
    let stranger: Option<String> = sqlx::query_scalar(
        "select asked.name
         from unnest($2::text[]) as asked (name)
         where not exists (
             select from partner
             join plan on plan.id = partner.plan_id
             join route on route.name = asked.name and route.retired_at is null
             where partner.id = $1 and (plan.routes is null or asked.name = any(plan.routes))
         )
         limit 1",
    )
    .bind(partner)
    .bind(routes)
    .fetch_optional(conn)
    .await?;
    stranger.map_or(Ok(()), |name| Err(KeyError::NoRoute(name)))
}

/// Announces too, so it comes last in its transaction.
pub(super) async fn insert(
    conn: &mut PgConnection,
    by: By<'_>,
    partner: i64,
    new: NewKey<'_>,
    replaces: Option<i64>,
) -> Result<MadeKey, KeyError> {
    let text = fresh();
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let row = sqlx::query(
        "insert into api_key (partner_id, name, hash, start, routes, expires_at, replaces)
         values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), $7)
         returning id",
    )
    .bind(partner)
    .bind(new.name)
    .bind(hash)
    .bind(key_text::start_of(&text))
    .bind(new.routes)
    .bind(new.expires_in.map(Duration::as_seconds_f64))
    .bind(replaces)
    .fetch_one(&mut *conn)
    .await?;
    let key = list::one(conn, Some(partner), row.try_get("id")?).await?;
    note(conn, by, &key, None, Some(described(&key))).await?;
    announce_key(conn, hash).await?;
    Ok(MadeKey { key, text })
}

/// 32 even draws of 62 are 190 bits.
fn fresh() -> String {
    let mut random = [0; 32];
    let mut source = rand::rng();
    random.fill_with(|| source.random_range(0..62));
    key_text::key_from(random)
}
