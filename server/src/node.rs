//! One node: gateway, ledger and portal, from the first socket to the last record.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use sqlx::PgPool;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::{Config, OnStoreFailure};
use crate::gateway::{Gateway, Settings};
use crate::ledger::housekeeping::Retention;
use crate::ledger::{Card, Health, Ledger, LedgerSettings};
use crate::listener::{Listener, Surface};
use crate::sockets::Sockets;
use crate::telemetry::metrics::{Probe, Unready, Vitals};

/// How long the last records may take to the database.
const FLUSH: Duration = Duration::from_secs(20);
/// Sizes of a journal's files: allocating one large file now and then is cheap, but a small bound is to be kept too.
const SEGMENTS: std::ops::RangeInclusive<u64> = 64 << 10..=16 << 20;

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
    pub async fn start(
        config: &Config,
        sockets: Sockets,
        db: PgPool,
        portal: axum::Router,
    ) -> anyhow::Result<Node> {
        let settings = Settings {
            trusted_proxies: config.trusted_proxies.clone(),
            cache_bytes: config.cache_bytes,
            header_timeout: config.header_timeout,
            body_idle: config.body_idle,
            upstream_idle: config.upstream_idle,
            meter_locally: config.on_store_failure == OnStoreFailure::MeterLocally,
        };
        let now = sqlx::query_scalar("select now()").fetch_one(&db).await?;
        let clock = Arc::new(Clock::at(now));
        let ledger = open_ledger(config, clock.clone())?;
        let gateway = Gateway::start(db, clock, settings, ledger.identity()).await?;

        let card = Card { host: host(), public_url: Some(config.public_url()) };
        ledger.start(&gateway.store.db, card, retention(config));

        let (stop, stopping) = watch::channel(false);
        let listen = |bound, surface: Surface| {
            Listener::start(bound, &surface, sockets.tls.clone(), &gateway, &ledger, &stopping)
        };
        let listeners = match sockets.portal {
            None => vec![listen(sockets.gateway, Surface::Both(portal))?],
            Some(bound) => {
                vec![listen(sockets.gateway, Surface::Gateway)?, listen(bound, Surface::Portal(portal))?]
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
        let flushed = self.ledger.flush(FLUSH).await;
        self.gateway.rest().await;
        flushed.context("the journal keeps the last records, and the next start ships them")
    }
}

fn open_ledger(config: &Config, clock: Arc<Clock>) -> anyhow::Result<Arc<Ledger>> {
    let lane_bytes = config.journal_bytes / config.gateway_threads.max(1) as u64;
    let settings = LedgerSettings {
        lanes: config.gateway_threads,
        journal_bytes: config.journal_bytes,
        // Two at least, one of which is written to while the other is shipped.
        segment_bytes: (lane_bytes / 4).clamp(*SEGMENTS.start(), *SEGMENTS.end()) as usize,
        sync_every: config.journal_sync,
    };
    let dir = config.data_dir.join("ledger");
    let ledger = Ledger::open(&dir, clock, settings)
        .with_context(|| format!("the ledger in {} cannot be opened", dir.display()))?;
    Ok(Arc::new(ledger))
}

fn retention(config: &Config) -> Retention {
    let days = |duration: Duration| (duration.as_secs() / 86_400).try_into().unwrap_or(u16::MAX);
    Retention {
        log_days: days(config.log_retention),
        minute_days: days(config.minute_retention),
        hour_days: days(config.hour_retention),
    }
}

/// What people call this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "unnamed".into(),
        name => name.into(),
    }
}

fn vitals(gateway: &Gateway, ledger: &Ledger) -> Vitals {
    let counters = ledger.counters();
    let (journal_bytes, journal_bytes_max) = ledger.journal_bytes();
    let database_up = !gateway.store.is_away();
    let mut unready = Vec::new();
    if !database_up {
        unready.push(Unready { part: "database", why: "it does not answer".into() });
    }
    if let Health::Stopped(why) = ledger.health() {
        unready.push(Unready { part: "ledger", why });
    }
    Vitals {
        arrived: counters.arrived,
        in_flight: counters.in_flight,
        unreadable: gateway.unreadable.load(Ordering::Relaxed),
        lines: counters.lines(),
        upstream_calls: counters.upstream_calls,
        metered_locally: counters.metered_locally,
        database_up,
        journal_bytes,
        journal_bytes_max,
        unshipped: ledger.backlog(),
        unready,
    }
}
