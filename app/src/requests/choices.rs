//! What a filter offers.

use serde::{Deserialize, Serialize};
use sqlx::PgPool;

/// Names to choose from; what is retired can still be asked for by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    pub routes: Vec<String>,
    /// Slugs; for operators.
    pub partners: Vec<String>,
    /// Id and name; for a partner.
    pub keys: Vec<(i64, String)>,
}

/// Of everything, or of what one partner may know.
pub async fn choices(db: &PgPool, partner: Option<i64>) -> sqlx::Result<Choices> {
    let Some(partner) = partner else {
        let routes = sqlx::query_scalar("select name from route where retired_at is null order by name");
        let partners = sqlx::query_scalar("select slug from partner where retired_at is null order by slug");
        return Ok(Choices {
            routes: routes.fetch_all(db).await?,
            partners: partners.fetch_all(db).await?,
            keys: Vec::new(),
        });
    };
    let routes = sqlx::query_scalar(
        "select route.name from partner
         join plan on plan.id = partner.plan_id
         join route on route.access = 'public' or plan.routes is null or route.name = any(plan.routes)
         where partner.id = $1 and route.retired_at is null order by 1",
    );
    let keys = sqlx::query_as("select id, name from api_key where partner_id = $1 order by name, id");
    Ok(Choices {
        routes: routes.bind(partner).fetch_all(db).await?,
        partners: Vec::new(),
        keys: keys.bind(partner).fetch_all(db).await?,
    })
}
