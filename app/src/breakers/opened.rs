//! How often breakers were open in a window, and what that held back within it: as the books have it, to the minute.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgPool};
use time::OffsetDateTime;

use super::outages::Outage;
use crate::books::Tiles;
use crate::domain::outcome::Outcome;
use crate::domain::window::Window;

/// One upstream's breaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub newest: Outage,
    pub times: u64,
    /// When it was open for the first of these times.
    #[serde(with = "time::serde::rfc3339")]
    pub first: OffsetDateTime,
    pub held: HeldBack,
}

/// Requests, and how many partners' they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    pub requests: u64,
    pub partners: u64,
}

/// Of each upstream with outages, which are newest first as they are read; and what all of them held back.
pub async fn opened(
    db: &PgPool,
    window: Window,
    outages: &[Outage],
) -> sqlx::Result<(Vec<Opened>, HeldBack)> {
    let mut held = by_upstream(db, window).await?;
    let mut opened: Vec<Opened> = Vec::new();
    for outage in outages {
        match opened.iter_mut().find(|known| known.newest.upstream_id == outage.upstream_id) {
            Some(known) => (known.times, known.first) = (known.times + 1, outage.from),
            None => opened.push(Opened {
                newest: outage.clone(),
                times: 1,
                first: outage.from,
                held: held.remove(&Some(outage.upstream_id)).unwrap_or_default(),
            }),
        }
    }
    Ok((opened, held.remove(&None).unwrap_or_default()))
}

/// What was held back from each; of none: from all together.
async fn by_upstream(db: &PgPool, window: Window) -> sqlx::Result<BTreeMap<Option<i64>, HeldBack>> {
    let mut tiles = Tiles::default();
    let (open, probing) = (Outcome::BreakerOpen.code(), Outcome::BreakerProbing.code());
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, partner_id, requests from rollup_{} where outcome in ({open}, {probing})",
            grain.name()
        )
    });
    // Summed by route and partner first: to tell partners apart among all rows would sort a month of them.
    let select = format!(
        "with held as (
             select route.upstream_id, partner_id, sum(requests) as requests
             from (select route_id, partner_id, sum(requests) as requests from ({pieces}) as piece group by 1, 2) as by_route
             join route on route.id = route_id
             group by 1, 2
         )
         select upstream_id, sum(requests)::bigint, count(distinct partner_id) filter (where partner_id <> 0)
         from held group by grouping sets ((upstream_id), ())"
    );
    let rows: Vec<(Option<i64>, Option<i64>, i64)> =
        sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).fetch_all(db).await?;
    let held = |requests: Option<i64>, partners| HeldBack {
        requests: requests.unwrap_or(0) as u64,
        partners: partners as u64,
    };
    Ok(rows.into_iter().map(|(id, requests, partners)| (id, held(requests, partners))).collect())
}
