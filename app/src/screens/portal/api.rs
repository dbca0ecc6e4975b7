//! The books of the partner whose person asks, and its bucket now.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::domain::funnel::Funnel;
use crate::domain::over_time::OverTime;
use crate::domain::quota::Quota;
use crate::domain::verdict::Verdict;
use crate::domain::window::Window;
use crate::error::Error;
use crate::islands::chart::data::Band;

/// Everything on the partner's first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Most important first.
    pub verdicts: Vec<Verdict>,
    pub funnel: Funnel,
    pub over_time: OverTime,
    /// Times in which a door held back requests of this partner.
    pub bands: Vec<Band>,
    /// A funnel a route, busiest first.
    pub routes: Vec<(String, Funnel)>,
    pub quota: Quota,
    /// What an example needs, while there is nothing to see.
    pub access: Access,
    /// Where requests come in.
    pub gateway: String,
    /// Of a window in which nothing arrived: where the newest requests are, if there are any.
    pub newest: Option<Window>,
}

/// Of the partner in the session; `span` as `domain::span` writes it.
#[server(endpoint = "partner_traffic")]
pub async fn partner_traffic(span: String) -> Result<Overview, Error> {
    use crate::access::access;
    use crate::books::{Filter, by_route, funnel, newest, quota_now};
    use crate::breakers::bands_of;
    use crate::domain::span::Span;
    use crate::domain::verdict::{Who, verdicts};
    use crate::domain::window::WindowError;
    use crate::evidence;
    use crate::over_time::over_time;

    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(site.now().await?);
        let of = Filter { partner: Some(partner), route: None };
        let (evidence, funnel, over_time, bands, routes, quota, access) = tokio::try_join!(
            evidence::read(&site.db, window, Who::Partner(partner)),
            funnel(&site.db, window, &of),
            over_time(&site.db, window, &of),
            bands_of(&site.db, window, partner),
            by_route(&site.db, window, partner),
            quota_now(&site.db, partner),
            access(&site.db, partner),
        )?;
        let newest = if funnel.arrived == 0 { newest(&site.db, Some(partner)).await? } else { None };
        Ok(Overview {
            verdicts: verdicts(&evidence.shown_in(span)),
            funnel,
            over_time: over_time.shown_in(span),
            bands,
            routes,
            quota: quota.ok_or(Error::NotFound)?,
            access: access.ok_or(Error::NotFound)?,
            gateway: site.gateway(),
            newest,
        })
    })
    .await
}
