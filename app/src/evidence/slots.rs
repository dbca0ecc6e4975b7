//! When an upstream failed: what became of its requests minute by minute, further back hour by hour or day by day.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{AssertSqlSafe, PgConnection};
use time::{Duration, OffsetDateTime};

use super::{Route, select};
use crate::books::Tiles;
use crate::domain::outcome::{Outcome, Where};
use crate::domain::stage::Stage;
use crate::domain::verdict::evidence::{Answers, Slot};
use crate::domain::verdict::{Evidence, LEAST_FAILED, Who};
use crate::domain::window::{Grain, Window};

/// Windows up to this long are read by minute all through.
const BY_MINUTE: Duration = Duration::hours(6);
/// And up to this long by hour.
const BY_HOUR: Duration = Duration::days(7);

/// Route, length in seconds and how requests ended; when, and how many did each time.
type Row = (i64, i32, i32, Vec<OffsetDateTime>, Vec<i64>);

/// For the routes to upstreams that failed often enough to be named.
pub async fn read(db: &mut PgConnection, evidence: &Evidence, routes: &mut [Route]) -> sqlx::Result<()> {
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
    let (mut tiles, kind) = (Tiles::default(), kind());
    let pieces = tiles.union_of(cut(evidence.window), |grain| {
        let columns = format!("route_id, at, {} as seconds, {kind} as kind, requests", grain.seconds());
        select(family, grain, &columns, &format!("route_id = any($2) and {whose}"))
    });
    // As arrays: thousands of rows would take longer to come than to be found.
    let sql = format!(
        "select route_id, seconds, kind, array_agg(at), array_agg(requests) from ({pieces}) as piece group by 1, 2, 3"
    );
    let query = sqlx::query_as(AssertSqlSafe(sql)).bind(tiles.times()).bind(ids);
    let rows: Vec<Row> = query.bind(evidence.who.partner()).fetch_all(db).await?;
    let mut slots: BTreeMap<(i64, OffsetDateTime), Slot> = BTreeMap::new();
    for (route, seconds, kind, times, requests) in rows {
        for (at, requests) in times.into_iter().zip(requests) {
            let to = at + Duration::seconds(seconds.into());
            let slot = slots.entry((route, at)).or_insert(Slot { at, to, answers: Answers::default() });
            count(&mut slot.answers, kind, requests as u64);
        }
    }
    for ((id, _), slot) in slots {
        if let Some(route) = routes.iter_mut().find(|route| route.id == id) {
            route.evidence.slots.push(slot);
        }
    }
    Ok(())
}

// What `Answers` tells apart, as a column.
const ANSWERED: i32 = 0;
const FAILED: i32 = 1;
const UNANSWERED: i32 = 2;
const UNREACHABLE: i32 = 3;
const STOPPED: i32 = 4;
const HELD: i32 = 5;
/// Served from cache, or not sent for another reason.
const NEITHER: i32 = 6;

fn kind() -> String {
    let one_of = |outcomes: &[Outcome]| {
        let codes: Vec<_> = outcomes.iter().map(|outcome| outcome.code().to_string()).collect();
        format!("outcome in ({})", codes.join(", "))
    };
    let at_breaker =
        Outcome::ALL.iter().copied().filter(|outcome| outcome.place() == Where::At(Stage::Breaker));
    format!(
        "case
             when reached and status_class = 5 then {FAILED}
             when reached and status_class = 0 and {silent} then {UNANSWERED}
             when reached then {ANSWERED}
             when stage < {cache} or stage = {cache} and not {served} then {STOPPED}
             when stage = {breaker} and {held} then {HELD}
             when stage >= {breaker} and {unreachable} then {UNREACHABLE}
             else {NEITHER}
         end",
        silent = one_of(&[Outcome::UpstreamTimeout, Outcome::UpstreamBroken]),
        served = one_of(&Outcome::FROM_CACHE),
        held = one_of(&at_breaker.collect::<Vec<_>>()),
        unreachable = one_of(&[Outcome::UpstreamUnreachable]),
        cache = Stage::Cache.code(),
        breaker = Stage::Breaker.code(),
    )
}

fn count(answers: &mut Answers, kind: i32, requests: u64) {
    let reached = matches!(kind, ANSWERED | FAILED | UNANSWERED);
    answers.reached += if reached { requests } else { 0 };
    let place = match kind {
        FAILED => &mut answers.failed,
        UNANSWERED => &mut answers.unanswered,
        UNREACHABLE => &mut answers.unreachable,
        STOPPED => &mut answers.stopped,
        HELD => {
            answers.stopped += requests;
            &mut answers.held
        }
        _ => return,
    };
    *place += requests;
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
