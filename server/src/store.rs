//! The database as the gateway sees it: a pool on the background runtime, its clock, and whether it answers.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::runtime::Handle;

use crate::clock::Clock;

/// The schema, compiled in; `toll serve` and `toll migrate` bring a database up to it.
pub static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");

/// A statement that takes longer than this counts as "the database is away".
pub const PATIENCE: Duration = Duration::from_secs(2);

pub struct Store {
    pub db: PgPool,
    pub clock: Arc<Clock>,
    away: AtomicBool,
    /// Connections live on this runtime; gateway threads only wait for what it says.
    background: Handle,
}

/// The database does not answer.
#[derive(Debug, thiserror::Error)]
#[error("the database is away")]
pub struct Away;

impl Store {
    /// Must be called on the background runtime.
    pub fn new(db: PgPool, clock: Arc<Clock>) -> Store {
        Store { db, clock, away: AtomicBool::new(false), background: Handle::current() }
    }

    /// Whether the last thing that was heard of the database was a failure.
    pub fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    pub fn set_away(&self, away: bool) {
        if self.away.swap(away, Ordering::Relaxed) != away {
            match away {
                true => tracing::warn!("the database is away: going on from what this node last knew"),
                false => tracing::info!("the database is back"),
            }
        }
    }

    /// Runs a query on the background runtime, within `PATIENCE`. While the database is away it fails at once.
    pub async fn ask<T, F>(&self, query: F) -> Result<T, Away>
    where
        T: Send + 'static,
        F: Future<Output = sqlx::Result<T>> + Send + 'static,
    {
        if self.is_away() {
            return Err(Away);
        }
        let answer = self.background.spawn(tokio::time::timeout(PATIENCE, query)).await;
        match answer {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(error))) => Err(self.failed(&error)),
            Ok(Err(_elapsed)) => {
                self.set_away(true);
                Err(Away)
            }
            Err(_ended) => Err(Away),
        }
    }

    /// Takes note of a failed query; one that the database itself refused does not make it "away".
    pub fn failed(&self, error: &sqlx::Error) -> Away {
        match error {
            sqlx::Error::Database(refused) if !is_shutdown(refused.code().as_deref()) => {
                tracing::error!(%error, "the database refused a statement");
            }
            _ => self.set_away(true),
        }
        Away
    }

    pub fn background(&self) -> &Handle {
        &self.background
    }
}

/// Class 57P: administrator shutdown, crash shutdown, cannot connect now; class 08: connection exceptions; 53300: too
/// many connections.
fn is_shutdown(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.starts_with("57P") || code.starts_with("08") || code == "53300")
}
