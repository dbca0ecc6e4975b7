//! The database of a command: `DATABASE_URL`, else the private one of the data folder, running or started for the occasion.

use std::str::FromStr;
use std::time::Duration;

use app::away::is_away;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

use super::migrate;
use crate::config::Config;
use crate::postgres::{Lease, PostgresError};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a command that works looks whether the database still answers.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// How long a command's statement may wait for a connection: longer than it takes to notice that none will come, and why.
const ACQUIRE: Duration = Duration::from_secs(30);
/// How long what is open may take to close, where nobody waits for what it does.
pub const CLOSE: Duration = Duration::from_secs(2);

pub struct Database {
    pub pool: PgPool,
    options: PgConnectOptions,
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
        let options = PgConnectOptions::from_str(url).map_err(Unreached::from)?;
        let database = Database { pool: pool(options.clone(), 4, ACQUIRE), options, private };
        match database.ready().await {
            Ok(()) => Ok(database),
            Err(error) => {
                database.close().await?;
                Err(error)
            }
        }
    }

    async fn ready(&self) -> anyhow::Result<()> {
        self.look().await?;
        tokio::select! {
            current = migrate::ensure(&self.pool) => current,
            gone = self.gone() => Err(gone.into()),
        }
    }

    /// Whether a new session comes about, as a statement does not say: it may take as long as it takes.
    async fn look(&self) -> Result<(), Unreached> {
        match (reach(&self.options).await, &self.private) {
            (Err(Unreached::Silent(_)), Some(lease)) => Err(lease.silent().into()),
            (reached, _) => reached,
        }
    }

    /// Returns when no new session comes about any more, with the reason: what a statement waits for will not come either.
    pub async fn gone(&self) -> Unreached {
        loop {
            sleep(BETWEEN_LOOKS).await;
            match self.look().await {
                // Full, or starting: it is there. A private server that died is started again.
                Err(Unreached::Refused(sqlx::Error::Io(_))) if self.private.is_some() => {}
                Ok(()) | Err(Unreached::Refused(sqlx::Error::Database(_))) => {}
                Err(gone) => return gone,
            }
        }
    }

    pub async fn close(self) -> anyhow::Result<()> {
        let _late = timeout(CLOSE, self.pool.close()).await;
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
    #[error(
        "the database takes connections and does not answer within {} s: it hangs or is overloaded, so look after it and \
         restart it, or correct DATABASE_URL", PATIENCE.as_secs()
    )]
    Silent(#[from] Elapsed),
    #[error(transparent)]
    Private(#[from] PostgresError),
    #[error("the database only reads, as a replica does: name the primary in DATABASE_URL")]
    OnlyReads,
}

impl Unreached {
    /// Whether waiting may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Unreached::Refused(error) => is_away(error),
            Unreached::Silent(_) | Unreached::Private(_) | Unreached::OnlyReads => true,
        }
    }
}

impl From<sqlx::Error> for Unreached {
    fn from(cause: sqlx::Error) -> Unreached {
        Unreached::Refused(cause)
    }
}

/// One try: whether a session comes about.
async fn reach(options: &PgConnectOptions) -> Result<(), Unreached> {
    // Not by a pool: it would try for as long, and then know no more than that.
    Ok(timeout(PATIENCE, options.connect()).await??.close().await?)
}

fn pool(options: PgConnectOptions, connections: u32, acquire: Duration) -> PgPool {
    PgPoolOptions::new().max_connections(connections).acquire_timeout(acquire).connect_lazy_with(options)
}

/// A pool for a database that answers, and takes something in.
pub async fn connect_to_primary(url: &str, connections: u32) -> Result<PgPool, Unreached> {
    let options = PgConnectOptions::from_str(url)?;
    reach(&options).await?;
    let db = pool(options, connections, PATIENCE);
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
    Ok(pool(options, connections, PATIENCE))
}
