//! What the cache served, and why not.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cache_use::CacheUse;
use crate::domain::window::Window;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheShown {
    pub window: Window,
    /// Most asked first.
    pub routes: Vec<CacheUse>,
}

/// All routes that cache; `span` as `domain::span` writes it.
#[server(endpoint = "ops_cache")]
pub async fn ops_cache(span: String) -> Result<CacheShown, Error> {
    crate::error::answer(async {
        crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let window = crate::over_time::window(&span, site.now().await?)?;
        Ok(CacheShown { window, routes: crate::cache_use::cache_use(&site.db, window).await? })
    })
    .await
}
