//! The books of the partner whose person asks, and its bucket now.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::domain::funnel::Funnel;
use crate::domain::quota::Quota;
use crate::domain::verdict::Verdict;
use crate::error::Error;
use crate::screens::traffic::Traffic;

/// Everything on the partner's first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Most important first.
    pub verdicts: Vec<Verdict>,
    pub traffic: Traffic,
    /// A funnel a route, busiest first.
    pub routes: Vec<(String, Funnel)>,
    pub quota: Quota,
    /// What an example needs, while there is nothing to see.
    pub access: Access,
}

/// Of the partner in the session; `span` as `domain::span` writes it.
#[server(endpoint = "partner_traffic")]
pub async fn partner_traffic(span: String) -> Result<Overview, Error> {
    use crate::access::access;
    use crate::books::quota_now;
    use crate::domain::span::Span;
    use crate::domain::verdict::{Who, verdicts};
    use crate::domain::window::WindowError;
    use crate::screens::traffic;

    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(site.now().await?);
        let ((traffic, reading), quota, access) = tokio::try_join!(
            traffic::read(&site, span, window, Who::Partner(partner)),
            quota_now(&site.db, partner),
            access(&site.db, partner),
        )?;
        Ok(Overview {
            verdicts: verdicts(&reading.evidence),
            routes: reading.by_route(),
            traffic,
            quota: quota.ok_or(Error::NotFound)?,
            access: access.ok_or(Error::NotFound)?,
        })
    })
    .await
}
