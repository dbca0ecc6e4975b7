//! How upstreams are now, and how they answered in a window.

use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgPool};
use time::OffsetDateTime;

use super::Tiles;
use crate::domain::window::Window;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::FromRow)]
pub struct UpstreamHealth {
    pub name: String,
    /// The breaker's: `closed`, `open` or `half_open`.
    pub state: String,
    /// Since when the door has been shut, however often it was tried meanwhile; absent where it is open to all.
    #[serde(with = "time::serde::rfc3339::option")]
    pub shut_since: Option<OffsetDateTime>,
    pub reached: i64,
    /// Part of `reached`: answered with 5xx.
    pub failed: i64,
    /// Part of `reached`: gave no answer.
    pub silent: i64,
    /// Held back by the breaker.
    pub held: i64,
    /// Could not be sent.
    pub unsent: i64,
}

/// Every upstream of the catalog by name.
pub async fn upstreams(db: &PgPool, window: Window) -> sqlx::Result<Vec<UpstreamHealth>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, stage, reached, status_class, requests from total_{} where stage >= 5",
            grain.name()
        )
    });
    let select = format!(
        "with answered as (
             select upstream_id,
                 sum(requests) filter (where reached) as reached,
                 sum(requests) filter (where reached and status_class = 5) as failed,
                 sum(requests) filter (where reached and status_class = 0) as silent,
                 sum(requests) filter (where stage = 5) as held,
                 sum(requests) filter (where stage = 6 and not reached) as unsent
             from ({pieces}) as piece
             -- Retired routes too: what they sent counts for the upstream.
             join route on route.id = route_id
             group by upstream_id
         )
         select name, coalesce(state, 'closed') as state,
             -- `opened_at` is when the door was last tried; the outage began with the first opening after the last closing.
             case when state <> 'closed' then coalesce((
                 select min(at) from breaker_event as e
                 where e.upstream_id = upstream.id and e.state = 'open' and at > coalesce((
                     select max(at) from breaker_event as c where c.upstream_id = upstream.id and c.state = 'closed'
                 ), '-infinity')
             ), opened_at) end as shut_since,
             coalesce(reached, 0)::bigint as reached, coalesce(failed, 0)::bigint as failed,
             coalesce(silent, 0)::bigint as silent, coalesce(held, 0)::bigint as held,
             coalesce(unsent, 0)::bigint as unsent
         from upstream
         left join breaker on breaker.upstream_id = upstream.id
         left join answered on answered.upstream_id = upstream.id
         where retired_at is null
         order by name"
    );
    sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).fetch_all(db).await
}
