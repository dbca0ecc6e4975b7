//! By partner: who came back too early, and whose traffic grew. Read only where the totals give reason to.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use time::{Duration, OffsetDateTime};

use super::{before, habit, number, rows, select};
use crate::books::Tiles;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::verdict::evidence::{Compared, Grown, Suspect, Tally};
use crate::domain::verdict::{Evidence, LEAST_EARLY, is_rise};
use crate::domain::window::{Grain, Window};

/// Partners that are looked at. Nobody is accused whose circumstances were not.
const SUSPECTS: i64 = 4;

pub async fn read(db: &mut PgConnection, evidence: &mut Evidence) -> sqlx::Result<()> {
    let (all, window) = (evidence.all, evidence.window);
    if all.now.early >= LEAST_EARLY {
        evidence.suspects = suspects(db, window).await?;
    }
    // Whose traffic grew matters only if it is a good part of a rise.
    let rise = all.of(|t| t.arrived);
    if is_rise(rise) && all.of(Tally::passed_quota).rise() * 10 >= rise.rise() {
        evidence.grown = grown(db, window).await?;
    }
    Ok(())
}

async fn suspects(db: &mut PgConnection, window: Window) -> sqlx::Result<Vec<Suspect>> {
    let early = Outcome::QuotaEarlyRetry.code();
    let mut tiles = Tiles::default();
    let mut side = |window, is_now| {
        tiles.union(window, |grain| {
            let until = format!("at + interval '1 {}' as until", grain.name());
            let columns = format!("partner_id, requests, {is_now} as is_now, {until}");
            select("ends", grain, &columns, &format!("outcome = {early}"))
        })
    };
    let pieces = format!("({}\nunion all\n{}) as piece", side(window, true), side(before(window), false));
    let summed = compared(", max(until) filter (where is_now) as until", &pieces);
    let found = tiles.query(format!(
        "with summed as ({summed})
         select partner_id, slug, now, before, until from summed join partner on partner.id = partner_id
         where now > 0
         order by now desc, partner_id limit {SUSPECTS}",
    ));
    let found = found.fetch_all(&mut *db).await?;
    let ids = found.iter().map(|row| row.try_get("partner_id")).collect::<sqlx::Result<Vec<i64>>>()?;
    let circumstances = circumstances(db, window, &ids).await?;
    let mut suspects = Vec::new();
    for (row, id) in found.iter().zip(ids) {
        let (spent, passed, faults) = circumstances.get(&id).copied().unwrap_or_default();
        suspects.push(Suspect {
            slug: row.try_get("slug")?,
            early: Compared { now: number(row, "now")?, before: number(row, "before")? },
            until: row.try_get("until")?,
            spent,
            passed,
            faults,
            habit: habit::before(db, window.from, row.try_get("until")?, id).await?,
        });
    }
    Ok(suspects)
}

/// By partner: first attempts that were refused, what passed quota, and what an upstream made fail of that.
async fn circumstances(
    db: &mut PgConnection,
    window: Window,
    partners: &[i64],
) -> sqlx::Result<BTreeMap<i64, (u64, u64, u64)>> {
    let quota = Stage::Quota.code();
    let columns = "partner_id, stage, outcome, reached, status_class, requests";
    let mut tiles = Tiles::default();
    let passed_key = format!("partner_id = any($2) and stage >= {quota}");
    let rows = rows(&mut tiles, "rollup", window, columns, &passed_key);
    let faults = [Outcome::UpstreamTimeout, Outcome::UpstreamBroken, Outcome::UpstreamUnreachable];
    let faults: Vec<String> = faults.iter().map(|outcome| outcome.code().to_string()).collect();
    let found = tiles.query(format!(
        "select partner_id, coalesce(sum(requests) filter (where outcome = {}), 0)::bigint as spent,
             coalesce(sum(requests) filter (where stage > {quota}), 0)::bigint as passed,
             coalesce(sum(requests) filter (
                 where reached and status_class = 5 or outcome in ({}) or stage = {}
             ), 0)::bigint as faults
         from ({rows}) as piece group by partner_id",
        Outcome::QuotaSpent.code(),
        faults.join(", "),
        Stage::Breaker.code(),
    ));
    let found = found.bind(partners).fetch_all(db).await?;
    let counts = |row: &PgRow| {
        let counts = (number(row, "spent")?, number(row, "passed")?, number(row, "faults")?);
        Ok((row.try_get("partner_id")?, counts))
    };
    found.iter().map(counts).collect()
}

async fn grown(db: &mut PgConnection, window: Window) -> sqlx::Result<Vec<Grown>> {
    let passed = format!("stage > {} and partner_id <> 0", Stage::Quota.code());
    let mut tiles = Tiles::default();
    let mut side = |window, is_now| {
        let columns = format!("partner_id, requests, {is_now} as is_now");
        tiles.union_of([coarse(window)], |grain| select("ends", grain, &columns, &passed))
    };
    let pieces = format!("({}\nunion all\n{}) as piece", side(window, true), side(before(window), false));
    let found = tiles.query(format!(
        "with summed as ({}) select slug, now, before from summed join partner on partner.id = partner_id
         where now > before",
        compared("", &pieces),
    ));
    let found = found.fetch_all(db).await?;
    let grown = |row: &PgRow| {
        let passed = Compared { now: number(row, "now")?, before: number(row, "before")? };
        Ok(Grown { slug: row.try_get("slug")?, passed })
    };
    found.iter().map(grown).collect()
}

/// Sums of the window and of the one before, by partner, and what else is asked of rows that say whose they are.
fn compared(more: &str, pieces: &str) -> String {
    format!(
        "select partner_id, coalesce(sum(requests) filter (where is_now), 0)::bigint as now,
             coalesce(sum(requests) filter (where not is_now), 0)::bigint as before{more}
         from {pieces} group by partner_id"
    )
}

/// A window all of one grain: how many partners grew does not hang on minutes at its ends, and with many partners those would
/// cost more than all the rest. Both windows are of the same length, so they are cut alike.
fn coarse(window: Window) -> (Grain, Window) {
    let grain = match window.length() {
        length if length < Duration::hours(6) => Grain::Minute,
        length if length < Duration::days(7) => Grain::Hour,
        _ => Grain::Day,
    };
    let floor = |at: OffsetDateTime| at - Duration::seconds(at.unix_timestamp().rem_euclid(grain.seconds()));
    (grain, Window { from: floor(window.from), to: floor(window.to) })
}
