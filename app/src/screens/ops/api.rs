//! The books of everything, and what stands beside them.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::books::{PartnerEnds, UpstreamHealth};
use crate::domain::funnel::Funnel;
use crate::domain::verdict::Verdict;
use crate::error::Error;
use crate::screens::traffic::Traffic;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    pub traffic: Traffic,
    /// Most important first.
    pub verdicts: Vec<Verdict>,
    /// Of the window of the same length before this one, if the books reach back over all of it.
    pub before: Option<Funnel>,
    /// Those of whom most was turned away.
    pub partners: Vec<PartnerEnds>,
    pub upstreams: Vec<UpstreamHealth>,
}

/// All traffic; `span` as `domain::span` writes it.
#[server(endpoint = "ops_traffic")]
pub async fn ops_traffic(span: String) -> Result<Overview, Error> {
    use crate::books::upstreams;
    use crate::domain::span::Span;
    use crate::domain::verdict::{Who, verdicts};
    use crate::domain::window::WindowError;
    use crate::screens::traffic;

    crate::error::answer(async {
        crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(site.now().await?);
        let ((traffic, reading), upstreams) =
            tokio::try_join!(traffic::read(&site, span, window, Who::Ops), upstreams(&site.db))?;
        Ok(Overview {
            traffic,
            verdicts: verdicts(&reading.evidence),
            before: reading.before.map(|before| before.funnel()),
            upstreams: upstreams.into_iter().map(|upstream| upstream.health(&reading.totals)).collect(),
            partners: reading.most_refused,
        })
    })
    .await
}
