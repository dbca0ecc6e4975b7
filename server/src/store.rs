//! The database as the gateway sees it: a pool on the background runtime, its clock, and whether it answers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use app::away::is_away;
use sqlx::PgPool;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::clock::Clock;
use crate::presence::Presence;

/// The schema, compiled in; `toll serve` and `toll migrate` bring a database up to it.
pub static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");

/// A statement that takes longer than this counts as "the database is away".
pub const PATIENCE: Duration = Duration::from_secs(2);

pub struct Store {
    pub db: PgPool,
    pub clock: Arc<Clock>,
    pub presence: Arc<Presence>,
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
        Store { db, clock, presence: Arc::default(), background: Handle::current() }
    }

    /// Whether the last thing that was heard of the database was a failure.
    pub fn is_away(&self) -> bool {
        self.presence.is_away()
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
        let answer = self.background.spawn(timeout(PATIENCE, query));
        tokio::select! {
            answer = answer => match answer {
                Ok(Ok(Ok(value))) => Ok(value),
                Ok(Ok(Err(error))) => Err(self.failed(&error)),
                Ok(Err(_elapsed)) => Err(self.silent()),
                Err(_ended) => Err(Away),
            },
            // Somebody else has found it out sooner.
            () = self.presence.gone() => Err(Away),
        }
    }

    /// Takes note of a failed query; one that the database itself refused does not make it "away".
    pub fn failed(&self, error: &sqlx::Error) -> Away {
        if is_away(error) {
            self.presence.left(error);
        } else {
            tracing::error!(%error, "the database refused a statement");
        }
        Away
    }

    /// Takes note of a query without an answer in time.
    pub fn silent(&self) -> Away {
        self.presence.left(format_args!("no answer within {PATIENCE:?}"));
        Away
    }

    pub fn background(&self) -> &Handle {
        &self.background
    }
}
