//! One node: gateway, ledger and portal, from the first socket to the last record.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use sqlx::PgPool;
use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::config::{Config, OnStoreFailure};
use crate::gateway::{Gateway, Settings};
use crate::ledger::{Ledger, LedgerSettings};
use crate::listener::{Listener, Surface, Tls};
use crate::telemetry::metrics::{Probe, Unready, Vitals};

/// How long a client may pause within a body, and an upstream within its.
const BODY_IDLE: Duration = Duration::from_secs(30);

/// A running node.
pub struct Node {
    /// Where the gateway listens.
    pub address: SocketAddr,
    pub gateway: Arc<Gateway>,
    pub ledger: Arc<Ledger>,
    listeners: Vec<Listener>,
    stop: watch::Sender<bool>,
}

impl Node {
    /// Starts everything on the current runtime, which becomes the background one; gateway threads have their own.
    pub async fn start(config: &Config, db: PgPool, portal: axum::Router) -> anyhow::Result<Node> {
        let settings = Settings {
            trusted_proxies: config.trusted_proxies.clone(),
            cache_bytes: config.cache_bytes,
            body_idle: BODY_IDLE,
            meter_locally: config.on_store_failure == OnStoreFailure::MeterLocally,
        };
        let tls = match (&config.tls_cert, &config.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
            _ => None,
        };
        let now = sqlx::query_scalar("select now()").fetch_one(&db).await?;
        let clock = Arc::new(Clock::at(now));
        let ledger = open_ledger(config, clock.clone())?;
        let gateway = Gateway::start(db, clock, settings, Uuid::now_v7()).await?;

        let (stop, stopping) = watch::channel(false);
        let listen = |address, surface: Surface| {
            Listener::start(
                address,
                config.gateway_threads,
                &surface,
                tls.clone(),
                &gateway,
                &ledger,
                &stopping,
            )
            .with_context(|| {
                format!("cannot listen on {address}: set TOLL_LISTEN or TOLL_PORTAL_LISTEN to a free port")
            })
        };
        let listeners = match config.portal_listen {
            None => vec![listen(config.listen, Surface::Both(portal))?],
            Some(address) => {
                vec![listen(config.listen, Surface::Gateway)?, listen(address, Surface::Portal(portal))?]
            }
        };
        let address = listeners[0].address;
        Ok(Node { address, gateway, ledger, listeners, stop })
    }

    /// What this process has counted, and whether it is ready.
    pub fn probe(&self) -> Probe {
        let (gateway, ledger) = (self.gateway.clone(), self.ledger.clone());
        Arc::new(move || vitals(&gateway, &ledger))
    }

    /// Takes no more connections, finishes what is inside, writes the last records.
    pub async fn stop(self) -> anyhow::Result<()> {
        let _ = self.stop.send(true);
        let listeners = self.listeners;
        tokio::task::spawn_blocking(move || listeners.into_iter().for_each(Listener::join)).await?;
        Ok(())
    }
}

fn open_ledger(config: &Config, clock: Arc<Clock>) -> anyhow::Result<Arc<Ledger>> {
    let settings = LedgerSettings {
        lanes: config.gateway_threads,
        journal_bytes: config.journal_bytes,
        sync_every: config.journal_sync,
        ..LedgerSettings::default()
    };
    let dir = config.data_dir.join("ledger");
    let ledger = Ledger::open(&dir, clock, settings)
        .with_context(|| format!("the ledger in {} cannot be opened", dir.display()))?;
    Ok(Arc::new(ledger))
}

fn vitals(gateway: &Gateway, ledger: &Ledger) -> Vitals {
    let counters = ledger.counters();
    let database_up = !gateway.store.is_away();
    let mut unready = Vec::new();
    if !database_up {
        unready.push(Unready { part: "database", why: "it does not answer".into() });
    }
    Vitals {
        arrived: counters.arrived,
        in_flight: counters.in_flight,
        unreadable: gateway.unreadable.load(Ordering::Relaxed),
        lines: counters.lines(),
        database_up,
        unready,
        ..Vitals::default()
    }
}
