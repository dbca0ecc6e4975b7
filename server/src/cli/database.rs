//! The database of a command: `DATABASE_URL`, else the private one of the data folder, running or started for the occasion.

use std::str::FromStr;
use std::time::Duration;

use app::away::is_away;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::migrate;
use crate::config::Config;
use crate::postgres::Lease;

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Database {
    pub pool: PgPool,
    private: Option<Lease>,
}

impl Database {
    /// Its schema is current. `purpose` is what others are told of who holds the private PostgreSQL.
    pub async fn open(config: &Config, purpose: &str) -> anyhow::Result<Database> {
        let private = match &config.database_url {
            Some(_) => None,
            None => Some(Lease::take(&config.data_dir, purpose).await?),
        };
        let url = private.as_ref().map(Lease::url).or(config.database_url.as_deref()).unwrap_or_default();
        match ready(url, 4).await {
            Ok(pool) => Ok(Database { pool, private }),
            Err(error) => {
                end(private).await?;
                Err(error)
            }
        }
    }

    pub async fn close(self) -> anyhow::Result<()> {
        self.pool.close().await;
        end(self.private).await
    }
}

/// For commands that only read: in a wrong folder, an empty Toll made for the occasion would tell that all is well.
pub fn must_exist(config: &Config) -> anyhow::Result<()> {
    anyhow::ensure!(
        config.database_url.is_some() || config.data_dir.is_dir(),
        "there is no Toll in {}: go to where it serves, or name its folder by --data-dir or its database by DATABASE_URL",
        config.data_dir.display()
    );
    Ok(())
}

async fn ready(url: &str, connections: u32) -> anyhow::Result<PgPool> {
    let pool = connect(url, connections).await?;
    migrate::ensure(&pool).await?;
    Ok(pool)
}

async fn end(private: Option<Lease>) -> anyhow::Result<()> {
    if let Some(lease) = private {
        lease.end().await?;
    }
    Ok(())
}

/// Why there is no database to work with.
#[derive(Debug, thiserror::Error)]
pub enum Unreached {
    #[error("cannot reach the database: start it, or correct DATABASE_URL: {0}")]
    Refused(sqlx::Error),
    #[error("the database does not answer: start it, or correct DATABASE_URL")]
    Silent(#[from] Elapsed),
    #[error("the database only reads, as a replica does: name the primary in DATABASE_URL")]
    OnlyReads,
}

impl Unreached {
    /// Whether waiting may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Unreached::Refused(error) => is_away(error),
            Unreached::Silent(_) | Unreached::OnlyReads => true,
        }
    }
}

impl From<sqlx::Error> for Unreached {
    fn from(cause: sqlx::Error) -> Unreached {
        Unreached::Refused(cause)
    }
}

/// A pool for a database that answers.
pub async fn connect(url: &str, connections: u32) -> Result<PgPool, Unreached> {
    let options = PgConnectOptions::from_str(url)?;
    // Not by the pool: it would try for as long, and then know no more than that.
    timeout(PATIENCE, options.connect()).await??.close().await?;
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE);
    Ok(pool.connect_lazy_with(options))
}

/// The same, and it must take something in.
pub async fn connect_to_primary(url: &str, connections: u32) -> Result<PgPool, Unreached> {
    let db = connect(url, connections).await?;
    let only_reads = "select current_setting('transaction_read_only')::boolean";
    match sqlx::query_scalar(only_reads).fetch_one(&db).await? {
        true => Err(Unreached::OnlyReads),
        false => Ok(db),
    }
}

/// A pool for screens, of a database that answers. What they ask is a step in an index by time, whatever the window, so it is
/// planned once: to plan it for each window, to compile it or to start helpers for it takes as long as to run it.
pub fn for_screens(url: &str, connections: u32) -> sqlx::Result<PgPool> {
    let planned =
        [("plan_cache_mode", "force_generic_plan"), ("jit", "off"), ("max_parallel_workers_per_gather", "0")];
    let options = PgConnectOptions::from_str(url)?.options(planned);
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE);
    Ok(pool.connect_lazy_with(options))
}
