//! The books of each route, from totals that know no partner.

use std::collections::BTreeMap;

use sqlx::{PgPool, Row};

use super::{MEASURES, Tiles, add, sums};
use crate::domain::funnel::{Counts, Funnel};
use crate::domain::window::Window;

/// By id of the route; 0 is what named none. Beside each funnel the microseconds that its requests spent at the upstream.
pub async fn routes(db: &PgPool, window: Window) -> sqlx::Result<BTreeMap<i64, (Funnel, u64)>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, stage, outcome, reached, status_class, us_proxy, {} from total_{} where true",
            MEASURES.join(", "),
            grain.name()
        )
    });
    let select = format!(
        "select route_id, stage, outcome, reached, status_class, sum(us_proxy)::bigint as us_proxy, {}
         from ({pieces}) as piece group by 1, 2, 3, 4, 5",
        sums(&MEASURES)
    );
    let mut routes = BTreeMap::<i64, (Counts, u64)>::new();
    for row in tiles.query(select).fetch_all(db).await? {
        let (counts, upstream_us) = routes.entry(row.try_get("route_id")?).or_default();
        add(counts, &row)?;
        *upstream_us += row.try_get::<i64, _>("us_proxy")? as u64;
    }
    Ok(routes.into_iter().map(|(id, (counts, us))| (id, (Funnel::new(window, &counts), us))).collect())
}
