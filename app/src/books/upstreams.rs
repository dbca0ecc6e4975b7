//! How upstreams are now, and how they answered in a window.

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::Totals;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;

/// An upstream and its breaker.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Upstream {
    pub name: String,
    /// `closed`, `open` or `half_open`.
    pub state: String,
    pub open_since: Option<OffsetDateTime>,
    /// What leads to it, retired routes too: what they sent counts for the upstream.
    pub routes: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamHealth {
    pub name: String,
    /// The breaker's: `closed`, `open` or `half_open`.
    pub state: String,
    /// Since when the breaker has been open, however often it was tried meanwhile; absent where it is closed.
    #[serde(with = "time::serde::rfc3339::option")]
    pub open_since: Option<OffsetDateTime>,
    pub reached: u64,
    /// Part of `reached`: answered with 5xx.
    pub failed: u64,
    /// Part of `reached`: gave no answer.
    pub silent: u64,
    /// Held back by the breaker.
    pub held: u64,
    /// Could not be sent: there was no connection.
    pub unreachable: u64,
}

/// Every upstream of the catalog by name.
pub async fn upstreams(db: &PgPool) -> sqlx::Result<Vec<Upstream>> {
    sqlx::query_as(
        "select name, coalesce(state, 'closed') as state,
             -- `opened_at` is when it was last tried; the outage began with the first opening after the last closing.
             case when state <> 'closed' then coalesce((
                 select min(at) from breaker_event as e
                 where e.upstream_id = upstream.id and e.state = 'open' and at > coalesce((
                     select max(at) from breaker_event as c where c.upstream_id = upstream.id and c.state = 'closed'
                 ), '-infinity')
             ), opened_at) end as open_since,
             array(select route.id from route where route.upstream_id = upstream.id) as routes
         from upstream
         left join breaker on breaker.upstream_id = upstream.id
         where retired_at is null
         order by name",
    )
    .fetch_all(db)
    .await
}

impl Upstream {
    /// With what became of the requests for it.
    pub fn health(self, totals: &Totals) -> UpstreamHealth {
        let Upstream { name, state, open_since, routes } = self;
        let mut health = UpstreamHealth {
            name,
            state,
            open_since,
            reached: 0,
            failed: 0,
            silent: 0,
            held: 0,
            unreachable: 0,
        };
        for total in totals.rows.iter().filter(|total| routes.contains(&total.route)) {
            let line = total.line;
            match line.stage {
                Stage::Proxy if line.reached => {
                    health.reached += line.requests;
                    health.failed += if line.upstream_class == 5 { line.requests } else { 0 };
                    health.silent += if line.upstream_class == 0 { line.requests } else { 0 };
                }
                Stage::Proxy if line.outcome == Outcome::UpstreamUnreachable => {
                    health.unreachable += line.requests
                }
                Stage::Breaker => health.held += line.requests,
                _ => {}
            }
        }
        health
    }
}
