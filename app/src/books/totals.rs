//! Everything that arrived in a window, by route and by how it ended: funnels, verdicts and the lines of routes and upstreams are
//! sums of it.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use time::OffsetDateTime;

use super::{Filter, Tiles, door};
use crate::domain::cache_miss::CacheMiss;
use crate::domain::funnel::{Counts, Door, Funnel, Line};
use crate::domain::histogram::Histogram;
use crate::domain::total::Total;
use crate::domain::window::{Grain, Window};

#[derive(Clone, Debug)]
pub struct Totals {
    pub window: Window,
    pub rows: Vec<Total>,
    /// Of everybody only: the door knows neither partners nor routes.
    pub door: Option<Door>,
}

impl Totals {
    pub async fn read(db: &mut PgConnection, window: Window, of: &Filter) -> sqlx::Result<Totals> {
        let door = if *of == Filter::default() { Some(door(db, window).await?) } else { None };
        Ok(Totals { window, rows: rows(db, window, of).await?, door })
    }

    /// The sum of all.
    pub fn funnel(&self) -> Funnel {
        Funnel::new(self.window, &Counts { door: self.door, ..Counts::of(&self.rows) })
    }

    /// By id of the route; 0 is what named none. Beside each funnel the microseconds that its requests spent at the upstream.
    pub fn by_route(&self) -> BTreeMap<i64, (Funnel, u64)> {
        let mut routes = BTreeMap::<i64, Vec<&Total>>::new();
        for total in &self.rows {
            routes.entry(total.route).or_default().push(total);
        }
        let books = |totals: Vec<&Total>| {
            let upstream_us = totals.iter().map(|total| total.upstream_us).sum();
            (Funnel::new(self.window, &Counts::of(totals)), upstream_us)
        };
        routes.into_iter().map(|(route, totals)| (route, books(totals))).collect()
    }
}

/// What is summed.
const MEASURES: [&str; 13] = [
    "requests",
    "upstream_calls",
    "metered_locally",
    "us_proxy",
    "b0",
    "b1",
    "b2",
    "b3",
    "b4",
    "b5",
    "b6",
    "b7",
    "b8",
];

/// Operators' totals know no partner; that keeps them flat however many keys there are.
async fn rows(db: &mut PgConnection, window: Window, of: &Filter) -> sqlx::Result<Vec<Total>> {
    let (family, whose) = match of.partner {
        Some(_) => ("rollup", "partner_id = $2"),
        None => ("total", "$2::bigint is null"),
    };
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, stage, outcome, reached, status_class, cache_miss, {}, {}
             from {family}_{} where {whose} and ($3::bigint is null or route_id = $3)",
            until(grain),
            MEASURES.join(", "),
            grain.name()
        )
    });
    let select = format!(
        "select route_id, stage, outcome, reached, status_class, cache_miss, max(until) filter (where requests > 0) as until, {}
         from ({pieces}) as piece group by 1, 2, 3, 4, 5, 6",
        super::sums(&MEASURES)
    );
    tiles.query(select).bind(of.partner).bind(of.route).fetch_all(db).await?.iter().map(total).collect()
}

/// As a column: the end of a row's minute, hour or day.
pub(crate) fn until(grain: Grain) -> String {
    format!("at + interval '1 {}' as until", grain.name())
}

fn total(row: &PgRow) -> sqlx::Result<Total> {
    let number = |column: &str| row.try_get::<i64, _>(column).map(|n| n as u64);
    let mut latency = Histogram::default();
    for (bucket, count) in latency.counts.iter_mut().enumerate() {
        *count = number(&format!("b{bucket}"))?;
    }
    Ok(Total {
        route: row.try_get("route_id")?,
        line: Line {
            stage: row.try_get("stage")?,
            outcome: row.try_get("outcome")?,
            reached: row.try_get("reached")?,
            upstream_class: row.try_get::<i16, _>("status_class")? as u8,
            requests: number("requests")?,
        },
        cache_miss: CacheMiss::from_code(row.try_get("cache_miss")?),
        until: row.try_get::<Option<OffsetDateTime>, _>("until")?,
        upstream_calls: number("upstream_calls")?,
        metered_locally: number("metered_locally")?,
        upstream_us: number("us_proxy")?,
        latency,
    })
}
