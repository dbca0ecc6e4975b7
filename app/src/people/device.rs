//! Browsers that a person has signed in with. Guessing at an account slows down whoever guesses; a browser that was in
//! before is told apart from them, so that its owner gets in meanwhile.

use sqlx::PgPool;

use crate::session::store::{hash, new_token};

/// A browser that was not used for so long is forgotten.
pub const KNOWN_DAYS: i32 = 180;

/// Whether the token is of a browser in which this address has signed in.
pub async fn is_known(db: &PgPool, email: &str, token: &str) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "select exists (
             select from device join person on person.id = person_id
             where token_hash = $1 and email = $2 and seen_at > now() - make_interval(days => $3)
         )",
    )
    .bind(hash(token))
    .bind(email)
    .bind(KNOWN_DAYS)
    .fetch_one(db)
    .await
}

/// Notes that the person has signed in; returns the browser's token, which is the one it brought along if that was of
/// this person.
pub async fn remember(db: &PgPool, person: i64, token: Option<&str>) -> sqlx::Result<String> {
    let fresh = new_token();
    let kept: bool = match token {
        Some(token) => {
            let seen =
                sqlx::query("update device set seen_at = now() where token_hash = $1 and person_id = $2")
                    .bind(hash(token))
                    .bind(person)
                    .execute(db)
                    .await?;
            seen.rows_affected() > 0
        }
        None => false,
    };
    if let (true, Some(token)) = (kept, token) {
        return Ok(token.to_owned());
    }
    sqlx::query(
        "with forgotten as (
             delete from device where person_id = $2 and seen_at < now() - make_interval(days => $3)
         )
         insert into device (token_hash, person_id) select $1, id from person where id = $2 for key share",
    )
    .bind(hash(&fresh))
    .bind(person)
    .bind(KNOWN_DAYS)
    .execute(db)
    .await?;
    Ok(fresh)
}
