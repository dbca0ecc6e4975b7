//! A partner's keys. Each function acts within the partner of the session: the keys of others do not exist.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::changes::By;
use crate::domain::api_key::ApiKey;
use crate::domain::key_use::KeyUse;
use crate::error::Error;
use crate::keys::Allowance;

/// One page of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyList {
    pub keys: Vec<KeyUse>,
    /// On all pages.
    pub total: i64,
    pub allowance: Allowance,
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

/// What the form for a new key says before it is filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    pub plan: String,
    pub allowance: Allowance,
    /// Routes that a key can be limited to.
    pub routes: Vec<String>,
}

/// A key with its text, this once, and an address to call with it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub key: ApiKey,
    pub text: String,
    /// Of the key that this one replaces: until when that is honoured.
    #[serde(with = "time::serde::rfc3339::option")]
    pub former_until: Option<OffsetDateTime>,
    pub gateway: String,
    pub path: String,
    pub terms: String,
}

/// The key's text stays out of logs.
impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Made").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The list's page `page`, counted from 0.
#[server(endpoint = "partner_keys")]
pub async fn partner_keys(page: i64) -> Result<KeyList, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let list = crate::keys::usage(&site.db, partner, page).await?;
        let allowance = crate::keys::allowance(&site.db, partner).await?.ok_or(Error::NotFound)?;
        Ok(KeyList { keys: list.keys, total: list.total, allowance, now: list.now })
    })
    .await
}

/// What a new key may be.
#[server(endpoint = "key_offer")]
pub async fn key_offer() -> Result<Offer, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let access = crate::access::access(&site.db, partner).await?.ok_or(Error::NotFound)?;
        let allowance = crate::keys::allowance(&site.db, partner).await?.ok_or(Error::NotFound)?;
        let routes = access.routes.into_iter().filter(|route| !route.is_public).map(|route| route.name);
        Ok(Offer { plan: access.plan, allowance, routes: routes.collect() })
    })
    .await
}

/// One key, to be changed.
#[server(endpoint = "partner_key")]
pub async fn partner_key(id: i64) -> Result<ApiKey, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let keys = crate::keys::list(&site.db, Some(partner)).await?;
        keys.into_iter().find(|key| key.id == id).ok_or(Error::NotFound)
    })
    .await
}

/// Makes a key that lasts `days` (0: until it is revoked), for the `routes` named, separated by commas (none: all).
#[server(endpoint = "create_key")]
pub async fn create_key(name: String, days: i64, routes: String) -> Result<Made, Error> {
    use crate::keys::{NewKey, create};
    use time::Duration;

    crate::error::answer(async {
        let (partner, viewer) = crate::session::require_colleague().await?;
        let site = crate::site::Site::current()?;
        let routes: Vec<String> =
            routes.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let new = NewKey {
            name: name.trim(),
            expires_in: (days != 0).then(|| Duration::seconds(days.saturating_mul(86_400))),
            routes: (!routes.is_empty()).then_some(routes.as_slice()),
        };
        let made = create(&site.db, By(&viewer.email), partner, new).await?;
        super::made::made(&site, partner, made, None).await
    })
    .await
}

/// Makes a successor; the key itself is honoured for `overlap` seconds more.
#[server(endpoint = "rotate_key")]
pub async fn rotate_key(id: i64, overlap: i64) -> Result<Made, Error> {
    use time::Duration;

    crate::error::answer(async {
        let (partner, viewer) = crate::session::require_colleague().await?;
        let site = crate::site::Site::current()?;
        let made =
            crate::keys::rotate(&site.db, By(&viewer.email), Some(partner), id, Duration::seconds(overlap))
                .await?;
        super::made::made(&site, partner, made, Some(id)).await
    })
    .await
}

#[server(endpoint = "rename_key")]
pub async fn rename_key(id: i64, name: String) -> Result<(), Error> {
    crate::error::answer(async {
        let (partner, viewer) = crate::session::require_colleague().await?;
        let site = crate::site::Site::current()?;
        crate::keys::rename(&site.db, By(&viewer.email), Some(partner), id, name.trim()).await?;
        Ok(())
    })
    .await
}

/// Ends the key now.
#[server(endpoint = "revoke_key")]
pub async fn revoke_key(id: i64) -> Result<(), Error> {
    crate::error::answer(async {
        let (partner, viewer) = crate::session::require_colleague().await?;
        let site = crate::site::Site::current()?;
        crate::keys::revoke(&site.db, By(&viewer.email), Some(partner), id).await?;
        Ok(())
    })
    .await
}
