//! The books of the partner whose person asks, and its bucket now.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::domain::funnel::Funnel;
use crate::domain::quota::Quota;
use crate::error::Error;

/// Everything on the partner's first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    pub funnel: Funnel,
    /// A funnel a route, busiest first.
    pub routes: Vec<(String, Funnel)>,
    pub quota: Quota,
    /// What an example needs, while there is nothing to see.
    pub access: Access,
    /// Where requests come in.
    pub gateway: String,
    /// Whether the window moves, so that waiting is worth it.
    pub is_live: bool,
}

/// Of the partner in the session; `span` as `domain::span` writes it.
#[server(endpoint = "partner_traffic")]
pub async fn partner_traffic(span: String) -> Result<Overview, Error> {
    use crate::books::{Filter, by_route, funnel, quota_now};
    use crate::domain::span::Span;
    use crate::domain::window::WindowError;

    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(site.now().await?);
        Ok(Overview {
            funnel: funnel(&site.db, window, &Filter { partner: Some(partner), route: None }).await?,
            routes: by_route(&site.db, window, partner).await?,
            quota: quota_now(&site.db, partner).await?.ok_or(Error::NotFound)?,
            access: crate::access::access(&site.db, partner).await?.ok_or(Error::NotFound)?,
            gateway: site.gateway(),
            is_live: span.is_live(),
        })
    })
    .await
}
