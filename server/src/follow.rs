//! Follows the database: notices of changed catalog, keys and breakers, and a slow poll for notices that were lost.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgListener;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, timeout};

use crate::gateway::Gateway;
use crate::stages::cache::purge;
use crate::store::PATIENCE;

/// The channel that `app::announce` speaks on.
const CHANNEL: &str = "toll";
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Runs until its task is aborted.
pub async fn follow(gateway: Arc<Gateway>) {
    tokio::join!(listen(&gateway), poll(&gateway));
}

async fn listen(gateway: &Gateway) {
    loop {
        match PgListener::connect_with(&gateway.store.db).await {
            Ok(mut listener) => {
                if let Err(error) = hear(gateway, &mut listener).await {
                    tracing::debug!(%error, "the listening connection was lost");
                }
            }
            Err(error) => tracing::debug!(%error, "cannot listen"),
        }
        sleep(POLL_EVERY).await;
    }
}

async fn hear(gateway: &Gateway, listener: &mut PgListener) -> sqlx::Result<()> {
    listener.listen(CHANNEL).await?;
    // Whatever was said before this moment was missed.
    everything(gateway).await?;
    while let Some(notice) = listener.try_recv().await? {
        match notice.payload().split_once(' ') {
            Some(("key", hash)) => gateway.keys.forget(hash),
            None if notice.payload() == "purge" => purge::follow(gateway).await?,
            Some(("breaker", upstream)) => {
                if let Ok(upstream) = upstream.parse() {
                    gateway.breakers.refresh(&gateway.store.db, Some(upstream)).await?;
                }
            }
            _ => catalog(gateway).await?,
        }
    }
    Ok(())
}

/// Asks every half second whether a version was missed, takes the database's time, and finds out that it is back.
async fn poll(gateway: &Gateway) {
    let mut refreshed = Instant::now();
    loop {
        sleep(POLL_EVERY).await;
        let ask = sqlx::query_as::<_, (OffsetDateTime, i64, i64)>(
            "select now(), version, (select last from purge_number) from catalog_version",
        )
        .fetch_one(&gateway.store.db);
        match timeout(PATIENCE, ask).await {
            Ok(Ok((now, version, purges))) => {
                gateway.store.clock.set(now);
                let was_away = gateway.store.is_away();
                // Debts first: until the database knows what was granted here, it would grant it again.
                if let Err(error) = gateway.quota.settle().await {
                    gateway.store.failed(&error);
                    continue;
                }
                gateway.store.set_away(false);
                let missed = version != gateway.catalog.now().version;
                let breakers_due = refreshed.elapsed() >= Duration::from_secs(1);
                let result = if missed || was_away {
                    everything(gateway).await
                } else if purges != gateway.cache.purges_seen() {
                    purge::follow(gateway).await
                } else if breakers_due {
                    refreshed = Instant::now();
                    gateway.breakers.sweep(&gateway.store.db).await
                } else {
                    Ok(())
                };
                if let Err(error) = result {
                    gateway.store.failed(&error);
                }
            }
            Ok(Err(error)) => {
                gateway.store.failed(&error);
            }
            Err(_elapsed) => gateway.store.set_away(true),
        }
    }
}

async fn catalog(gateway: &Gateway) -> sqlx::Result<()> {
    gateway.catalog.reload(&gateway.store.db).await?;
    // A key's entry holds what was true of its partner.
    gateway.keys.forget_all();
    Ok(())
}

async fn everything(gateway: &Gateway) -> sqlx::Result<()> {
    catalog(gateway).await?;
    purge::follow(gateway).await?;
    gateway.breakers.refresh(&gateway.store.db, None).await
}
