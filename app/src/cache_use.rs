//! What each route's cache has served and saved, and why it did not when it did not.

use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgPool};

use crate::books::Tiles;
use crate::domain::cache_miss::CacheMiss;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::window::Window;

/// One route.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheUse {
    pub route: String,
    /// Whether the catalog has it cache now.
    pub is_cached: bool,
    /// Requests that came as far as the cache.
    pub asked: u64,
    /// How those that it served ended, most first.
    pub served: Vec<(Outcome, u64)>,
    /// Why it did not answer, most first.
    pub misses: Vec<(CacheMiss, u64)>,
    /// Calls in the background by which what had been served stale was refreshed.
    pub refreshed: u64,
    /// Requests that the upstream got, and the microseconds that it took over all of them.
    pub reached: u64,
    pub upstream_us: u64,
}

impl CacheUse {
    pub fn hits(&self) -> u64 {
        self.served.iter().map(|(_, requests)| requests).sum()
    }

    /// Calls that the upstream did not get: what was refreshed in the background was not saved.
    pub fn saved_calls(&self) -> u64 {
        self.hits().saturating_sub(self.refreshed)
    }

    /// Microseconds. A call that was saved would have taken as long as those that were made.
    pub fn saved_us(&self) -> u64 {
        self.upstream_us.checked_div(self.reached).map_or(0, |each| each * self.saved_calls())
    }

    fn add(&mut self, row: &Row) {
        if row.stage < Stage::Cache {
            return;
        }
        self.asked += row.requests;
        if row.stage == Stage::Cache {
            self.refreshed += row.upstream_calls;
            if Outcome::FROM_CACHE.contains(&row.outcome) {
                count(&mut self.served, row.outcome, row.requests);
            }
        } else if let Some(miss) = row.cache_miss {
            count(&mut self.misses, miss, row.requests);
        }
        if row.reached {
            self.reached += row.requests;
            self.upstream_us += row.us_proxy;
        }
    }
}

struct Row {
    stage: Stage,
    outcome: Outcome,
    reached: bool,
    cache_miss: Option<CacheMiss>,
    requests: u64,
    upstream_calls: u64,
    us_proxy: u64,
}

/// Routes that cache, or whose cache was asked in the window; those with most requests first.
pub async fn cache_use(db: &PgPool, window: Window) -> sqlx::Result<Vec<CacheUse>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, stage, outcome, reached, cache_miss, requests, upstream_calls, us_proxy
             from total_{} where stage >= {}",
            grain.name(),
            Stage::Cache.code()
        )
    });
    let select = format!(
        "select route.name, route.cache and route.retired_at is null, stage, outcome, reached, cache_miss,
             coalesce(sum(requests), 0)::bigint, coalesce(sum(upstream_calls), 0)::bigint, coalesce(sum(us_proxy), 0)::bigint
         from route left join ({pieces}) as piece on piece.route_id = route.id
         where route.retired_at is null or piece.route_id is not null
         group by route.id, stage, outcome, reached, cache_miss order by route.name"
    );
    type Sums = (String, bool, Option<Stage>, Option<Outcome>, Option<bool>, Option<i16>, i64, i64, i64);
    let rows: Vec<Sums> = sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).fetch_all(db).await?;
    let mut routes: Vec<CacheUse> = Vec::new();
    for (route, is_cached, stage, outcome, reached, miss, requests, upstream_calls, us_proxy) in rows {
        if routes.last().is_none_or(|last| last.route != route) {
            routes.push(CacheUse { route, ..CacheUse::default() });
        }
        let Some(current) = routes.last_mut() else { continue };
        current.is_cached |= is_cached;
        if let (Some(stage), Some(outcome)) = (stage, outcome) {
            current.add(&Row {
                stage,
                outcome,
                reached: reached.unwrap_or(false),
                cache_miss: miss.and_then(CacheMiss::from_code),
                requests: requests as u64,
                upstream_calls: upstream_calls as u64,
                us_proxy: us_proxy as u64,
            });
        }
    }
    // Where nothing is cached, all misses are of that one kind.
    let was_asked = |route: &CacheUse| {
        route.is_cached
            || !route.served.is_empty()
            || route.misses.iter().any(|(miss, _)| *miss != CacheMiss::Off)
    };
    routes.retain(was_asked);
    for route in &mut routes {
        route.served.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
        route.misses.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    }
    routes.sort_by_key(|route| std::cmp::Reverse(route.asked));
    Ok(routes)
}

fn count<T: PartialEq>(counts: &mut Vec<(T, u64)>, what: T, requests: u64) {
    match counts.iter_mut().find(|(known, _)| *known == what) {
        Some((_, sum)) => *sum += requests,
        None => counts.push((what, requests)),
    }
}
