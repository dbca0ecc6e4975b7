//! By partner: who stands out, how those come back that came back too early, and whose traffic grew.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, Row, Transaction};
use time::{Duration, OffsetDateTime};

use super::{habit, number, select};
use crate::books::{PartnerEnds, Tiles, partners_ends, standouts, until};
use crate::domain::verdict::evidence::{Compared, Grown, Suspect, Tally};
use crate::domain::verdict::{Evidence, LEAST_EARLY, rose};
use crate::domain::window::{Grain, Window};

/// Partners that are looked at. Nobody is accused whose circumstances were not.
const SUSPECTS: i64 = 4;
/// Partners that are listed beside the verdicts.
const LISTED: i64 = 8;

/// Who stands out among all partners.
pub struct Partners {
    /// Of whom most was turned away, most first.
    pub most_refused: Vec<PartnerEnds>,
    /// With the most early retries.
    pub suspects: Vec<Suspect>,
}

/// The window's. Ends the snapshot: who reads beside this may be waiting for a connection.
pub async fn read(mut snapshot: Transaction<'static, Postgres>, window: Window) -> sqlx::Result<Partners> {
    let db = &mut *snapshot;
    let standouts = standouts(db, window, LISTED, SUSPECTS, LEAST_EARLY).await?;
    let most_refused = partners_ends(db, window, &standouts.refused).await?;
    let suspects = suspects(db, window, &standouts.early).await?;
    snapshot.commit().await?;
    Ok(Partners { most_refused, suspects })
}

/// When the partner's plan last became another, or its terms others.
pub async fn plan_changed(db: &mut PgConnection, partner: i64) -> sqlx::Result<Option<OffsetDateTime>> {
    sqlx::query_scalar(
        "select max(change.at) from partner join plan on plan.id = partner.plan_id
         join change on what = 'partner' and change.name = partner.slug and before ? 'plan'
             or what = 'plan' and change.name = plan.name and before ?| array['capacity', 'refill_per_second']
         where partner.id = $1",
    )
    .bind(partner)
    .fetch_one(db)
    .await
}

/// What became of these partners' requests, in the window and of the early ones before it too, and how they come back.
async fn suspects(db: &mut PgConnection, window: Window, partners: &[i64]) -> sqlx::Result<Vec<Suspect>> {
    if partners.is_empty() {
        return Ok(Vec::new());
    }
    let mut tiles = Tiles::default();
    let now = tiles.union(window, |grain| {
        let until = until(grain);
        let passed = "requests - at_route - at_key - at_quota as passed";
        let columns = format!(
            "partner_id, early, 0 as early_before, {until}, spent, {passed}, failed + at_breaker as faults"
        );
        select("ends", grain, &columns, "partner_id = any($2)")
    });
    let past = tiles.union(window.before(), |grain| {
        select("ends", grain, "partner_id, 0, early, null, 0, 0, 0", "partner_id = any($2)")
    });
    let found = tiles.query(format!(
        "select partner_id, slug, sum(early)::bigint as early, sum(early_before)::bigint as early_before,
             max(until) filter (where early > 0) as until, sum(spent)::bigint as spent, sum(passed)::bigint as passed, sum(faults)::bigint as faults
         from ({now}\nunion all\n{past}) as piece join partner on partner.id = partner_id
         group by partner_id, slug order by early desc, partner_id"
    ));
    let mut suspects = Vec::new();
    for row in found.bind(partners).fetch_all(&mut *db).await? {
        let until = row.try_get("until")?;
        suspects.push(Suspect {
            slug: row.try_get("slug")?,
            early: Compared { now: number(&row, "early")?, before: number(&row, "early_before")? },
            until: Some(until),
            spent: number(&row, "spent")?,
            passed: number(&row, "passed")?,
            faults: number(&row, "faults")?,
            habit: habit::before(db, window.from, until, row.try_get("partner_id")?).await?,
        });
    }
    Ok(suspects)
}

/// Whose traffic grew, which matters only where that is a good part of a rise.
pub async fn grown(db: &mut PgConnection, evidence: &Evidence) -> sqlx::Result<Vec<Grown>> {
    let (window, rise) = (evidence.window, evidence.all.of(|t| t.arrived));
    if !rose(evidence) || evidence.all.of(Tally::passed_quota).rise() * 10 < rise.rise() {
        return Ok(Vec::new());
    }
    let mut tiles = Tiles::default();
    let mut side = |window, is_now| {
        let passed = "requests - at_route - at_key - at_quota as requests";
        let columns = format!("partner_id, {passed}, {is_now} as is_now");
        tiles.union_of([coarse(window)], |grain| select("ends", grain, &columns, "partner_id <> 0"))
    };
    let pieces = format!("{}\nunion all\n{}", side(window, true), side(window.before(), false));
    let found = tiles.query(format!(
        "with summed as (
             select partner_id, coalesce(sum(requests) filter (where is_now), 0)::bigint as now,
                 coalesce(sum(requests) filter (where not is_now), 0)::bigint as before
             from ({pieces}) as piece group by partner_id
         )
         select slug, now, before from summed join partner on partner.id = partner_id where now > before"
    ));
    let found = found.fetch_all(db).await?;
    let grown = |row: &PgRow| {
        let passed = Compared { now: number(row, "now")?, before: number(row, "before")? };
        Ok(Grown { slug: row.try_get("slug")?, passed })
    };
    found.iter().map(grown).collect()
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
