//! A new password for whoever knows the old one; and what setting one means, whoever does it.

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::password::{self, PasswordError};
use super::sign_in::{SignInError, sign_in};
use crate::changes::{self, By, What};

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("The current password is wrong.")]
    Wrong,
    #[error("The new password is the current one. Choose another.")]
    Same,
    /// Other than wrong.
    #[error(transparent)]
    SignIn(SignInError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Sets the password of the person with this address, who proves to know the `current` one as if signing in: who guesses
/// here has no more tries than there. Returns the person's id; every session is over.
pub async fn change_password(
    db: &PgPool,
    email: &str,
    current: &str,
    password: &str,
    address: &str,
    device: Option<&str>,
) -> Result<i64, ChangeError> {
    let person = sign_in(db, email, current, address, device).await.map_err(|error| match error {
        SignInError::Wrong => ChangeError::Wrong,
        other => ChangeError::SignIn(other),
    })?;
    // Not before: it would say what the current one is.
    if password == current {
        return Err(ChangeError::Same);
    }
    let password_hash = password::hash(password, &[email]).await?;
    let mut tx = db.begin().await?;
    match set(&mut tx, person, &password_hash).await? {
        true => tx.commit().await?,
        // Removed meanwhile.
        false => return Err(ChangeError::Wrong),
    }
    Ok(person)
}

/// Sets the password, ends every session, forgets every browser and ends every link for another password of the person, in
/// whose name it is written down. False: there is no such person.
pub(super) async fn set(conn: &mut PgConnection, person: i64, password_hash: &str) -> sqlx::Result<bool> {
    let email: Option<String> =
        sqlx::query_scalar("update person set password_hash = $2 where id = $1 returning email")
            .bind(person)
            .bind(password_hash)
            .fetch_optional(&mut *conn)
            .await?;
    let Some(email) = email else { return Ok(false) };
    for forget in [
        "delete from session where person_id = $1",
        "delete from device where person_id = $1",
        "delete from password_reset where person_id = $1 and used_at is null",
    ] {
        sqlx::query(forget).bind(person).execute(&mut *conn).await?;
    }
    let after = json!({ "password": "set anew" });
    changes::record(conn, By(&email), What::Password, &email, None, Some(after)).await?;
    Ok(true)
}
