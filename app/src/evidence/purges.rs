//! How often routes had to forget what they had stored.

use sqlx::PgConnection;

use super::Route;
use crate::domain::window::Window;

/// Purges by prefix. Which routes a tag is on is known to the caches alone, and a single URL is no reason.
pub async fn read(db: &mut PgConnection, window: Window, routes: &mut [Route]) -> sqlx::Result<()> {
    let prefixes: Vec<String> =
        sqlx::query_scalar("select target from purge where kind = 'prefix' and at >= $1 and at < $2")
            .bind(window.from)
            .bind(window.to)
            .fetch_all(db)
            .await?;
    for route in routes.iter_mut().filter(|route| route.evidence.has_cache) {
        let path = format!("/api{}", route.path);
        let forgot = |prefix: &&String| path.starts_with(*prefix) || prefix.starts_with(&path);
        route.evidence.purges = prefixes.iter().filter(forgot).count() as u64;
    }
    Ok(())
}
