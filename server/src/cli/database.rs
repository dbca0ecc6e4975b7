//! The database of a command: `DATABASE_URL`, else the private one of the data folder, running or started for the occasion.

use std::time::Duration;

use anyhow::Context;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use super::migrate;
use crate::config::Config;
use crate::postgres::Lease;

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

/// A pool with its first connection made.
pub async fn connect(url: &str, connections: u32) -> anyhow::Result<PgPool> {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(Duration::from_secs(5))
        .connect(url)
        .await
        .context("cannot reach the database: start it, or correct DATABASE_URL")
}
