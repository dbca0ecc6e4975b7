//! What the stages of all gateway threads share.

use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use sqlx::PgPool;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::catalog::Live;
use crate::clock::Clock;
use crate::follow::follow;
use crate::listener::callers::Callers;
use crate::stages::breaker::Breakers;
use crate::stages::cache::{Store as CacheStore, purge};
use crate::stages::key::KnownKeys;
use crate::stages::proxy::health;
use crate::stages::quota::{Quota, Refused};
use crate::store::Store;

/// Keys that are kept in memory, known and unknown ones each.
const MOST_KEYS: u64 = 100_000;
/// Connections that spend tokens.
const QUOTA_LANES: usize = 4;

/// Settings that the stages read.
#[derive(Clone, Debug)]
pub struct Settings {
    pub trusted_proxies: Vec<IpNet>,
    pub cache_bytes: u64,
    /// How long a client may take to send a head.
    pub header_timeout: Duration,
    /// How long a client may pause within a body.
    pub body_idle: Duration,
    /// How long an upstream may pause within its answer.
    pub upstream_idle: Duration,
    /// Whether a node goes on from the tokens that it last saw while the database is away.
    pub meter_locally: bool,
}

pub struct Gateway {
    pub settings: Settings,
    pub store: Arc<Store>,
    pub catalog: Arc<Live>,
    pub keys: KnownKeys,
    pub callers: Callers,
    pub quota: Quota,
    pub refused: Refused,
    pub cache: CacheStore,
    pub breakers: Arc<Breakers>,
    /// Connections whose request could not be read: no request, and so not in the books.
    pub unreadable: AtomicU64,
    /// What keeps all this current.
    background: Mutex<Vec<JoinHandle<()>>>,
}

impl Gateway {
    /// Everything in memory, and the tasks that keep it current; call on the background runtime. `node` is the name
    /// under which this node makes transitions.
    pub async fn start(
        db: PgPool,
        clock: Arc<Clock>,
        settings: Settings,
        node: Uuid,
    ) -> sqlx::Result<Arc<Gateway>> {
        let store = Arc::new(Store::new(db, clock));
        let breakers = Breakers::start(store.clone(), node);
        breakers.refresh(&store.db, None).await?;
        let catalog = Arc::new(Live::load(&store.db).await?);
        let gateway = Arc::new(Gateway {
            keys: KnownKeys::new(MOST_KEYS),
            callers: Callers::default(),
            quota: Quota::start(store.clone(), QUOTA_LANES, settings.meter_locally),
            refused: Refused::default(),
            cache: CacheStore::new(settings.cache_bytes),
            unreadable: AtomicU64::new(0),
            settings,
            store,
            catalog,
            breakers,
            background: Mutex::default(),
        });
        purge::follow(&gateway).await?;
        gateway.in_background(follow(gateway.clone()));
        gateway.in_background(health::watch(gateway.catalog.clone(), gateway.store.db.clone(), node));
        Ok(gateway)
    }

    fn in_background(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.background.lock().unwrap_or_else(PoisonError::into_inner).push(tokio::spawn(task));
    }

    /// Follows nothing any more. For the end of the process: the database that is about to be left is not away.
    pub async fn rest(&self) {
        let tasks = std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
            let _ended = task.await;
        }
    }
}
