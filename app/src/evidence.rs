//! Reading what verdicts are computed from: counts from the rollups, as few as a rule could speak about.
//!
//! Totals, which know no partner, come first and cost the same however many keys there are. Only what they make
//! suspicious is looked up by partner, key or minute.

mod before;
mod habit;
mod keys;
mod outages;
mod partners;
mod purges;
mod slots;
mod tallies;

use std::collections::BTreeMap;

use sqlx::{PgConnection, PgPool, Row};
use time::OffsetDateTime;

use self::before::Before;
use crate::books::{self, Filter, PartnerEnds, Tiles, Totals};
use crate::domain::funnel::{Counts, Funnel};
use crate::domain::total::Total;
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

/// What was read of a window.
pub struct Reading {
    pub evidence: Evidence,
    /// What the evidence's counts are sums of.
    pub totals: Totals,
    /// Of the window of the same length before, if the books reach back over all of it. None for a partner: it is compared with
    /// itself by nothing.
    pub before: Option<Totals>,
    /// Partners of whom most was turned away, most first; for operators.
    pub most_refused: Vec<PartnerEnds>,
    /// Of routes, by id.
    names: BTreeMap<i64, String>,
}

impl Reading {
    /// Each route that was called, by name, busiest first. What named no route has no name.
    pub fn by_route(&self) -> Vec<(String, Funnel)> {
        let mut routes = BTreeMap::<&str, Vec<&Total>>::new();
        for total in &self.totals.rows {
            let name = self.names.get(&total.route).map_or("", String::as_str);
            routes.entry(name).or_default().push(total);
        }
        let funnel = |totals| Funnel::new(self.totals.window, &Counts::of(totals));
        let mut funnels: Vec<_> =
            routes.into_iter().map(|(name, totals)| (name.to_owned(), funnel(totals))).collect();
        funnels.sort_by_key(|(_, funnel)| std::cmp::Reverse(funnel.arrived));
        funnels
    }
}

/// For operators, or for one partner. Nothing is written.
pub async fn read(db: &PgPool, window: Window, who: Who) -> sqlx::Result<Reading> {
    if who != Who::Ops {
        return whole(db, window, who).await;
    }
    // To find who stands out takes as long as all the rest, so it is done beside that. It looks at a moment before: none of
    // them is more than the whole.
    let earlier = books::snapshot_with_log(db).await?;
    let (partners, mut reading) = tokio::try_join!(partners::read(earlier, window), whole(db, window, who))?;
    reading.evidence.suspects = partners.suspects;
    reading.most_refused = partners.most_refused;
    Ok(reading)
}

/// In one snapshot, all but who stands out.
async fn whole(db: &PgPool, window: Window, who: Who) -> sqlx::Result<Reading> {
    let mut tx = books::snapshot_with_log(db).await?;
    let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(&mut *tx).await?;
    let mut evidence = Evidence::new(who, window, now);
    let mut routes = routes(&mut tx).await?;
    let totals = Totals::read(&mut tx, window, &Filter { partner: who.partner(), route: None }).await?;
    tallies::add(&totals, &mut evidence, &mut routes);
    let before = match who {
        Who::Ops => before::read(&mut tx, window).await?,
        Who::Partner(_) => Before::default(),
    };
    evidence.begun = before.begun;
    if let Some(totals) = &before.totals {
        tallies::add_before(totals, &mut evidence, &mut routes);
    }
    outages::read(&mut tx, &mut evidence, &routes).await?;
    slots::read(&mut tx, &evidence, &mut routes).await?;
    match who {
        Who::Ops => {
            evidence.grown = partners::grown(&mut tx, &evidence).await?;
            purges::read(&mut tx, window, &mut routes).await?;
        }
        Who::Partner(partner) => {
            let now = evidence.all.now;
            if now.early > 0 {
                evidence.habit = habit::newest(&mut tx, window, partner).await?;
            }
            if now.early + now.spent > 0 {
                evidence.plan_changed = partners::plan_changed(&mut tx, partner).await?;
            }
        }
    }
    if evidence.all.now.ended_key >= verdict::LEAST_CALLS {
        evidence.ended_keys = keys::read(&mut tx, window, evidence.until, who).await?;
    }
    tx.commit().await?;
    let names = routes.iter().map(|route| (route.id, route.evidence.name.clone())).collect();
    evidence.routes = routes.into_iter().map(|route| route.evidence).collect();
    let before = before.totals.filter(|_| before.is_whole);
    Ok(Reading { evidence, totals, before, most_refused: Vec::new(), names })
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

/// Rows of a family of rollups that tile a window; `columns` and a condition on them.
fn rows(tiles: &mut Tiles, family: &str, window: Window, columns: &str, condition: &str) -> String {
    tiles.union(window, |grain| select(family, grain, columns, condition))
}

fn select(family: &str, grain: Grain, columns: &str, condition: &str) -> String {
    format!("select {columns} from {family}_{} where {condition}", grain.name())
}

fn number(row: &sqlx::postgres::PgRow, column: &str) -> sqlx::Result<u64> {
    row.try_get::<i64, _>(column).map(|n| n as u64)
}
