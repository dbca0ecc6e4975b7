//! Sessions in PostgreSQL. A browser holds 32 random bytes; the database only their SHA-256.

use rand::RngCore;
use sha2::{Digest, Sha256};
use sqlx::PgPool;

use super::{Role, Viewer};

/// A session that nobody used for this long is over.
pub const IDLE_HOURS: i32 = 12;
/// A session is over after this, however busy.
pub const MAX_DAYS: i32 = 30;

/// A secret for a cookie or a link: 64 hexadecimal digits.
pub fn new_token() -> String {
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the database keeps of a token.
pub fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

/// Begins a session and returns its token. Sessions that are over go away with it.
pub async fn create(db: &PgPool, person: i64) -> sqlx::Result<String> {
    let token = new_token();
    sqlx::query(
        "with over as (
             delete from session
             where expires_at < now() or seen_at < now() - make_interval(hours => $4)
         )
         insert into session (token_hash, person_id, expires_at)
         -- Whoever is removed at this moment gets a token that opens nothing.
         select $1, id, now() + make_interval(days => $3) from person where id = $2 for key share",
    )
    .bind(hash(&token))
    .bind(person)
    .bind(MAX_DAYS)
    .bind(IDLE_HOURS)
    .execute(db)
    .await?;
    Ok(token)
}

/// A person, and of the partner what is there if it is a partner's.
#[derive(sqlx::FromRow)]
struct Found {
    email: String,
    id: Option<i64>,
    slug: Option<String>,
    name: Option<String>,
    suspended: Option<bool>,
}

/// Whose session this is, if it is not over. Being asked keeps it alive; written once a minute at most.
pub async fn find(db: &PgPool, token: &str) -> sqlx::Result<Option<Viewer>> {
    let found: Option<Found> = sqlx::query_as(
        "with live as (
             select token_hash, person_id, seen_at from session
             where token_hash = $1 and expires_at > now() and seen_at > now() - make_interval(hours => $2)
         ), seen as (
             update session set seen_at = now() from live
             where session.token_hash = live.token_hash and live.seen_at < now() - interval '1 minute'
         )
         select person.email, partner.id, partner.slug, partner.name, partner.suspended
         from live
         join person on person.id = live.person_id
         left join partner on partner.id = person.partner_id
         -- A partner that is gone takes its people's access along.
         where partner.retired_at is null",
    )
    .bind(hash(token))
    .bind(IDLE_HOURS)
    .fetch_optional(db)
    .await?;
    Ok(found.map(|Found { email, id, slug, name, suspended }| Viewer {
        email,
        role: match (id, slug, name) {
            (Some(id), Some(slug), Some(name)) => {
                Role::Partner { id, slug, name, is_suspended: suspended.unwrap_or_default() }
            }
            _ => Role::Ops,
        },
    }))
}

/// In how many browsers the person is signed in whose token this is.
pub async fn count(db: &PgPool, token: &str) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "select count(*) from session
         where person_id = (select person_id from session where token_hash = $1)
             and expires_at > now() and seen_at > now() - make_interval(hours => $2)",
    )
    .bind(hash(token))
    .bind(IDLE_HOURS)
    .fetch_one(db)
    .await
}

/// Ends one session.
pub async fn end(db: &PgPool, token: &str) -> sqlx::Result<()> {
    sqlx::query("delete from session where token_hash = $1").bind(hash(token)).execute(db).await?;
    Ok(())
}

/// Ends every session of the person whose token this is.
pub async fn end_everywhere(db: &PgPool, token: &str) -> sqlx::Result<()> {
    sqlx::query(
        "delete from session where person_id = (select person_id from session where token_hash = $1)",
    )
    .bind(hash(token))
    .execute(db)
    .await?;
    Ok(())
}
