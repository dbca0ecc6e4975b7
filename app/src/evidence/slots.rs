//! When an upstream failed: what became of its requests minute by minute, further back hour by hour or day by day.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{AssertSqlSafe, PgConnection};
use time::{Duration, OffsetDateTime};

use super::{Route, select};
use crate::books::Tiles;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::verdict::evidence::{Ended, Slot, Tally};
use crate::domain::verdict::{Evidence, LEAST_FAILED, Who};
use crate::domain::window::{Grain, Window};

/// Windows up to this long are read by minute all through.
const BY_MINUTE: Duration = Duration::hours(6);
/// And up to this long by hour.
const BY_HOUR: Duration = Duration::days(7);

/// Route, time, length in seconds, and how so many requests ended.
type Row = (i64, OffsetDateTime, i32, Stage, Outcome, bool, i16, i64);

/// For the upstreams that failed often enough to be named.
pub async fn read(db: &mut PgConnection, evidence: &mut Evidence, routes: &[Route]) -> sqlx::Result<()> {
    let faults = |upstream: i64| -> u64 {
        let to_it = routes.iter().filter(|route| route.upstream == upstream);
        to_it.map(|route| route.evidence.tally.now.faults()).sum()
    };
    let upstreams: BTreeSet<i64> =
        routes.iter().map(|r| r.upstream).filter(|upstream| faults(*upstream) >= LEAST_FAILED).collect();
    if upstreams.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = routes.iter().filter(|r| upstreams.contains(&r.upstream)).map(|r| r.id).collect();
    let (family, whose) = match evidence.who {
        Who::Ops => ("total", "$3::bigint is null"),
        Who::Partner(_) => ("rollup", "partner_id = $3"),
    };
    let mut tiles = Tiles::default();
    let pieces = tiles.union_of(cut(evidence.window), |grain| {
        let seconds = grain.seconds();
        let columns = format!("route_id, at, {seconds}, stage, outcome, reached, status_class, requests");
        select(family, grain, &columns, &format!("route_id = any($2) and {whose}"))
    });
    let (sql, partner) = match evidence.who {
        // Few, so that to sum them costs more than to send them.
        Who::Ops => (pieces, None),
        Who::Partner(partner) => (summed(&pieces), Some(partner)),
    };
    let rows: Vec<Row> =
        sqlx::query_as(AssertSqlSafe(sql)).bind(tiles.times()).bind(ids).bind(partner).fetch_all(db).await?;
    let upstream_of: BTreeMap<i64, i64> = routes.iter().map(|route| (route.id, route.upstream)).collect();
    let mut slots: BTreeMap<(i64, OffsetDateTime), Slot> = BTreeMap::new();
    for (route, at, seconds, stage, outcome, reached, class, requests) in rows {
        let to = at + Duration::seconds(seconds.into());
        let slot = slots.entry((upstream_of[&route], at)).or_insert(Slot { at, to, tally: Tally::default() });
        slot.tally.add(&Ended::counted(stage, outcome, reached, class, requests as u64));
    }
    for ((upstream, _), slot) in slots {
        let name = routes.iter().find(|r| r.upstream == upstream).map(|r| &r.evidence.upstream);
        if let Some(found) = evidence.upstreams.iter_mut().find(|u| Some(&u.name) == name) {
            found.slots.push(slot);
        }
    }
    Ok(())
}

/// A partner's rows are one for each of its keys.
fn summed(pieces: &str) -> String {
    format!(
        "select route_id, at, seconds, stage, outcome, reached, status_class, sum(requests)::bigint
         from ({pieces}) as piece (route_id, at, seconds, stage, outcome, reached, status_class, requests)
         group by 1, 2, 3, 4, 5, 6, 7"
    )
}

/// Tiles of a window, fine where it is short and towards its end: "since 14:20" is news, "since 3 November" is history.
fn cut(window: Window) -> Vec<(Grain, Window)> {
    if window.length() <= BY_MINUTE {
        return vec![(Grain::Minute, window)];
    }
    let hour = window.to - Duration::seconds(window.to.unix_timestamp().rem_euclid(Grain::Hour.seconds()));
    let recent = Window { from: hour - Duration::HOUR, to: window.to };
    let mut tiles = Window { from: window.from, to: recent.from }.pieces();
    for (grain, _) in &mut tiles {
        if *grain == Grain::Day && window.length() <= BY_HOUR {
            *grain = Grain::Hour;
        }
    }
    tiles.push((Grain::Minute, recent));
    tiles
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_tiles_of_any_length_cover_the_window_and_end_in_minutes() {
        let to = datetime!(2026-01-31 14:37 UTC);
        for minutes in [15, 60, 361, 1_440, 10_080, 43_200] {
            let window = Window { from: to - Duration::minutes(minutes), to };
            let tiles = cut(window);
            assert_eq!(tiles.last().map(|(grain, _)| *grain), Some(Grain::Minute));
            let covered: Duration = tiles.iter().map(|(_, tile)| tile.length()).sum();
            assert_eq!(covered, window.length());
            assert!(tiles.windows(2).all(|pair| pair[0].1.to == pair[1].1.from));
            let by_day = tiles.iter().any(|(grain, _)| *grain == Grain::Day);
            assert_eq!(by_day, minutes > 10_080, "{minutes}");
        }
    }
}
