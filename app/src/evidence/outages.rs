//! When breakers were open, from their events, and whom that held back.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use time::OffsetDateTime;

use super::{Route, number, rows};
use crate::books::Tiles;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::verdict::evidence::{OpenedBy, Outage, UpstreamEvidence};
use crate::domain::verdict::{Evidence, Who};
use crate::domain::window::Window;

/// Upstreams with the last time that each was open. Every column is a step in an index or a few,
/// however many events there are.
pub async fn read(db: &mut PgConnection, evidence: &mut Evidence, routes: &[Route]) -> sqlx::Result<()> {
    let Window { from, to } = evidence.window;
    let found = sqlx::query(
        "select u.id, u.name, closed.at as closed_at, closings.n as closings,
             opened.at as opened_at, opened.reason as opened_reason, opened.by_hand as opened_by_hand, since.at as ended_at,
             first.at as first_at, first.reason as first_reason, first.by_hand as first_by_hand,
             exists (select from breaker_event e where e.upstream_id = u.id and e.state = 'half_open' and e.at < $2
                     and e.at > coalesce(opened.at, 'infinity')) as was_probed,
             by.hand, by.failures,
             case when b.state = 'open' and opened.by_hand
                     and b.opened_at + make_interval(secs => u.breaker_open_ms / 1000.0) <= now()
                 then b.opened_at + make_interval(secs => u.breaker_open_ms / 1000.0) end as held_until
         from upstream u
         left join breaker b on b.upstream_id = u.id
         -- The end of the last outage, if there was one.
         left join lateral (
             select at from breaker_event e where e.upstream_id = u.id and state = 'closed' and at < $2
             order by at desc limit 1
         ) closed on true
         -- The beginning of one that goes on.
         left join lateral (
             select at, reason, by_hand from breaker_event e
             where e.upstream_id = u.id and state = 'open' and at > coalesce(closed.at, '-infinity') and at < $2
             order by at limit 1
         ) opened on true
         -- And its end, after the window.
         left join lateral (
             select at from breaker_event e where e.upstream_id = u.id and state = 'closed' and at >= $2 and at > opened.at
             order by at limit 1
         ) since on true
         -- The end of the last outage before the window, and the beginning of the first that touches it.
         left join lateral (
             select at from breaker_event e where e.upstream_id = u.id and state = 'closed' and at < $1
             order by at desc limit 1
         ) earlier on true
         left join lateral (
             select at, reason, by_hand from breaker_event e
             where e.upstream_id = u.id and state = 'open' and at > coalesce(earlier.at, '-infinity') and at < $2
             order by at limit 1
         ) first on true
         cross join lateral (
             select count(*) as n from (
                 select from breaker_event e where e.upstream_id = u.id and state = 'closed' and at >= $1 and at < $2
                 limit 1000
             ) as few
         ) closings
         cross join lateral (
             select coalesce(bool_or(by_hand), false) as hand,
                 coalesce(bool_or(not by_hand), false) as failures
             from (
                 select by_hand from breaker_event e where e.upstream_id = u.id and e.state = 'open' and e.at < $2
                     and e.at >= coalesce(first.at, 'infinity')
                 order by at desc limit 1000
             ) as few
         ) by
         where u.retired_at is null
         order by u.name",
    )
    .bind(from)
    .bind(to)
    .fetch_all(&mut *db)
    .await?;
    for row in found {
        let (id, mut outage) = (row.try_get::<i64, _>("id")?, outage(&row, from)?);
        let to_it = routes.iter().filter(|route| route.upstream == id);
        let (ids, held): (Vec<i64>, Vec<u64>) =
            to_it.map(|route| (route.id, route.evidence.tally.now.held)).unzip();
        if let Some(outage) = outage.as_mut().filter(|_| held.iter().sum::<u64>() > 0) {
            (outage.held, outage.partners) = felt(db, evidence, ids).await?;
        }
        let name = row.try_get("name")?;
        evidence.upstreams.push(UpstreamEvidence { name, outage });
    }
    Ok(())
}

/// The last outage that touches the window.
fn outage(row: &PgRow, from: OffsetDateTime) -> sqlx::Result<Option<Outage>> {
    let closed_at: Option<OffsetDateTime> = row.try_get("closed_at")?;
    let opened_at: Option<OffsetDateTime> = row.try_get("opened_at")?;
    let first_at: Option<OffsetDateTime> = row.try_get("first_at")?;
    let closings = number(row, "closings")?;
    // `noted`: which of the events it is told by.
    let outage = |since, until, times, noted: &str| -> sqlx::Result<Outage> {
        let opened_by = match (row.try_get("hand")?, row.try_get("failures")?) {
            (true, true) => OpenedBy::Both { noted_by_hand: row.try_get(&*format!("{noted}_by_hand"))? },
            (true, false) => OpenedBy::Hand,
            (false, _) => OpenedBy::Failures,
        };
        Ok(Outage {
            since,
            until,
            times,
            first: first_at.unwrap_or(since),
            reason: row.try_get(&*format!("{noted}_reason"))?,
            opened_by,
            was_probed: false,
            held: 0,
            partners: 0,
        })
    };
    Ok(match (opened_at, closed_at, first_at) {
        (Some(since), _, _) => {
            let was_probed: bool = row.try_get("was_probed")?;
            // Who failed may fail again; what an operator has held for a while lets the next caller through once that is over.
            let held_until = row.try_get::<Option<OffsetDateTime>, _>("held_until")?.filter(|_| !was_probed);
            // A window that is over ends in the midst of it, and is read when it is over too.
            let ended_at: Option<OffsetDateTime> = row.try_get("ended_at")?;
            let last = outage(since, ended_at.or(held_until), closings + 1, "opened")?;
            Some(Outage { was_probed, ..last })
        }
        (None, Some(until), Some(since)) if until >= from => {
            Some(outage(since, Some(until), closings, "first")?)
        }
        _ => None,
    })
}

/// How many requests were held back in the window, and how many partners' they were. All of them since the first outage that
/// touches it: what it held back had arrived a moment before, which may have been another minute.
async fn felt(db: &mut PgConnection, evidence: &Evidence, routes: Vec<i64>) -> sqlx::Result<(u64, u64)> {
    let (open, probing) = (Outcome::BreakerOpen.code(), Outcome::BreakerProbing.code());
    let (partner, whose) = match evidence.who {
        Who::Ops => (None, "$3::bigint is null"),
        Who::Partner(partner) => (Some(partner), "partner_id = $3"),
    };
    let condition = format!(
        "stage = {} and outcome in ({open}, {probing}) and route_id = any($2) and {whose}",
        Stage::Breaker.code()
    );
    let mut tiles = Tiles::default();
    let rows = rows(&mut tiles, "rollup", evidence.window, "partner_id, requests", &condition);
    let row = tiles
        .query(format!(
            "select coalesce(sum(requests), 0)::bigint as held,
             count(distinct partner_id) filter (where partner_id <> 0) as partners
         from ({rows}) as piece"
        ))
        .bind(routes)
        .bind(partner)
        .fetch_one(db)
        .await?;
    Ok((number(&row, "held")?, number(&row, "partners")?))
}
