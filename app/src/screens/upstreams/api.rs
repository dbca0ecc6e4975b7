//! Upstreams, and what their breakers did.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::breakers::{Held, HeldBack, Opened, Upstream};
use crate::domain::over_time::OverTime;
use crate::domain::window::Window;
use crate::error::Error;
use crate::islands::chart::data::Band;

/// All upstreams in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    pub window: Window,
    #[serde(with = "time::serde::rfc3339")]
    pub now: time::OffsetDateTime,
    pub upstreams: Vec<Charted>,
    /// Those whose breakers were open, the newest first, and what all of them held back in the window.
    pub opened: Vec<Opened>,
    pub held_back: HeldBack,
    /// Outage by outage, newest first.
    pub outages: Vec<Held>,
}

/// One upstream, with its traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Charted {
    pub upstream: Upstream,
    pub traffic: OverTime,
    pub bands: Vec<Band>,
}

/// Outages that are told one by one.
const TOLD: usize = 20;

/// Breakers, health, traffic, and who was held back; `span` as `domain::span` writes it.
#[server(endpoint = "ops_upstreams")]
pub async fn ops_upstreams(span: String) -> Result<Listing, Error> {
    use std::collections::BTreeMap;

    use crate::breakers;
    use crate::domain::span::Span;
    use crate::domain::window::WindowError;
    use crate::over_time::by_upstream;

    crate::error::answer(async {
        crate::session::require_ops().await?;
        let site = crate::site::Site::current()?;
        let now = site.now().await?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let window = span.window(now);
        let outages = breakers::outages(&site.db, window, None).await?;
        let mut bands: BTreeMap<String, Vec<Band>> = BTreeMap::new();
        for band in breakers::drawn(&outages, window) {
            bands.entry(band.name.clone()).or_default().push(band);
        }
        let (mut traffic, (opened, held_back), told) = tokio::try_join!(
            by_upstream(&site.db, window),
            breakers::opened(&site.db, window, &outages),
            breakers::held_back(&site.db, &outages, now, TOLD),
        )?;
        let upstreams = breakers::upstreams(&site.db).await?.into_iter().map(|upstream| Charted {
            traffic: traffic.of(upstream.id).shown_in(span),
            bands: bands.remove(&upstream.name).unwrap_or_default(),
            upstream,
        });
        Ok(Listing { window, now, upstreams: upstreams.collect(), opened, held_back, outages: told })
    })
    .await
}

/// Opens a breaker by hand for some minutes, if it is still at `generation`. A form leads back to its page.
#[server(endpoint = "open_breaker")]
pub async fn open_breaker(upstream: i64, generation: i64, minutes: u32) -> Result<(), Error> {
    crate::error::answer(async {
        let who = crate::session::require_ops().await?;
        if !HOLDS.iter().any(|(hold, _)| *hold == minutes) {
            return Err(Error::Invalid("Choose for how long the breaker is to stay open.".into()));
        }
        let hold = time::Duration::minutes(minutes.into());
        by_hand(upstream, generation, crate::breakers::Hand::Open(hold), &who.email).await
    })
    .await
}

/// Closes a breaker by hand, if it is still at `generation`.
#[server(endpoint = "close_breaker")]
pub async fn close_breaker(upstream: i64, generation: i64) -> Result<(), Error> {
    crate::error::answer(async {
        let who = crate::session::require_ops().await?;
        by_hand(upstream, generation, crate::breakers::Hand::Close, &who.email).await
    })
    .await
}

/// Minutes for which a breaker can be opened by hand, and how they are offered.
pub const HOLDS: [(u32, &str); 4] = [(1, "1 minute"), (10, "10 minutes"), (60, "1 hour"), (1440, "24 hours")];

#[cfg(feature = "ssr")]
async fn by_hand(
    upstream: i64,
    generation: i64,
    hand: crate::breakers::Hand,
    who: &str,
) -> Result<(), Error> {
    let site = crate::site::Site::current()?;
    if !crate::breakers::by_hand(&site.db, upstream, generation, hand, who).await? {
        return Err(Error::Invalid("The breaker has moved meanwhile. Look again, and decide anew.".into()));
    }
    Ok(())
}
