//! The people of a partner: who they are, inviting one more, and letting one go.

use leptos::prelude::*;

use crate::changes::By;
use crate::error::Error;
use crate::people::{self, INVITATION_HOURS, InviteAs, OneTimeLink, Team};
use crate::session::{require_colleague, require_partner};
use crate::site::Site;

/// Where the page is.
pub const HERE: &str = "/portal/people";

/// Everybody who can sign in for the partner in the session.
#[server(endpoint = "colleagues")]
pub async fn colleagues() -> Result<Team, Error> {
    crate::error::answer(async {
        let partner = require_partner().await?;
        Ok(people::team(&Site::current()?.db, InviteAs::Partner(partner)).await?)
    })
    .await
}

/// A one-time link for somebody who is to be a colleague. Says the same whether the address has an account elsewhere or not:
/// that is not the partner's to know.
#[server(endpoint = "invite_colleague")]
pub async fn invite_colleague(email: String) -> Result<OneTimeLink, Error> {
    crate::error::answer(async {
        let (partner, viewer) = require_colleague().await?;
        let site = Site::current()?;
        let token = people::invite_colleague(&site.db, By(&viewer.email), &email, partner).await?;
        let (email, link) = (email.trim().to_owned(), people::link(&site.public_url, &token));
        Ok(OneTimeLink { email, link, hours: INVITATION_HOURS })
    })
    .await
}

/// Takes a colleague's account away, at once and everywhere.
#[server(endpoint = "remove_colleague")]
pub async fn remove_colleague(email: String) -> Result<(), Error> {
    crate::error::answer(async {
        let (partner, viewer) = require_colleague().await?;
        people::remove_colleague(&Site::current()?.db, By(&viewer.email), partner, &email).await?;
        leptos_axum::redirect(HERE);
        Ok(())
    })
    .await
}

/// Takes the partner's own invitations of an address back.
#[server(endpoint = "withdraw_invitation")]
pub async fn withdraw_invitation(email: String) -> Result<(), Error> {
    crate::error::answer(async {
        let (partner, viewer) = require_colleague().await?;
        let team = Some(InviteAs::Partner(partner));
        people::withdraw(&Site::current()?.db, By(&viewer.email), team, &email).await?;
        leptos_axum::redirect(HERE);
        Ok(())
    })
    .await
}
