//! A new password by a one-time link that an operator hands out. Good for 24 hours.

use serde_json::json;
use sqlx::PgPool;

use super::password::{self, PasswordError};
use super::{new_password, normal_email};
use crate::changes::{self, By, What};
use crate::session::store::{hash, new_token};

pub const VALID_HOURS: i32 = 24;

#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    #[error("nobody with the address {0:?} has an account")]
    Unknown(String),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    #[error("This link was used or withdrawn, or is older than {VALID_HOURS} hours. Ask for a new one.")]
    Over,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Where a token is used.
pub fn reset_link(public_url: &str, token: &str) -> String {
    format!("{}/reset/{token}", public_url.trim_end_matches('/'))
}

/// A link's token for the person with this address, in place of any given out before. For operators only: it tells
/// whether there is such a person, and who holds the link becomes that person.
pub async fn issue(db: &PgPool, by: By<'_>, email: &str) -> Result<String, IssueError> {
    let unknown = || IssueError::Unknown(email.to_owned());
    let normal = normal_email(email).ok_or_else(unknown)?;
    let token = new_token();
    let mut transaction = db.begin().await?;
    // The person before the links, as everybody locks them: of two who issue, the second replaces what the first has made.
    let person: Option<i64> = sqlx::query_scalar("select id from person where email = $1 for no key update")
        .bind(&normal)
        .fetch_optional(&mut *transaction)
        .await?;
    let person = person.ok_or_else(unknown)?;
    sqlx::query("delete from password_reset where person_id = $1")
        .bind(person)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "insert into password_reset (token_hash, person_id, made_by, expires_at)
         values ($1, $2, $3, now() + make_interval(hours => $4))",
    )
    .bind(hash(&token))
    .bind(person)
    .bind(by.0)
    .bind(VALID_HOURS)
    .execute(&mut *transaction)
    .await?;
    let after = json!({ "link": "handed out" });
    changes::record(&mut transaction, by, What::Password, &normal, None, Some(after)).await?;
    transaction.commit().await?;
    Ok(token)
}

/// Whose password the link sets, if it can still be used.
pub async fn find_reset(db: &PgPool, token: &str) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar(
        "select email from password_reset join person on person.id = person_id
         where token_hash = $1 and used_at is null and expires_at > now()",
    )
    .bind(hash(token))
    .fetch_optional(db)
    .await
}

/// Uses the link: sets the password, ends every session and forgets every browser of the person, whose id it returns.
/// On an error the link stays good.
pub async fn reset(db: &PgPool, token: &str, password: &str) -> Result<i64, ResetError> {
    let email = find_reset(db, token).await?.ok_or(ResetError::Over)?;
    let password_hash = password::hash(password, &[&email]).await?;
    let mut transaction = db.begin().await?;
    // The person before the links, as everybody locks them: two who hold the same link come one after the other.
    sqlx::query("select from person where email = $1 for no key update")
        .bind(&email)
        .execute(&mut *transaction)
        .await?;
    let person: Option<i64> = sqlx::query_scalar(
        "update password_reset set used_at = now()
         where token_hash = $1 and used_at is null and expires_at > now()
         returning person_id",
    )
    .bind(hash(token))
    .fetch_optional(&mut *transaction)
    .await?;
    let person = person.ok_or(ResetError::Over)?;
    new_password::set(&mut transaction, person, &password_hash).await?;
    // Whoever was kept out by failures is in by this.
    sqlx::query("delete from sign_in_failure where email = $1")
        .bind(&email)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(person)
}
