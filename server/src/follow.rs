//! Follows the database: notices of changed catalog, keys and breakers, and a slow poll for notices that were lost.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgListener;
use sqlx::{ConnectOptions, PgConnection};
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, timeout};

use crate::gateway::Gateway;
use crate::stages::cache::purge;
use crate::store::PATIENCE;

/// The channel that `app::announce` speaks on.
const CHANNEL: &str = "toll";
const POLL_EVERY: Duration = Duration::from_millis(500);
/// How often probes that never reported are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// What takes longer is begun anew.
const CATCH_UP: Duration = Duration::from_secs(30);

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

/// Looks every half second, and finds out so that the database is away or back. On a connection of its own: those of the
/// pool may all be busy, and a pool tries for seconds where nobody takes connections.
async fn poll(gateway: &Gateway) {
    let (mut connection, mut swept) = (None, Instant::now());
    loop {
        sleep(POLL_EVERY).await;
        let was_away = gateway.store.is_away();
        let seen = match timeout(PATIENCE, look(gateway, &mut connection)).await {
            Ok(Ok(seen)) => seen,
            failed => {
                connection = None;
                match failed {
                    Ok(Err(error)) => gateway.store.failed(&error),
                    _ => gateway.store.silent(),
                };
                continue;
            }
        };
        let due = swept.elapsed() >= SWEEP_EVERY;
        if due {
            swept = Instant::now();
        }
        if let Ok(Err(error)) = timeout(CATCH_UP, catch_up(gateway, seen, was_away, due)).await {
            gateway.store.failed(&error);
        }
    }
}

/// What tells whether a notice was missed.
struct Seen {
    version: i64,
    purges: i64,
}

/// Takes the database's time, and settles what is owed if it was away.
async fn look(gateway: &Gateway, connection: &mut Option<PgConnection>) -> sqlx::Result<Seen> {
    let store = &gateway.store;
    let db = match connection {
        Some(db) => db,
        None => connection.insert(store.db.connect_options().connect().await?),
    };
    let (now, version, purges): (OffsetDateTime, i64, i64) =
        sqlx::query_as("select now(), version, (select last from purge_number) from catalog_version")
            .fetch_one(&mut *db)
            .await?;
    store.clock.set(now);
    if store.is_away() {
        // One that answers may still take nothing in: a replica, a full disk.
        sqlx::query("update catalog_version set version = version").execute(&mut *db).await?;
    }
    // Debts first: until the database knows what was granted here, it would grant it again.
    gateway.quota.settle(db).await?;
    store.presence.back();
    Ok(Seen { version, purges })
}

async fn catch_up(gateway: &Gateway, seen: Seen, was_away: bool, sweep: bool) -> sqlx::Result<()> {
    if was_away || seen.version != gateway.catalog.now().version {
        everything(gateway).await
    } else if seen.purges != gateway.cache.purges_seen() {
        purge::follow(gateway).await
    } else if sweep {
        gateway.breakers.sweep(&gateway.store.db).await
    } else {
        Ok(())
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
