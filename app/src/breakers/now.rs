//! Upstreams as they are now: their breaker, and what health checks say of their urls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use time::OffsetDateTime;

/// An upstream that is in the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Upstream {
    pub id: i64,
    pub name: String,
    pub routes: Vec<String>,
    /// `closed`, `open` or `half_open`.
    pub state: String,
    pub generation: i64,
    /// Failures that count towards opening.
    pub failures: i32,
    /// When a breaker that is open lets a probe through.
    #[serde(with = "time::serde::rfc3339::option")]
    pub due_at: Option<OffsetDateTime>,
    pub breaker_failures: i32,
    pub breaker_window_ms: i64,
    pub breaker_open_ms: i64,
    pub max_in_flight: i32,
    pub health: Option<String>,
    pub urls: Vec<String>,
    /// One a url.
    #[sqlx(skip)]
    pub targets: Vec<Target>,
}

/// One url; what no node has checked lately is neither well nor failing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub url: String,
    /// Nodes that find it well, and nodes that do not.
    pub well: i64,
    pub failing: i64,
    /// Since when the first of the latter.
    #[serde(with = "time::serde::rfc3339::option")]
    pub failing_since: Option<OffsetDateTime>,
}

/// A check that is older than this is no news; nodes write one down at least every half of it.
const STALE: i32 = 60;

/// All upstreams, by name.
pub async fn upstreams(db: &PgPool) -> sqlx::Result<Vec<Upstream>> {
    let mut upstreams: Vec<Upstream> = sqlx::query_as(
        "select u.id, u.name, u.urls, u.health, u.breaker_failures, u.breaker_window_ms, u.breaker_open_ms, u.max_in_flight,
             coalesce((select array_agg(name order by name) from route where upstream_id = u.id and retired_at is null), '{}') as routes,
             coalesce(b.state, 'closed') as state, coalesce(b.generation, 1) as generation,
             (select count(*)::integer from unnest(b.failures) as failure
              where failure > now() - make_interval(secs => u.breaker_window_ms / 1000.0)) as failures,
             case when b.state = 'open' then b.opened_at + make_interval(secs => u.breaker_open_ms / 1000.0) end as due_at
         from upstream as u left join breaker as b on b.upstream_id = u.id
         where u.retired_at is null order by u.name",
    )
    .fetch_all(db)
    .await?;
    let mut checks = checks(db).await?;
    for upstream in &mut upstreams {
        let targets = upstream.urls.iter().map(|url| {
            let checked = checks.remove(&(upstream.id, url.clone()));
            checked.unwrap_or_else(|| Target { url: url.clone(), ..Target::default() })
        });
        upstream.targets = targets.collect();
    }
    Ok(upstreams)
}

async fn checks(db: &PgPool) -> sqlx::Result<BTreeMap<(i64, String), Target>> {
    let rows: Vec<(i64, String, i64, i64, Option<OffsetDateTime>)> = sqlx::query_as(
        "select upstream_id, url, count(*) filter (where healthy), count(*) filter (where not healthy),
             min(since) filter (where not healthy)
         from target_health where checked_at > now() - make_interval(secs => $1)
         group by upstream_id, url",
    )
    .bind(STALE)
    .fetch_all(db)
    .await?;
    let target = |(upstream, url, well, failing, failing_since): (i64, String, i64, i64, _)| {
        ((upstream, url.clone()), Target { url, well, failing, failing_since })
    };
    Ok(rows.into_iter().map(target).collect())
}
