//! The session of the request that is being answered, by way of leptos' context.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{HeaderValue, header::SET_COOKIE};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use super::cookie::{self, Cookie};
use super::{Role, Viewer, safe_path, store};
use crate::error::Error;
use crate::people;
use crate::site::Site;

/// The address that sign-in attempts are counted by; the listener puts it into the request's extensions.
pub fn client_address() -> String {
    let parts = use_context::<Parts>();
    let address = parts.as_ref().and_then(|parts| parts.extensions.get::<ConnectInfo<SocketAddr>>());
    address.map_or_else(|| "unknown".to_owned(), |address| address.ip().to_canonical().to_string())
}

fn token(site: &Site) -> Option<String> {
    brought(site, Cookie::Session)
}

fn brought(site: &Site, cookie: Cookie) -> Option<String> {
    use_context::<Parts>().and_then(|parts| cookie::read(&parts.headers, cookie, site.is_secure()))
}

/// The token of a browser in which somebody has signed in before.
pub fn device(site: &Site) -> Option<String> {
    brought(site, Cookie::Device)
}

/// The person who asks, if signed in.
pub async fn viewer() -> Result<Option<Viewer>, Error> {
    let site = Site::current()?;
    match token(&site) {
        Some(token) => Ok(store::find(&site.db, &token).await?),
        None => Ok(None),
    }
}

/// First line of every server function of whoever has signed in.
pub async fn require_anybody() -> Result<Viewer, Error> {
    viewer().await?.ok_or(Error::SignedOut)
}

/// First line of every server function of operators.
pub async fn require_ops() -> Result<Viewer, Error> {
    let viewer = require_anybody().await?;
    if viewer.role == Role::Ops { Ok(viewer) } else { Err(Error::Forbidden) }
}

/// First line of every server function of partners: the id of the partner whose person asks.
pub async fn require_partner() -> Result<i64, Error> {
    Ok(require_colleague().await?.0)
}

/// The same for what is written down in somebody's name: the partner's id, and the person.
pub async fn require_colleague() -> Result<(i64, Viewer), Error> {
    let viewer = require_anybody().await?;
    match viewer.role {
        Role::Partner { id, .. } => Ok((id, viewer)),
        Role::Ops => Err(Error::Forbidden),
    }
}

/// Signs a person in: a new token, whatever the browser brought along. The browser is known from now on.
async fn begin(site: &Site, person: i64) -> Result<Viewer, Error> {
    if let Some(old) = token(site) {
        store::end(&site.db, &old).await?;
    }
    let token = store::create(&site.db, person).await?;
    let viewer = store::find(&site.db, &token).await?.ok_or(Error::Forbidden)?;
    set_cookie(Cookie::Session, &token, days(store::MAX_DAYS), site.is_secure())?;
    let device = people::remember(&site.db, person, device(site).as_deref()).await?;
    set_cookie(Cookie::Device, &device, days(people::KNOWN_DAYS), site.is_secure())?;
    Ok(viewer)
}

/// The same, and leads to `next`, if that is a page of this portal, else to where this person starts.
pub async fn enter(site: &Site, person: i64, next: &str) -> Result<(), Error> {
    let viewer = begin(site, person).await?;
    leptos_axum::redirect(safe_path(next).unwrap_or(viewer.home()));
    Ok(())
}

/// In how many browsers the person who asks is signed in, this one included.
pub async fn browsers() -> Result<i64, Error> {
    let site = Site::current()?;
    match token(&site) {
        Some(token) => Ok(store::count(&site.db, &token).await?),
        None => Err(Error::SignedOut),
    }
}

/// Signs the person out, here or wherever they are signed in.
pub async fn end(everywhere: bool) -> Result<(), Error> {
    let site = Site::current()?;
    if let Some(token) = token(&site) {
        if everywhere {
            store::end_everywhere(&site.db, &token).await?;
        } else {
            store::end(&site.db, &token).await?;
        }
    }
    set_cookie(Cookie::Session, "", 0, site.is_secure())
}

fn days(days: i32) -> u32 {
    days as u32 * 24 * 60 * 60
}

fn set_cookie(cookie: Cookie, token: &str, seconds: u32, secure: bool) -> Result<(), Error> {
    let response =
        use_context::<ResponseOptions>().ok_or_else(|| Error::internal("no response in the context"))?;
    let value =
        HeaderValue::from_str(&cookie::write(cookie, token, seconds, secure)).map_err(Error::internal)?;
    response.append_header(SET_COOKIE, value);
    Ok(())
}
