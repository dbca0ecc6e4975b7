//! Those who sign in together: the operators, or the people of a partner.

use serde::{Deserialize, Serialize};
use sqlx::{FromRow, PgPool};
use time::OffsetDateTime;

use super::InviteAs;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    pub people: Vec<Person>,
    /// Invitations that can still be used.
    pub invited: Vec<Person>,
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, FromRow)]
pub struct Person {
    pub email: String,
    /// Of a person: since when; of an invitation: until when.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
}

pub async fn team(db: &PgPool, of: InviteAs) -> sqlx::Result<Team> {
    let people = sqlx::query_as(
        "select email, created_at as at from person
         where partner_id is not distinct from $1
         order by created_at, id",
    )
    .bind(of.partner())
    .fetch_all(db)
    .await?;
    // Who has an account elsewhere is still told to be invited: that is not this team's to know.
    let invited = sqlx::query_as(
        "select email, max(expires_at) as at from invitation
         where partner_id is not distinct from $1 and email is not null and used_at is null and expires_at > now()
             and not exists (
                 select from person
                 where person.email = invitation.email and person.partner_id is not distinct from $1
             )
         group by email
         order by 2",
    )
    .bind(of.partner())
    .fetch_all(db)
    .await?;
    let now = sqlx::query_scalar("select now()").fetch_one(db).await?;
    Ok(Team { people, invited, now })
}
