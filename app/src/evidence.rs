//! Reading what verdicts are computed from: counts from the rollups, as few as a rule could speak about.
//!
//! Totals, which know no partner, come first and cost the same however many keys there are. Only what they make
//! suspicious is looked up by partner, key or minute.

mod habit;
mod keys;
mod outages;
mod partners;
mod purges;
mod slots;
mod totals;

use sqlx::{PgConnection, PgPool, Row};
use time::OffsetDateTime;

use crate::books::{self, Tiles};
use crate::domain::verdict::evidence::RouteEvidence;
use crate::domain::verdict::{self, Evidence, Who};
use crate::domain::window::{Grain, Window};

/// A route of the catalog, retired ones too: rollups name them.
struct Route {
    id: i64,
    upstream: i64,
    path: String,
    evidence: RouteEvidence,
}

/// Evidence of a window for operators, or for one partner. One snapshot of the books; nothing is written.
pub async fn read(db: &PgPool, window: Window, who: Who) -> sqlx::Result<Evidence> {
    let mut tx = books::snapshot_with_log(db).await?;
    let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(&mut *tx).await?;
    let mut evidence = Evidence::new(who, window, now);
    let mut routes = routes(&mut tx).await?;
    totals::read(&mut tx, &mut evidence, &mut routes).await?;
    outages::read(&mut tx, &mut evidence, &routes).await?;
    slots::read(&mut tx, &mut evidence, &routes).await?;
    match who {
        Who::Ops => {
            partners::read(&mut tx, &mut evidence).await?;
            purges::read(&mut tx, window, &mut routes).await?;
        }
        Who::Partner(partner) if evidence.all.now.early > 0 => {
            evidence.habit = habit::newest(&mut tx, window, partner).await?;
        }
        Who::Partner(_) => {}
    }
    if evidence.all.now.ended_key >= verdict::LEAST_CALLS {
        evidence.ended_keys = keys::read(&mut tx, window, who).await?;
    }
    evidence.routes = routes.into_iter().map(|route| route.evidence).collect();
    tx.commit().await?;
    Ok(evidence)
}

async fn routes(db: &mut PgConnection) -> sqlx::Result<Vec<Route>> {
    let rows = sqlx::query(
        "select route.id, route.upstream_id, route.path, route.name, upstream.name as upstream, cache,
             route.retired_at is null and not is_off as is_open
         from route join upstream on upstream.id = upstream_id
         order by route.id",
    )
    .fetch_all(db)
    .await?;
    let route = |row: &sqlx::postgres::PgRow| {
        Ok(Route {
            id: row.try_get("id")?,
            upstream: row.try_get("upstream_id")?,
            path: row.try_get("path")?,
            evidence: RouteEvidence {
                name: row.try_get("name")?,
                upstream: row.try_get("upstream")?,
                is_open: row.try_get("is_open")?,
                has_cache: row.try_get("cache")?,
                ..RouteEvidence::default()
            },
        })
    };
    rows.iter().map(route).collect()
}

/// The window of the same length before.
fn before(window: Window) -> Window {
    Window { from: window.from - window.length(), to: window.from }
}

/// Rows of a family of rollups that tile a window; `columns` and a condition on them.
fn rows(tiles: &mut Tiles, family: &str, window: Window, columns: &str, condition: &str) -> String {
    tiles.union(window, |grain| select(family, grain, columns, condition))
}

fn select(family: &str, grain: Grain, columns: &str, condition: &str) -> String {
    format!("select {columns} from {family}_{} where {condition}", grain.name())
}

/// As a column: the end of a row's minute, hour or day.
fn until(grain: Grain) -> String {
    format!("at + interval '1 {}' as until", grain.name())
}

fn number(row: &sqlx::postgres::PgRow, column: &str) -> sqlx::Result<u64> {
    row.try_get::<i64, _>(column).map(|n| n as u64)
}
