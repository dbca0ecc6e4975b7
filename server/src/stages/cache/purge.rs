//! Follows what operators have told the caches to forget (`app::purge`).

use app::purge;

use crate::gateway::Gateway;

/// Forgets what was named since the last look, and all if some of that is not told any more. A cache that has just begun
/// has nothing to forget.
pub async fn follow(gateway: &Gateway) -> sqlx::Result<()> {
    let cache = &gateway.cache;
    let seen = cache.purges_seen();
    if seen < 0 {
        cache.saw_purges(purge::last(&gateway.store.db).await?);
        return Ok(());
    }
    let news = purge::since(&gateway.store.db, seen).await?;
    let last = match news.last() {
        Some(purge) => purge.seq,
        None => purge::last(&gateway.store.db).await?,
    };
    let now = gateway.store.clock.now();
    if news.len() as i64 == last - seen {
        news.iter().for_each(|purge| cache.purge(Some(&purge.target), now));
    } else {
        cache.purge(None, now);
    }
    cache.saw_purges(last);
    Ok(())
}
