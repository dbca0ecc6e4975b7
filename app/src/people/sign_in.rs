//! Signing in, throttled by account and by address. An unknown account answers like a wrong password, and as slowly.

use sqlx::PgPool;

use super::normal_email;
use super::password::{self, PasswordError};

/// Attempts that are looked back on, in minutes.
const WINDOW_MINUTES: i32 = 15;
/// Failures within the window after which an account waits.
const BY_ACCOUNT: i64 = 10;
/// Failures within the window after which an address waits: an office shares one.
const BY_ADDRESS: i64 = 100;

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("E-mail address or password is wrong.")]
    Wrong,
    #[error("too many attempts")]
    TooMany { minutes: u32 },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The id of the person whose address and password these are.
pub async fn sign_in(db: &PgPool, email: &str, password: &str, address: &str) -> Result<i64, SignInError> {
    // An address that cannot exist is treated as one that does not, and counted.
    let email = normal_email(email)
        .unwrap_or_else(|| email.chars().filter(|letter| !letter.is_control()).take(254).collect());
    if !note_attempt(db, &email, address).await? {
        return Err(SignInError::TooMany { minutes: WINDOW_MINUTES as u32 });
    }
    let known: Option<(i64, String)> =
        sqlx::query_as("select id, password_hash from person where email = $1")
            .bind(&email)
            .fetch_optional(db)
            .await?;
    let (id, hash) = known.unzip();
    let right = password::verify(password, hash).await?;
    let person = id.filter(|_| right).ok_or(SignInError::Wrong)?;
    sqlx::query("delete from sign_in_failure where email = $1").bind(&email).execute(db).await?;
    Ok(person)
}

/// Whether one more may be made. Counts the attempt as failed until it has proved otherwise, so that many at once get no more tries than one after
/// another. An attempt that is turned away is not counted: who waits gets in.
async fn note_attempt(db: &PgPool, email: &str, address: &str) -> sqlx::Result<bool> {
    let mut transaction = db.begin().await?;
    // One at a time for an account and for an address, always in this order.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('sign in ' || $1, 1))")
        .bind(email)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('sign in ' || $1, 2))")
        .bind(address)
        .execute(&mut *transaction)
        .await?;
    let allowed: bool = sqlx::query_scalar(
        "with old as (
             delete from sign_in_failure where at < now() - make_interval(mins => $3)
         ), recent as (
             select email, address from sign_in_failure
             where at >= now() - make_interval(mins => $3) and (email = $1 or address = $2)
         ), allowed as (
             select count(*) filter (where email = $1) < $4 and count(*) filter (where address = $2) < $5 as yes
             from recent
         ), noted as (
             insert into sign_in_failure (email, address) select $1, $2 from allowed where yes
         )
         select yes from allowed",
    )
    .bind(email)
    .bind(address)
    .bind(WINDOW_MINUTES)
    .bind(BY_ACCOUNT)
    .bind(BY_ADDRESS)
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(allowed)
}
