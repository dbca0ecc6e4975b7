//! From a breaker's first opening to its closing again, however often it has been tried meanwhile.

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::domain::window::Window;

/// Half-open counts as open: but for the one probe, nobody passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Outage {
    pub upstream_id: i64,
    pub upstream: String,
    #[serde(with = "time::serde::rfc3339")]
    #[sqlx(rename = "begun")]
    pub from: OffsetDateTime,
    /// Absent while it lasts.
    #[serde(with = "time::serde::rfc3339::option")]
    #[sqlx(rename = "ended")]
    pub to: Option<OffsetDateTime>,
    /// Why it began.
    pub reason: String,
}

/// At most; a breaker that flaps for weeks has more than anybody reads.
const MOST: i64 = 500;

/// Outages that touch the window, newest first; of one upstream or of all.
pub async fn outages(db: &PgPool, window: Window, upstream: Option<i64>) -> sqlx::Result<Vec<Outage>> {
    sqlx::query_as(
        "with
         -- A breaker that was closed: each time within the window, and the last time before, or before anything happened.
         closed as (
             select upstream.id as upstream_id, upstream.name, coalesce(before.id, 0) as event, before.at
             from upstream
             left join lateral (
                 select e.id, e.at from breaker_event as e
                 where e.upstream_id = upstream.id and e.state = 'closed' and e.at <= $1
                 order by e.at desc, e.id desc limit 1
             ) as before (id, at) on true
             where $3::bigint is null or upstream.id = $3
             union all
             select e.upstream_id, upstream.name, e.id, e.at
             from breaker_event as e join upstream on upstream.id = e.upstream_id
             where e.state = 'closed' and e.at > $1 and ($3::bigint is null or e.upstream_id = $3)
         ),
         -- Until the next time, it was open from the first event that followed.
         outage as (
             select c.upstream_id, c.name, first.at as begun, first.reason,
                    lead(c.at) over (partition by c.upstream_id order by c.event) as ended
             from closed as c
             left join lateral (
                 select e.at, e.reason from breaker_event as e
                 where e.upstream_id = c.upstream_id and e.id > c.event
                 order by e.id limit 1
             ) as first on true
         )
         select upstream_id, name as upstream, begun, ended, reason from outage
         where begun < $2 and (ended is null or ended > $1)
         order by begun desc, upstream_id limit $4",
    )
    .bind(window.from)
    .bind(window.to)
    .bind(upstream)
    .bind(MOST)
    .fetch_all(db)
    .await
}
