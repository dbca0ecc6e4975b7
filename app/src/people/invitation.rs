//! One-time links: whoever holds one sets a password and has an account. Good for 72 hours.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgExecutor, PgPool, Postgres, Transaction};

use super::password::{self, PasswordError};
use super::{minutes, normal_email};
use crate::changes::{self, By, What};
use crate::session::store::{hash, new_token};

pub const VALID_HOURS: i32 = 72;
/// Invitations by one of a partner's people within an hour: whoever uses a link learns whether its address has an account.
const BY_COLLEAGUE: i64 = 20;

/// What an account is, or will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InviteAs {
    Ops,
    /// The partner's id.
    Partner(i64),
}

impl InviteAs {
    /// As the column `partner_id` has it.
    pub(super) fn partner(self) -> Option<i64> {
        match self {
            InviteAs::Ops => None,
            InviteAs::Partner(id) => Some(id),
        }
    }

    pub(super) fn of(partner: Option<i64>) -> InviteAs {
        partner.map_or(InviteAs::Ops, InviteAs::Partner)
    }

    /// As it is written down.
    pub(super) async fn told(self, db: &mut PgConnection) -> sqlx::Result<Value> {
        let InviteAs::Partner(id) = self else { return Ok(json!({ "role": "ops" })) };
        let slug: Option<String> =
            sqlx::query_scalar("select slug from partner where id = $1").bind(id).fetch_optional(db).await?;
        Ok(json!({ "role": "partner", "partner": slug }))
    }
}

/// A link that can still be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Invitation {
    /// Absent for the first operator, who names it.
    pub email: Option<String>,
    /// The partner's name; absent for operators.
    pub partner: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum InviteError {
    #[error("{0:?} is no e-mail address")]
    NoAddress(String),
    /// For operators alone: it tells who has an account.
    #[error("{email} has an account already, {role}, and an address has one only")]
    Exists { email: String, role: String },
    #[error("{0} is a colleague already, with an account of their own")]
    Colleague(String),
    #[error("too many invitations")]
    TooMany { minutes: u32 },
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("This link was used or withdrawn, or is older than {VALID_HOURS} hours. Ask for a new one.")]
    Over,
    #[error("This is no e-mail address.")]
    NoAddress,
    #[error(
        "This address has an account already, and can have no second one. Sign in with it, or ask for an invitation of \
         another address."
    )]
    Exists,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Where a token is used.
pub fn link(public_url: &str, token: &str) -> String {
    format!("{}/invite/{token}", public_url.trim_end_matches('/'))
}

/// Invites an address and returns the link's token.
pub async fn invite(db: &PgPool, by: By<'_>, email: &str, role: InviteAs) -> Result<String, InviteError> {
    let email = normal_email(email).ok_or_else(|| InviteError::NoAddress(email.to_owned()))?;
    let team: Option<Option<String>> = sqlx::query_scalar(
        "select slug from person left join partner on partner.id = partner_id where email = $1",
    )
    .bind(&email)
    .fetch_optional(db)
    .await?;
    match team {
        Some(slug) => {
            let role = slug.map_or("as an operator".to_owned(), |slug| format!("for the partner {slug}"));
            Err(InviteError::Exists { email, role })
        }
        None => made(db.begin().await?, by, &email, role).await,
    }
}

/// Inserted in place of any that the same team has given the address before, and written down.
async fn made(
    mut transaction: Transaction<'_, Postgres>,
    by: By<'_>,
    email: &str,
    role: InviteAs,
) -> Result<String, InviteError> {
    // Of two at once, the second replaces what the first has made.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('invite ' || $1, 4))")
        .bind(email)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "delete from invitation where email = $1 and partner_id is not distinct from $2 and used_at is null",
    )
    .bind(email)
    .bind(role.partner())
    .execute(&mut *transaction)
    .await?;
    let token = insert(&mut transaction, Some((email, by)), role).await?;
    let after = role.told(&mut transaction).await?;
    changes::record(&mut transaction, by, What::Invitation, email, None, Some(after)).await?;
    transaction.commit().await?;
    Ok(token)
}

/// Like [`invite`], but by one of the partner's people. Of others than their colleagues they may not know whether an address
/// has an account: who then uses the link is told to sign in instead.
pub async fn invite_colleague(
    db: &PgPool,
    by: By<'_>,
    email: &str,
    partner: i64,
) -> Result<String, InviteError> {
    let email = normal_email(email).ok_or_else(|| InviteError::NoAddress(email.to_owned()))?;
    let is_colleague = "select exists (select from person where email = $1 and partner_id = $2)";
    if sqlx::query_scalar(is_colleague).bind(&email).bind(partner).fetch_one(db).await? {
        return Err(InviteError::Colleague(email));
    }
    let mut transaction = db.begin().await?;
    may_invite(&mut transaction, by).await?;
    made(transaction, by, &email, InviteAs::Partner(partner)).await
}

/// Unless they have invited too many within the hour, by what was written down: an invitation that was withdrawn or replaced counts.
async fn may_invite(conn: &mut PgConnection, by: By<'_>) -> Result<(), InviteError> {
    // Of two at once, the second counts the first.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended('invites ' || $1, 5))")
        .bind(by.0)
        .execute(&mut *conn)
        .await?;
    let (count, seconds): (i64, Option<f64>) = sqlx::query_as(
        "select count(*), extract(epoch from min(at) + interval '1 hour' - now())::float8
         from change
         where what = $1 and who = $2 and before is null and at > now() - interval '1 hour'",
    )
    .bind(What::Invitation.word())
    .bind(by.0)
    .fetch_one(conn)
    .await?;
    if count < BY_COLLEAGUE {
        return Ok(());
    }
    Err(InviteError::TooMany { minutes: minutes(seconds.unwrap_or(0.0)) })
}

/// While nobody has an account: a fresh link that makes the first operator, in place of any given out before.
pub async fn first_ops_link(db: &PgPool, public_url: &str) -> sqlx::Result<Option<String>> {
    let mut transaction = db.begin().await?;
    if !is_deserted(&mut *transaction).await? {
        return Ok(None);
    }
    sqlx::query("delete from invitation where email is null").execute(&mut *transaction).await?;
    let token = insert(&mut transaction, None, InviteAs::Ops).await?;
    transaction.commit().await?;
    Ok(Some(link(public_url, &token)))
}

/// Whether nobody has an account yet.
pub async fn is_deserted(db: impl PgExecutor<'_>) -> sqlx::Result<bool> {
    sqlx::query_scalar("select not exists (select from person)").fetch_one(db).await
}

/// `named`: for whom it is, and who makes it.
async fn insert(
    db: &mut PgConnection,
    named: Option<(&str, By<'_>)>,
    role: InviteAs,
) -> sqlx::Result<String> {
    let token = new_token();
    sqlx::query(
        "insert into invitation (token_hash, email, made_by, role, partner_id, expires_at)
         values ($1, $2, $3, case when $4::bigint is null then 'ops' else 'partner' end, $4,
             now() + make_interval(hours => $5))",
    )
    .bind(hash(&token))
    .bind(named.map(|(email, _)| email))
    .bind(named.map(|(_, by)| by.0))
    .bind(role.partner())
    .bind(VALID_HOURS)
    .execute(db)
    .await?;
    Ok(token)
}

/// The invitation behind a token, if it can still be used.
pub async fn find_invitation(db: &PgPool, token: &str) -> sqlx::Result<Option<Invitation>> {
    sqlx::query_as(
        "select invitation.email, partner.name as partner
         from invitation left join partner on partner.id = invitation.partner_id
         where token_hash = $1 and used_at is null and expires_at > now() and partner.retired_at is null",
    )
    .bind(hash(token))
    .fetch_optional(db)
    .await
}

/// Uses the link: makes the account and returns the person's id. `email` counts only where the invitation names none.
/// On an error the link stays good.
pub async fn accept(db: &PgPool, token: &str, email: &str, password: &str) -> Result<i64, AcceptError> {
    let invitation = find_invitation(db, token).await?.ok_or(AcceptError::Over)?;
    let email = match invitation.email {
        Some(email) => email,
        None => normal_email(email).ok_or(AcceptError::NoAddress)?,
    };
    let password_hash = password::hash(password, &[&email]).await?;
    let mut transaction = db.begin().await?;
    // Two who hold the same link: the row lock lets one through.
    let role: Option<(String, Option<i64>, bool)> = sqlx::query_as(
        "update invitation set used_at = now()
         where token_hash = $1 and used_at is null and expires_at > now()
         returning role, partner_id, email is null",
    )
    .bind(hash(token))
    .fetch_optional(&mut *transaction)
    .await?;
    let (role, partner, is_first) = role.ok_or(AcceptError::Over)?;
    let person: Option<i64> = sqlx::query_scalar(
        "insert into person (email, role, partner_id, password_hash)
         select $1, $2, $3, $4
         -- The link that names nobody makes the first account, never a second.
         where not $5 or not exists (select from person)
         on conflict (email) do nothing
         returning id",
    )
    .bind(&email)
    .bind(&role)
    .bind(partner)
    .bind(&password_hash)
    .bind(is_first)
    .fetch_optional(&mut *transaction)
    .await?;
    let person = person.ok_or(if is_first { AcceptError::Over } else { AcceptError::Exists })?;
    let after = InviteAs::of(partner).told(&mut transaction).await?;
    changes::record(&mut transaction, By(&email), What::Person, &email, None, Some(after)).await?;
    transaction.commit().await?;
    Ok(person)
}
