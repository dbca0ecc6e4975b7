//! Reading traffic over time: the same rollups as the funnel's, step by step, and what breakers did meanwhile.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, PgPool};
use time::{Duration, OffsetDateTime};

use crate::books::{self, Filter, Tiles};
use crate::domain::over_time::{MOST, MOST_OF_SEVERAL, OverTime, step_for};
use crate::domain::span::Span;
use crate::domain::stage::Stage;
use crate::domain::window::{Grain, Window, WindowError};
use crate::error::Error;

/// Rows by minute are read for windows up to `MINUTES_OF_ALL`. A partner's are many: one for each of its keys.
const MINUTES_OF_ONE: Duration = Duration::hours(6);

/// A window as `domain::span` writes it.
pub fn window(span: &str, now: OffsetDateTime) -> Result<Window, Error> {
    let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
    Ok(span.window(now))
}

/// Traffic of several.
#[derive(Clone, Debug)]
pub struct Several {
    empty: OverTime,
    by_id: BTreeMap<i64, OverTime>,
}

impl Several {
    /// Takes what is of one of them; nothing happened there if it is not among them.
    pub fn of(&mut self, id: i64) -> OverTime {
        self.by_id.remove(&id).unwrap_or_else(|| self.empty.clone())
    }
}

/// The sums over all steps are exactly the funnel's numbers.
pub async fn over_time(db: &PgPool, window: Window, of: &Filter) -> sqlx::Result<OverTime> {
    Ok(read(db, window, of, By::Nothing).await?.of(0))
}

/// By the upstream that a route leads to.
pub async fn by_upstream(db: &PgPool, window: Window) -> sqlx::Result<Several> {
    read(db, window, &Filter::default(), By::Upstream).await
}

/// What is kept apart.
enum By {
    Nothing,
    Upstream,
}

async fn read(db: &PgPool, window: Window, of: &Filter, by: By) -> sqlx::Result<Several> {
    let (family, whose, minutes) = match of.partner {
        Some(_) => ("rollup", "partner_id = $2", MINUTES_OF_ONE),
        None => ("total", "$2::bigint is null", books::MINUTES_OF_ALL),
    };
    let most = match by {
        By::Nothing => MOST,
        By::Upstream => MOST_OF_SEVERAL,
    };
    let step = step_for(window, minutes, most);
    let mut tiles = Tiles::default();
    let pieces = tiles.union_up_to(window, Grain::within(step), |grain| {
        format!(
            "select at, stage, route_id, requests from {family}_{}
             where {whose} and ($3::bigint is null or route_id = $3)",
            grain.name()
        )
    });
    let (route, id, leads) = match by {
        By::Nothing => ("null::bigint", "0::bigint", ""),
        // Summed by route first: what a route leads to need then be looked up for few rows.
        By::Upstream => ("route_id", "coalesce(upstream_id, 0)", "left join route on route.id = route_id"),
    };
    let select = format!(
        "select step, stage, {id} as id, sum(requests)::bigint
         from (
             select date_bin(make_interval(secs => $4), at, timestamptz 'epoch') as step, stage, {route} as route_id, sum(requests) as requests
             from ({pieces}) as piece group by 1, 2, 3
         ) as summed {leads} group by 1, 2, 3"
    );
    let rows: Vec<(OffsetDateTime, Stage, i64, i64)> = sqlx::query_as(AssertSqlSafe(select))
        .bind(tiles.times())
        .bind(of.partner)
        .bind(of.route)
        .bind(step as f64)
        .fetch_all(db)
        .await?;
    let empty = OverTime::new(window, step);
    let mut by_id: BTreeMap<i64, OverTime> = BTreeMap::new();
    for (at, stage, id, requests) in rows {
        by_id.entry(id).or_insert_with(|| empty.clone()).add(at, stage, requests as u64);
    }
    Ok(Several { empty, by_id })
}
