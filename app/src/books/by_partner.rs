//! Where the requests of partners ended, from rollups that know neither keys nor routes.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgExecutor, Row};

use super::{Tiles, sums};
use crate::domain::ends::Ends;
use crate::domain::window::Window;

/// A partner's requests in a window.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PartnerEnds {
    pub slug: String,
    pub name: String,
    pub ends: Ends,
}

/// Partners that stand out in a window, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standouts {
    /// Of whom most was turned away, most first. What the cache answered was served, so it does not count.
    pub refused: Vec<i64>,
    /// Who came back too early most often, most first.
    pub early: Vec<i64>,
}

/// At most so many of each, in one pass over all partners' rows; early ones from so many early retries on.
pub(crate) async fn standouts(
    db: &mut PgConnection,
    window: Window,
    refused: i64,
    early: i64,
    least_early: u64,
) -> sqlx::Result<Standouts> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select partner_id, requests - at_cache - reached as refused, early from ends_{} where partner_id <> 0",
            grain.name()
        )
    });
    let select = format!(
        "with partner as materialized (
             select partner_id, sum(refused) as refused, sum(early) as early from ({pieces}) as piece group by partner_id
         )
         (select partner_id, false from partner order by refused desc, partner_id limit $2)
         union all
         (select partner_id, true from partner where early >= $4 order by early desc, partner_id limit $3)"
    );
    let found: Vec<(i64, bool)> = sqlx::query_as(AssertSqlSafe(select))
        .bind(tiles.times())
        .bind(refused)
        .bind(early)
        .bind(least_early as i64)
        .fetch_all(db)
        .await?;
    let (early, refused): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, is_early)| *is_early);
    let ids = |found: Vec<(i64, bool)>| found.into_iter().map(|(partner, _)| partner).collect();
    Ok(Standouts { refused: ids(refused), early: ids(early) })
}

/// These partners and how their requests ended, in the order given.
pub(crate) async fn partners_ends(
    db: &mut PgConnection,
    window: Window,
    ids: &[i64],
) -> sqlx::Result<Vec<PartnerEnds>> {
    let names: Vec<(i64, String, String)> =
        sqlx::query_as("select id, slug, name from partner where id = any($1)")
            .bind(ids)
            .fetch_all(&mut *db)
            .await?;
    let mut ends = ends_of(db, window, ids).await?;
    let partners = ids.iter().filter_map(|id| {
        let (_, slug, name) = names.iter().find(|(known, _, _)| known == id)?.clone();
        Some(PartnerEnds { slug, name, ends: ends.remove(id).unwrap_or_default() })
    });
    Ok(partners.collect())
}

/// Of each of these partners; who called nothing is left out.
pub async fn ends_of(
    db: impl PgExecutor<'_>,
    window: Window,
    partners: &[i64],
) -> sqlx::Result<BTreeMap<i64, Ends>> {
    let mut tiles = Tiles::default();
    let select = format!(
        "select partner_id, {} from ({}) as piece group by 1",
        sums(&ENDS),
        tiles.union(window, |grain| format!(
            "select partner_id, {} from ends_{} where partner_id = any($2)",
            ENDS.join(", "),
            grain.name()
        ))
    );
    let ends = |row: &PgRow| {
        let number = |column| row.try_get::<i64, _>(column).map(|n| n as u64);
        let mut ends = Ends { reached: number("reached")?, ..Ends::default() };
        for (stopped, column) in ends.stopped.iter_mut().zip(ENDS) {
            *stopped = number(column)?;
        }
        Ok((row.try_get("partner_id")?, ends))
    };
    tiles.query(select).bind(partners).fetch_all(db).await?.iter().map(ends).collect()
}

/// What each stage stopped, and what got past all of them.
const ENDS: [&str; 7] = ["at_route", "at_key", "at_quota", "at_cache", "at_breaker", "at_proxy", "reached"];
