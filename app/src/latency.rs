//! How long requests took: at the upstream by bucket, and in each stage on average.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};
use time::OffsetDateTime;

use crate::books::{self, Tiles};
use crate::domain::histogram::Histogram;
use crate::domain::over_time::{MOST, OverTime, step_for};
use crate::domain::stage::Stage;
use crate::domain::window::{Grain, Window};

/// Of one route, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Of requests that reached the upstream and were timed.
    pub at_upstream: Histogram,
    /// Requests that came into each stage, and the microseconds that all of them spent there.
    pub entered: [u64; 6],
    pub micros: [u64; 6],
}

impl Times {
    /// Microseconds that a request spent in a stage, of those that came into it.
    pub fn mean(&self, stage: Stage) -> u64 {
        self.micros[stage.index()] / self.entered[stage.index()].max(1)
    }

    /// Those of another route.
    pub fn add_all(&mut self, other: &Times) {
        for (mine, theirs) in self.entered.iter_mut().zip(other.entered) {
            *mine += theirs;
        }
        for (mine, theirs) in self.micros.iter_mut().zip(other.micros) {
            *mine += theirs;
        }
        self.at_upstream.add(&other.at_upstream);
    }

    /// Requests of which `ended` ended at a stage had come into all stages up to it.
    fn add(&mut self, stage: Stage, ended: u64, micros: [u64; 6], at_upstream: &Histogram) {
        for entered in &mut self.entered[..=stage.index()] {
            *entered += ended;
        }
        for (sum, micros) in self.micros.iter_mut().zip(micros) {
            *sum += micros;
        }
        self.at_upstream.add(at_upstream);
    }
}

/// By route, busiest upstream first; requests without a route have no name.
pub async fn by_route(db: &PgPool, window: Window) -> sqlx::Result<Vec<(String, Times)>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!("select route_id, stage, requests, {COLUMNS} from total_{} where true", grain.name())
    });
    let sums = COLUMNS.split(", ").map(|name| format!("sum({name})::bigint as {name}")).collect::<Vec<_>>();
    let select = format!(
        "select coalesce(route.name, '') as route, stage, sum(requests)::bigint as requests, {}
         from ({pieces}) as piece left join route on route.id = route_id
         group by 1, 2",
        sums.join(", ")
    );
    let mut routes: BTreeMap<String, Times> = BTreeMap::new();
    for row in tiles.query(select).fetch_all(db).await? {
        let mut micros = [0; 6];
        for (sum, stage) in micros.iter_mut().zip(Stage::ALL) {
            *sum = number(&row, &format!("us_{}", stage.name()))?;
        }
        let times = routes.entry(row.try_get("route")?).or_default();
        times.add(row.try_get("stage")?, number(&row, "requests")?, micros, &histogram(&row)?);
    }
    let mut routes: Vec<_> = routes.into_iter().collect();
    routes.sort_by_key(|(_, times)| std::cmp::Reverse(times.at_upstream.total()));
    Ok(routes)
}

/// Whether there is, or was, a route of that name.
pub async fn is_route(db: &PgPool, name: &str) -> sqlx::Result<bool> {
    sqlx::query_scalar("select exists (select from route where name = $1)").bind(name).fetch_one(db).await
}

/// Buckets step by step, as the steps of traffic over time; of one route or of all.
pub async fn over_time(
    db: &PgPool,
    window: Window,
    route: Option<&str>,
) -> sqlx::Result<(OverTime, Vec<Histogram>)> {
    let steps = OverTime::new(window, step_for(window, books::MINUTES_OF_ALL, MOST));
    let mut tiles = Tiles::default();
    let pieces = tiles.union_up_to(window, Grain::within(steps.step), |grain| {
        format!(
            "select at, {BUCKETS} from total_{}
             where ($2::text is null or route_id in (select id from route where name = $2)) and reached",
            grain.name()
        )
    });
    let sums = BUCKETS.split(", ").map(|name| format!("sum({name})::bigint as {name}")).collect::<Vec<_>>();
    let select = format!(
        "select date_bin(make_interval(secs => $3), at, timestamptz 'epoch') as step, {} from ({pieces}) as piece group by 1",
        sums.join(", ")
    );
    let mut histograms = vec![Histogram::default(); steps.points.len()];
    let rows = tiles.query(select).bind(route).bind(steps.step as f64).fetch_all(db).await?;
    for row in rows {
        let at: OffsetDateTime = row.try_get("step")?;
        if let Some(found) = steps.point_of(at).and_then(|point| histograms.get_mut(point)) {
            found.add(&histogram(&row)?);
        }
    }
    Ok((steps, histograms))
}

const BUCKETS: &str = "b0, b1, b2, b3, b4, b5, b6, b7, b8";
const COLUMNS: &str =
    "us_route, us_key, us_quota, us_cache, us_breaker, us_proxy, b0, b1, b2, b3, b4, b5, b6, b7, b8";

fn histogram(row: &PgRow) -> sqlx::Result<Histogram> {
    let mut histogram = Histogram::default();
    for (bucket, count) in histogram.counts.iter_mut().enumerate() {
        *count = number(row, &format!("b{bucket}"))?;
    }
    Ok(histogram)
}

fn number(row: &PgRow, name: &str) -> sqlx::Result<u64> {
    row.try_get::<i64, _>(name).map(|n| n as u64)
}
