//! What operators do about people: about those of a partner, by its slug, or without one about operators.

use leptos::prelude::*;

use crate::changes::By;
use crate::error::Error;
use crate::people::{self, INVITATION_HOURS, InviteAs, OneTimeLink, RESET_HOURS, Team};
use crate::posted::Posted;
use crate::session::{Viewer, require_ops};
use crate::site::Site;

/// The page of a team's people.
fn page(slug: Option<&str>) -> String {
    slug.map_or("/ops/people".to_owned(), |slug| format!("/ops/partners/{slug}"))
}

/// Which operator asks, and about which team.
async fn asked(slug: Option<&str>) -> Result<(Viewer, Site, InviteAs), Error> {
    let viewer = require_ops().await?;
    let site = Site::current()?;
    let Some(slug) = slug else { return Ok((viewer, site, InviteAs::Ops)) };
    let partner = crate::partners::find(&site.db, slug).await?.ok_or(Error::NotFound)?;
    Ok((viewer, site, InviteAs::Partner(partner.id)))
}

/// The operators.
#[server(endpoint = "ops_people")]
pub async fn ops_people() -> Result<Team, Error> {
    crate::error::answer(async {
        require_ops().await?;
        Ok(people::team(&Site::current()?.db, InviteAs::Ops).await?)
    })
    .await
}

/// A link that makes an account.
#[server(endpoint = "ops_invite")]
pub async fn ops_invite(
    #[server(default)] slug: Option<String>,
    email: String,
) -> Result<OneTimeLink, Error> {
    crate::error::answer(async {
        let (viewer, site, team) = asked(slug.as_deref()).await?;
        let token = people::invite(&site.db, By(&viewer.email), &email, team).await?;
        Ok(OneTimeLink { link: people::link(&site.public_url, &token), email, hours: INVITATION_HOURS })
    })
    .await
}

/// A link that sets a new password for one of the team.
#[server(endpoint = "ops_reset_link")]
pub async fn ops_reset_link(
    #[server(default)] slug: Option<String>,
    email: String,
) -> Result<OneTimeLink, Error> {
    crate::error::answer(async {
        let (viewer, site, team) = asked(slug.as_deref()).await?;
        let team = people::team(&site.db, team).await?;
        if !team.people.iter().any(|person| person.email == email) {
            return Err(Error::Invalid("Nobody here has an account with that address.".into()));
        }
        let token = people::issue(&site.db, By(&viewer.email), &email).await?;
        Ok(OneTimeLink { link: people::reset_link(&site.public_url, &token), email, hours: RESET_HOURS })
    })
    .await
}

/// Takes the account of one of the team away, but neither one's own nor the last operator's.
#[server(endpoint = "ops_remove_person")]
pub async fn ops_remove_person(#[server(default)] slug: Option<String>, email: String) -> Result<(), Error> {
    crate::error::answer(async {
        let (viewer, site, team) = asked(slug.as_deref()).await?;
        people::remove(&site.db, By(&viewer.email), Some(team), &email).await?;
        leptos_axum::redirect(&page(slug.as_deref()));
        Ok(())
    })
    .await
}

/// Takes the team's invitations of an address back.
#[server(endpoint = "ops_withdraw_invitation")]
pub async fn ops_withdraw_invitation(
    #[server(default)] slug: Option<String>,
    email: String,
) -> Result<(), Error> {
    crate::error::answer(async {
        let (viewer, site, team) = asked(slug.as_deref()).await?;
        people::withdraw(&site.db, By(&viewer.email), Some(team), &email).await?;
        leptos_axum::redirect(&page(slug.as_deref()));
        Ok(())
    })
    .await
}

/// What a page's form asks for. All but links lead back to the page, so that nothing is done twice.
pub async fn act(form: &Posted, slug: Option<String>) -> Result<Option<OneTimeLink>, Error> {
    let email = form.get("email");
    match form.get("act").as_str() {
        "invite" => ops_invite(slug, email).await.map(Some),
        "reset" => ops_reset_link(slug, email).await.map(Some),
        "remove" => ops_remove_person(slug, email).await.map(|()| None),
        "withdraw" => ops_withdraw_invitation(slug, email).await.map(|()| None),
        _ => Err(Error::incomplete()),
    }
}
