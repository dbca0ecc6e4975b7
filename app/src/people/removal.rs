//! Taking an account away, and an invitation back.

use sqlx::{PgConnection, PgPool};

use super::{InviteAs, normal_email};
use crate::changes::{self, By, What};

#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("nobody here has an account with the address {0:?}")]
    Unknown(String),
    #[error("there is no invitation for {0:?} that could be withdrawn")]
    NotInvited(String),
    #[error("you cannot remove yourself: somebody else can")]
    Yourself,
    #[error(
        "the last operator cannot be removed: nobody could let anybody in any more; invite another one first"
    )]
    LastOperator,
    #[error("the last one who signs in for a partner can be removed by an operator only")]
    LastColleague,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// By an operator, or by a command: anybody, or somebody `of` a team; but neither oneself nor the last operator. Every
/// session of the person ends, and every link that is for the person or was handed out by them.
pub async fn remove(db: &PgPool, by: By<'_>, of: Option<InviteAs>, email: &str) -> Result<(), RemoveError> {
    take_away(db, by, of, email, false).await
}

/// By one of the partner's people: another one of them. Whoever removes stays, so that the last one does; of invitations
/// for the address only the partner's own end.
pub async fn remove_colleague(db: &PgPool, by: By<'_>, partner: i64, email: &str) -> Result<(), RemoveError> {
    take_away(db, by, Some(InviteAs::Partner(partner)), email, true).await
}

async fn take_away(
    db: &PgPool,
    by: By<'_>,
    of: Option<InviteAs>,
    email: &str,
    by_colleague: bool,
) -> Result<(), RemoveError> {
    let unknown = || RemoveError::Unknown(email.to_owned());
    let normal = normal_email(email).ok_or_else(unknown)?;
    if normal == by.0 {
        return Err(RemoveError::Yourself);
    }
    let mut tx = db.begin().await?;
    let found: Option<Option<i64>> = sqlx::query_scalar("select partner_id from person where email = $1")
        .bind(&normal)
        .fetch_optional(&mut *tx)
        .await?;
    let role = found.map(InviteAs::of).filter(|role| of.is_none_or(|of| of == *role)).ok_or_else(unknown)?;
    let team = lock_team(&mut tx, role).await?;
    let (id, _) = team.iter().find(|(_, email)| *email == normal).ok_or_else(unknown)?;
    match role {
        InviteAs::Ops if team.len() == 1 => return Err(RemoveError::LastOperator),
        InviteAs::Partner(_) if team.len() == 1 && by_colleague => return Err(RemoveError::LastColleague),
        _ => {}
    }
    // Links before the person: whoever accepts one holds it until the account is made.
    sqlx::query(
        "delete from invitation
         where used_at is null
             and (made_by = $1 or email = $1 and (not $2 or partner_id is not distinct from $3))",
    )
    .bind(&normal)
    .bind(by_colleague)
    .bind(role.partner())
    .execute(&mut *tx)
    .await?;
    sqlx::query("delete from password_reset where used_at is null and made_by = $1")
        .bind(&normal)
        .execute(&mut *tx)
        .await?;
    let before = role.told(&mut tx).await?;
    // Sessions, browsers and links for a new password go along.
    sqlx::query("delete from person where id = $1").bind(id).execute(&mut *tx).await?;
    changes::record(&mut tx, by, What::Person, &normal, Some(before), None).await?;
    tx.commit().await?;
    Ok(())
}

/// Ids and addresses of a team, in the order of ids: of two removals one waits for the other, and counts whom it has left.
async fn lock_team(conn: &mut PgConnection, of: InviteAs) -> sqlx::Result<Vec<(i64, String)>> {
    sqlx::query_as(
        "select id, email from person where partner_id is not distinct from $1 order by id for update",
    )
    .bind(of.partner())
    .fetch_all(conn)
    .await
}

/// Every invitation of the address that can still be used, of one team or of all. Its links say what a used one says.
pub async fn withdraw(db: &PgPool, by: By<'_>, of: Option<InviteAs>, email: &str) -> Result<(), RemoveError> {
    let none = || RemoveError::NotInvited(email.to_owned());
    let normal = normal_email(email).ok_or_else(none)?;
    let mut tx = db.begin().await?;
    let withdrawn: Vec<Option<i64>> = sqlx::query_scalar(
        "delete from invitation
         where email = $1 and used_at is null and expires_at > now()
             and ($2 or partner_id is not distinct from $3)
         returning partner_id",
    )
    .bind(&normal)
    .bind(of.is_none())
    .bind(of.and_then(InviteAs::partner))
    .fetch_all(&mut *tx)
    .await?;
    let first = withdrawn.first().ok_or_else(none)?;
    let before = InviteAs::of(*first).told(&mut tx).await?;
    changes::record(&mut tx, by, What::Invitation, &normal, Some(before), None).await?;
    tx.commit().await?;
    Ok(())
}
