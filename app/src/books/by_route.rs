//! The books of a partner, a funnel a route.

use std::collections::BTreeMap;

use sqlx::{PgPool, Row};

use super::{MEASURES, Tiles, add, sums};
use crate::domain::funnel::{Counts, Funnel};
use crate::domain::window::Window;

/// Each route that the partner called, by name, busiest first. What named no route never had a key read, so it is nobody's.
pub async fn by_route(db: &PgPool, window: Window, partner: i64) -> sqlx::Result<Vec<(String, Funnel)>> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select route_id, stage, outcome, reached, status_class, {} from rollup_{} where partner_id = $2",
            MEASURES.join(", "),
            grain.name()
        )
    });
    let select = format!(
        "select coalesce(route.name, '') as route, stage, outcome, reached, status_class, {}
         from ({pieces}) as piece left join route on route.id = piece.route_id
         group by 1, 2, 3, 4, 5",
        sums(&MEASURES)
    );
    let mut routes = BTreeMap::<String, Counts>::new();
    for row in tiles.query(select).bind(partner).fetch_all(db).await? {
        add(routes.entry(row.try_get("route")?).or_default(), &row)?;
    }
    let mut funnels: Vec<_> =
        routes.into_iter().map(|(name, counts)| (name, Funnel::new(window, &counts))).collect();
    funnels.sort_by_key(|(_, funnel)| std::cmp::Reverse(funnel.arrived));
    Ok(funnels)
}
