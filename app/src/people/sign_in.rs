//! Signing in, throttled by account and by address. An unknown account answers like a wrong password, and as slowly.
//!
//! Whoever guesses is stopped, and not the account: a stranger's address has a few tries at it, all strangers together some
//! more, and a browser in which the owner has been signed in before has tries of its own.

use sqlx::PgPool;

use super::password::{self, PasswordError};
use super::{device, minutes, normal_email};
use crate::session::store::hash;

/// Attempts that are looked back on, in minutes.
const WINDOW_MINUTES: i32 = 15;
/// Failures within the window after which an address, or a browser that is known, waits with one account.
const BY_CALLER: i64 = 10;
/// Failures of all strangers together after which an account waits for them, and for nobody else.
const BY_ACCOUNT: i64 = 100;
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

/// The id of the person whose address and password these are. `device` is the token that the browser got when somebody
/// signed in with it before.
pub async fn sign_in(
    db: &PgPool,
    email: &str,
    password: &str,
    address: &str,
    device: Option<&str>,
) -> Result<i64, SignInError> {
    // An address that cannot exist is treated as one that does not, and counted.
    let email = normal_email(email)
        .unwrap_or_else(|| email.chars().filter(|letter| !letter.is_control()).take(254).collect());
    let is_known = match device {
        Some(token) => device::is_known(db, &email, token).await?,
        None => false,
    };
    // A known browser is counted by what it is, not by where it is: its office may be where the guessing comes from.
    let caller = match device.filter(|_| is_known) {
        Some(token) => format!("{DEVICE}{}", &digest(token)[..16]),
        None => address.to_owned(),
    };
    if let Some(minutes) = note_attempt(db, &email, &caller).await? {
        return Err(SignInError::TooMany { minutes });
    }
    let known: Option<(i64, String)> =
        sqlx::query_as("select id, password_hash from person where email = $1")
            .bind(&email)
            .fetch_optional(db)
            .await?;
    let (id, hash) = known.unzip();
    let right = password::verify(password, hash).await?;
    let person = id.filter(|_| right).ok_or(SignInError::Wrong)?;
    // Only this caller's: a guesser's count stays.
    sqlx::query("delete from sign_in_failure where email = $1 and address = $2")
        .bind(&email)
        .bind(&caller)
        .execute(db)
        .await?;
    Ok(person)
}

/// Marks a caller that is a browser.
const DEVICE: &str = "device ";

fn digest(token: &str) -> String {
    hash(token).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// In how many minutes one more may be made; none: now. Counts the attempt as failed until it has proved otherwise, so that many at once get no
/// more tries than one after another. An attempt that is turned away is not counted: who waits gets in.
async fn note_attempt(db: &PgPool, email: &str, caller: &str) -> sqlx::Result<Option<u32>> {
    let mut transaction = db.begin().await?;
    // One at a time for an account and for a caller, always in this order.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('sign in ' || $1, 1))")
        .bind(email)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('sign in ' || $1, 2))")
        .bind(caller)
        .execute(&mut *transaction)
        .await?;
    let seconds: Option<f64> = sqlx::query_scalar(
        "with old as (
             delete from sign_in_failure where at < now() - make_interval(mins => $3)
         ), recent as (
             select at, email = $1 and address = $2 as is_callers, address = $2 as is_of_address,
                 email = $1 and address not like $7 || '%' and $2 not like $7 || '%' as is_strangers
             from sign_in_failure
             where at >= now() - make_interval(mins => $3) and (email = $1 or address = $2)
         ), used_up as (
             -- The oldest of too many: once it is forgotten, one more may be made.
             select greatest(
                 case when count(*) filter (where is_callers) >= $4 then min(at) filter (where is_callers) end,
                 case when count(*) filter (where is_of_address) >= $5 then min(at) filter (where is_of_address) end,
                 case when count(*) filter (where is_strangers) >= $6 then min(at) filter (where is_strangers) end
             ) as since
             from recent
         ), noted as (
             insert into sign_in_failure (email, address) select $1, $2 from used_up where since is null
         )
         select extract(epoch from since + make_interval(mins => $3) - now())::float8 from used_up",
    )
    .bind(email)
    .bind(caller)
    .bind(WINDOW_MINUTES)
    .bind(BY_CALLER)
    .bind(BY_ADDRESS)
    .bind(BY_ACCOUNT)
    .bind(DEVICE)
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(seconds.map(minutes))
}
