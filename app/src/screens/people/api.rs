//! The people of a partner: who they are, and inviting one more.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::changes::By;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    pub people: Vec<Colleague>,
    /// Invitations that can still be used.
    pub invited: Vec<Colleague>,
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(sqlx::FromRow))]
pub struct Colleague {
    pub email: String,
    /// Of a person: since when; of an invitation: until when.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
}

/// A link to hand on, this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationLink {
    pub email: String,
    pub link: String,
}

/// The link stays out of logs.
impl std::fmt::Debug for InvitationLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InvitationLink").field("email", &self.email).finish_non_exhaustive()
    }
}

/// Everybody who can sign in for the partner in the session.
#[server(endpoint = "colleagues")]
pub async fn colleagues() -> Result<Team, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let people = sqlx::query_as(
            "select email, created_at as at from person where partner_id = $1 order by created_at",
        )
        .bind(partner)
        .fetch_all(&site.db)
        .await?;
        let invited = sqlx::query_as(
            "select email, max(expires_at) as at from invitation
             where partner_id = $1 and email is not null and used_at is null and expires_at > now()
             group by email order by 2",
        )
        .bind(partner)
        .fetch_all(&site.db)
        .await?;
        Ok(Team { people, invited, now: site.now().await? })
    })
    .await
}

/// A one-time link for a colleague. Says the same whether the address has an account elsewhere or not: that is not the
/// partner's to know.
#[server(endpoint = "invite_colleague")]
pub async fn invite_colleague(email: String) -> Result<InvitationLink, Error> {
    use crate::people::{InviteAs, InviteError, invite_unasked, link};

    crate::error::answer(async {
        let (partner, viewer) = crate::session::require_colleague().await?;
        let site = crate::site::Site::current()?;
        let token =
            match invite_unasked(&site.db, By(&viewer.email), &email, InviteAs::Partner(partner)).await {
                Ok(token) => token,
                Err(InviteError::Database(cause)) => return Err(cause.into()),
                Err(_) => return Err(Error::Invalid("This is no e-mail address.".into())),
            };
        Ok(InvitationLink { email: email.trim().to_owned(), link: link(&site.public_url, &token) })
    })
    .await
}
