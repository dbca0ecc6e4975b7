//! What the cache served, and why not.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cache_use::CacheUse;
use crate::domain::purge::Purge;
use crate::domain::window::Window;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheShown {
    pub window: Window,
    /// Most asked first.
    pub routes: Vec<CacheUse>,
    /// The last purges, newest first.
    pub purges: Vec<Purge>,
    #[serde(with = "time::serde::rfc3339")]
    pub now: time::OffsetDateTime,
}

/// Purges that are listed.
const LISTED: i64 = 10;

/// All routes that cache; `span` as `domain::span` writes it.
#[server(endpoint = "ops_cache")]
pub async fn ops_cache(span: String) -> Result<CacheShown, Error> {
    crate::error::answer(async {
        crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let now = site.now().await?;
        let window = crate::over_time::window(&span, now)?;
        Ok(CacheShown {
            window,
            routes: crate::cache_use::cache_use(&site.db, window).await?,
            purges: crate::purge::recent(&site.db, LISTED).await?,
            now,
        })
    })
    .await
}

/// Has all nodes forget answers: `kind` is url, prefix or tag.
#[server(endpoint = "purge_cache")]
pub async fn purge_cache(kind: String, target: String) -> Result<(), Error> {
    crate::error::answer(async {
        let who = crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let target = crate::domain::purge::Target::read(&kind, &target)
            .map_err(|error| Error::Invalid(format!("Nothing was forgotten: {error}.")))?;
        crate::purge::purge(&site.db, &target, &who.email).await?;
        Ok(())
    })
    .await
}
