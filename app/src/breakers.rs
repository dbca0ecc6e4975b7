//! What breakers have done, and opening and closing them by hand. The gateway's own transitions are in the breaker stage.

mod by_hand;
mod held;
mod now;
mod opened;
mod outages;

pub use by_hand::{Hand, by_hand};
pub use held::{Held, held_back};
pub use now::{Target, Upstream, upstreams};
pub use opened::{HeldBack, Opened, opened};
pub use outages::{Outage, outages};

use sqlx::PgPool;

use crate::domain::window::Window;
use crate::islands::chart::data::Band;

/// Closer than this part of a window, bands of one breaker are drawn as one.
const APART: i64 = 400;

/// The times of a window in which breakers were open, for the chart of all traffic.
pub async fn bands(db: &PgPool, window: Window) -> sqlx::Result<Vec<Band>> {
    Ok(drawn(&outages(db, window, None).await?, window))
}

/// The same for one partner: breakers that held back requests of its own, by the name of the route.
pub async fn bands_of(db: &PgPool, window: Window, partner: i64) -> sqlx::Result<Vec<Band>> {
    let held = held::routes_of(db, window, partner).await?;
    let mut bands = Vec::new();
    for (upstream, route) in held {
        let outages = outages(db, window, Some(upstream)).await?;
        bands.extend(drawn(&outages, window).into_iter().map(|band| Band { name: route.clone(), ..band }));
    }
    Ok(bands)
}

/// Oldest first, cut to the window; a breaker that flaps is one band.
pub fn drawn(outages: &[Outage], window: Window) -> Vec<Band> {
    let (from, to) = (window.from.unix_timestamp(), window.to.unix_timestamp());
    let apart = (to - from) / APART;
    let mut bands: Vec<Band> = Vec::new();
    for outage in outages.iter().rev() {
        let begin = outage.from.unix_timestamp().max(from);
        let end = outage.to.map_or(to, |end| end.unix_timestamp() + 1).min(to);
        match bands.iter_mut().rev().find(|band| band.name == outage.upstream) {
            Some(band) if begin - band.to <= apart => band.to = end,
            _ => bands.push(Band { from: begin, to: end, name: outage.upstream.clone() }),
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::*;

    fn outage(upstream: &str, from: OffsetDateTime, to: Option<OffsetDateTime>) -> Outage {
        Outage { upstream_id: 1, upstream: upstream.into(), from, to, reason: String::new() }
    }

    #[test]
    fn a_breaker_that_flaps_is_one_band_and_what_sticks_out_of_the_window_is_cut() {
        let window = Window { from: datetime!(2026-11-29 10:00 UTC), to: datetime!(2026-11-29 11:00 UTC) };
        let newest_first = [
            outage("billing", datetime!(2026-11-29 10:50 UTC), None),
            outage("orders", datetime!(2026-11-29 10:20 UTC), Some(datetime!(2026-11-29 10:21 UTC))),
            outage("billing", datetime!(2026-11-29 10:05:09 UTC), Some(datetime!(2026-11-29 10:06 UTC))),
            outage("billing", datetime!(2026-11-29 09:30 UTC), Some(datetime!(2026-11-29 10:05 UTC))),
        ];
        let at = |at: OffsetDateTime| at.unix_timestamp();
        let told: Vec<_> =
            drawn(&newest_first, window).into_iter().map(|band| (band.name, band.from, band.to)).collect();
        assert_eq!(
            told,
            [
                ("billing".into(), at(window.from), at(datetime!(2026-11-29 10:06:01 UTC))),
                (
                    "orders".into(),
                    at(datetime!(2026-11-29 10:20 UTC)),
                    at(datetime!(2026-11-29 10:21:01 UTC))
                ),
                ("billing".into(), at(datetime!(2026-11-29 10:50 UTC)), at(window.to)),
            ]
        );
    }
}
