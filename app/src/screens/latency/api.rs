//! How long requests took.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::domain::histogram::Histogram;
use crate::domain::over_time::OverTime;
use crate::domain::window::Window;
use crate::error::Error;
use crate::latency::Times;

/// A window, of all routes or with one of them chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyShown {
    pub window: Window,
    /// The route that is asked for.
    pub route: Option<String>,
    /// There was never one of that name.
    pub is_unknown: bool,
    /// Busiest first.
    pub routes: Vec<(String, Times)>,
    /// The steps of the window, and the buckets of each.
    pub steps: OverTime,
    pub histograms: Vec<Histogram>,
}

/// Times by route, stage and step; `span` as `domain::span` writes it.
#[server(endpoint = "ops_latency")]
pub async fn ops_latency(
    span: String,
    #[server(default)] route: Option<String>,
) -> Result<LatencyShown, Error> {
    use crate::domain::span::Span;
    use crate::domain::window::WindowError;

    crate::error::answer(async {
        crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(site.now().await?);
        let is_unknown = match &route {
            Some(name) => !crate::latency::is_route(&site.db, name).await?,
            None => false,
        };
        let routes = crate::latency::by_route(&site.db, window).await?;
        let (steps, histograms) = crate::latency::over_time(&site.db, window, route.as_deref()).await?;
        Ok(LatencyShown { window, route, is_unknown, routes, steps: steps.shown_in(span), histograms })
    })
    .await
}
