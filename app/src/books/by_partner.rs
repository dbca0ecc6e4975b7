//! Where the requests of partners ended, from rollups that know neither keys nor routes.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, PgPool, Row};

use super::{Tiles, ended};
use crate::domain::ends::Ends;
use crate::domain::stage::Stage;
use crate::domain::window::Window;

/// A partner's requests in a window.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PartnerEnds {
    pub slug: String,
    pub name: String,
    pub ends: Ends,
}

/// The partners of whom most was turned away, at most `limit`. What the cache answered was served, so it does not count.
pub async fn most_refused(db: &PgPool, window: Window, limit: usize) -> sqlx::Result<Vec<PartnerEnds>> {
    let mut tiles = Tiles::default();
    let select = format!(
        "select partner_id, sum(requests)::bigint as refused from ({}) as piece
         group by partner_id order by refused desc, partner_id limit $2",
        tiles.union(window, |grain| format!(
            "select partner_id, requests from ends_{} where partner_id <> 0 and not reached and stage <> {}",
            grain.name(),
            Stage::Cache.code()
        ))
    );
    let most: Vec<(i64, i64)> =
        sqlx::query_as(AssertSqlSafe(select)).bind(tiles.times()).bind(limit as i64).fetch_all(db).await?;
    let ids: Vec<i64> = most.iter().map(|(id, _)| *id).collect();
    let mut ends = ends_of(db, window, &ids).await?;
    let names: Vec<(i64, String, String)> =
        sqlx::query_as("select id, slug, name from partner where id = any($1)")
            .bind(&ids)
            .fetch_all(db)
            .await?;
    let named = |id: i64| names.iter().find(|(known, _, _)| *known == id);
    let partners = ids.into_iter().filter_map(|id| {
        let (_, slug, name) = named(id)?;
        let (slug, name) = (slug.clone(), name.clone());
        Some(PartnerEnds { slug, name, ends: ends.remove(&id).unwrap_or_default() })
    });
    Ok(partners.collect())
}

/// Of each of these partners; who called nothing is left out.
pub async fn ends_of(db: &PgPool, window: Window, partners: &[i64]) -> sqlx::Result<BTreeMap<i64, Ends>> {
    let mut tiles = Tiles::default();
    let select = format!(
        "select partner_id, stage, reached, sum(requests)::bigint as requests from ({}) as piece group by 1, 2, 3",
        tiles.union(window, |grain| format!(
            "select partner_id, stage, reached, requests from ends_{} where partner_id = any($2)",
            grain.name()
        ))
    );
    let mut partners_ends = BTreeMap::<i64, Ends>::new();
    for row in tiles.query(select).bind(partners).fetch_all(db).await? {
        let (stage, reached, requests) = ended(&row)?;
        partners_ends.entry(row.try_get("partner_id")?).or_default().add(stage, reached, requests);
    }
    Ok(partners_ends)
}
