//! By partner: who came back too early, and whose traffic grew. Read only where the totals give reason to.

use sqlx::{PgConnection, Row};
use time::Duration;

use super::{before, habit, number, query, rows, select};
use crate::books::union;
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
    let side = |window, is_now| {
        union(window, |grain| {
            let until = format!("at + interval '1 {}' as until", grain.name());
            let columns = format!("partner_id, requests, {is_now} as is_now, {until}");
            select("ends", grain, &columns, &format!("outcome = {early}"))
        })
    };
    let pieces = format!("({}\nunion all\n{}) as piece", side(window, true), side(before(window), false));
    let found = query(format!(
        "with summed as ({})
         select partner_id, slug, now, before, until from summed join partner on partner.id = partner_id
         where now > 0
         order by now desc, partner_id limit {SUSPECTS}",
        compared(", max(until) filter (where is_now) as until", &pieces),
    ))
    .fetch_all(&mut *db)
    .await?;
    let mut suspects = Vec::new();
    for row in found {
        let id = row.try_get("partner_id")?;
        let (spent, passed, faults) = circumstances(db, window, id).await?;
        suspects.push(Suspect {
            slug: row.try_get("slug")?,
            early: Compared { now: number(&row, "now")?, before: number(&row, "before")? },
            until: row.try_get("until")?,
            spent,
            passed,
            faults,
            habit: habit::before(db, window.from, row.try_get("until")?, id).await?,
        });
    }
    Ok(suspects)
}

/// A partner's first attempts that were refused, what passed quota, and what an upstream made fail of that.
async fn circumstances(db: &mut PgConnection, window: Window, partner: i64) -> sqlx::Result<(u64, u64, u64)> {
    let quota = Stage::Quota.code();
    let columns = "stage, outcome, reached, status_class, requests";
    let rows = rows("rollup", window, columns, &format!("partner_id = $1 and stage >= {quota}"));
    let faults = [Outcome::UpstreamTimeout, Outcome::UpstreamBroken, Outcome::UpstreamUnreachable];
    let faults: Vec<String> = faults.iter().map(|outcome| outcome.code().to_string()).collect();
    let row = query(format!(
        "select coalesce(sum(requests) filter (where outcome = {}), 0)::bigint as spent,
             coalesce(sum(requests) filter (where stage > {quota}), 0)::bigint as passed,
             coalesce(sum(requests) filter (
                 where reached and status_class = 5 or outcome in ({}) or stage = {}
             ), 0)::bigint as faults
         from ({rows}) as piece",
        Outcome::QuotaSpent.code(),
        faults.join(", "),
        Stage::Breaker.code(),
    ))
    .bind(partner)
    .fetch_one(db)
    .await?;
    Ok((number(&row, "spent")?, number(&row, "passed")?, number(&row, "faults")?))
}

async fn grown(db: &mut PgConnection, window: Window) -> sqlx::Result<Vec<Grown>> {
    let passed = format!("stage > {} and partner_id <> 0", Stage::Quota.code());
    let side = |window, is_now| coarse(window, &format!("partner_id, requests, {is_now} as is_now"), &passed);
    let found = query(format!(
        "with summed as ({}) select slug, now, before from summed join partner on partner.id = partner_id
         where now > before",
        compared(
            "",
            &format!("({}\nunion all\n{}) as piece", side(window, true), side(before(window), false))
        ),
    ))
    .fetch_all(db)
    .await?;
    let grown = |row: &sqlx::postgres::PgRow| {
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

/// A window of rollups by partner, all of one grain: how many partners grew does not hang on minutes at its ends, and with
/// many partners those would cost more than all the rest. Both windows are of the same length, so they are cut alike.
fn coarse(window: Window, columns: &str, condition: &str) -> String {
    let grain = match window.length() {
        length if length < Duration::hours(6) => Grain::Minute,
        length if length < Duration::days(7) => Grain::Hour,
        _ => Grain::Day,
    };
    let floor =
        |at: time::OffsetDateTime| at - Duration::seconds(at.unix_timestamp().rem_euclid(grain.seconds()));
    let (from, to) = (floor(window.from), floor(window.to));
    format!("{} and at >= '{from}' and at < '{to}'", select("ends", grain, columns, condition))
}
