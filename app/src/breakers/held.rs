//! Whom an open breaker held back. Counts are by the minute: what is known of outages of one upstream that share a minute is
//! their sum.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgPool};
use time::{Duration, OffsetDateTime};

use super::outages::Outage;
use crate::books::Tiles;
use crate::domain::outcome::Outcome;
use crate::domain::window::{Grain, Window};

/// An outage of one upstream, or several whose minutes overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Newest first, never none.
    pub outages: Vec<Outage>,
    /// The whole minutes that were counted.
    pub counted: Window,
    pub requests: u64,
    /// Slugs with their requests, most first; those without a key under an empty slug.
    pub partners: Vec<(String, u64)>,
}

impl Held {
    pub fn newest(&self) -> &Outage {
        &self.outages[0]
    }

    pub fn oldest(&self) -> &Outage {
        &self.outages[self.outages.len() - 1]
    }
}

/// `outages` newest first, as they are read; at most `most` once those that share a minute are together.
pub async fn held_back(
    db: &PgPool,
    outages: &[Outage],
    now: OffsetDateTime,
    most: usize,
) -> sqlx::Result<Vec<Held>> {
    let mut told = together(outages, now);
    told.truncate(most);
    if told.is_empty() {
        return Ok(told);
    }
    let mut tiles = Tiles::default();
    let pieces = told.iter().enumerate().map(|(n, held)| {
        tiles.union(held.counted, |grain: Grain| {
            format!(
                "select {n} as n, r.partner_id, r.requests from rollup_{} as r
                 join route on route.id = r.route_id and route.upstream_id = {}
                 where r.outcome in ({}, {})",
                grain.name(),
                held.newest().upstream_id,
                Outcome::BreakerOpen.code(),
                Outcome::BreakerProbing.code()
            )
        })
    });
    let pieces = pieces.collect::<Vec<_>>().join("\nunion all\n");
    let select = format!(
        "select n, coalesce(partner.slug, ''), sum(requests)::bigint as held
         from ({pieces}) as piece left join partner on partner.id = piece.partner_id
         group by n, 2 order by held desc, 2"
    );
    let rows: Vec<(i32, String, i64)> =
        sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).fetch_all(db).await?;
    for (n, slug, requests) in rows {
        let held = &mut told[n as usize];
        held.requests += requests as u64;
        held.partners.push((slug, requests as u64));
    }
    Ok(told)
}

/// Joins outages of one upstream whose minutes overlap, newest first.
fn together(outages: &[Outage], now: OffsetDateTime) -> Vec<Held> {
    let mut last: BTreeMap<i64, usize> = BTreeMap::new();
    let mut told: Vec<Held> = Vec::new();
    for outage in outages {
        // The minute in which it ended counts; a request that arrived just before is held back in it.
        let end = outage.to.unwrap_or(now).max(outage.from);
        let Ok(minutes) = Window::new(outage.from, end + Duration::NANOSECOND) else { continue };
        match last.get(&outage.upstream_id).map(|n| &mut told[*n]) {
            Some(newer) if minutes.to > newer.counted.from => {
                newer.counted.from = minutes.from;
                newer.outages.push(outage.clone());
            }
            _ => {
                last.insert(outage.upstream_id, told.len());
                let outages = vec![outage.clone()];
                told.push(Held { outages, counted: minutes, requests: 0, partners: Vec::new() });
            }
        }
    }
    told
}

/// Upstreams whose open breaker held back a partner's requests in a window, each with the name of a route of it.
pub(super) async fn routes_of(db: &PgPool, window: Window, partner: i64) -> sqlx::Result<Vec<(i64, String)>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id from rollup_{} where partner_id = $2 and outcome in ({}, {})",
            grain.name(),
            Outcome::BreakerOpen.code(),
            Outcome::BreakerProbing.code()
        )
    });
    let select = format!(
        "select route.upstream_id, string_agg(distinct route.name, ', ')
         from (select distinct route_id from ({pieces}) as piece) as held join route on route.id = held.route_id
         group by 1 order by 2"
    );
    sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).bind(partner).fetch_all(db).await
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn outages_that_share_a_minute_are_counted_together_and_told_each() {
        let outage = |upstream_id, from, to| Outage {
            upstream_id,
            upstream: "billing".into(),
            from,
            to: Some(to),
            reason: from.to_string(),
        };
        let newest_first = [
            outage(1, datetime!(2026-11-29 10:09:00 UTC), datetime!(2026-11-29 10:09:30 UTC)),
            outage(1, datetime!(2026-11-29 10:05:40 UTC), datetime!(2026-11-29 10:06:10 UTC)),
            outage(2, datetime!(2026-11-29 10:05:20 UTC), datetime!(2026-11-29 10:05:30 UTC)),
            outage(1, datetime!(2026-11-29 10:04:00 UTC), datetime!(2026-11-29 10:05:10 UTC)),
        ];
        let told: Vec<_> = together(&newest_first, datetime!(2026-11-29 11:00 UTC))
            .into_iter()
            .map(|held| {
                let begun = held.outages.iter().map(|outage| outage.from.time().to_string());
                (
                    held.newest().upstream_id,
                    begun.collect::<Vec<_>>().join(" "),
                    held.counted.from,
                    held.counted.to,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (1, "10:09:00.0".into(), datetime!(2026-11-29 10:09 UTC), datetime!(2026-11-29 10:10 UTC)),
                (
                    1,
                    "10:05:40.0 10:04:00.0".into(),
                    datetime!(2026-11-29 10:04 UTC),
                    datetime!(2026-11-29 10:07 UTC)
                ),
                (2, "10:05:20.0".into(), datetime!(2026-11-29 10:05 UTC), datetime!(2026-11-29 10:06 UTC)),
            ]
        );
    }
}
