//! `toll migrate`: brings the database up to this version's schema.

use std::process::ExitCode;

use anyhow::Context;
use sqlx::PgPool;
use sqlx::migrate::MigrateError;

use crate::store::MIGRATIONS;

/// Bring the database up to this version's schema; serve does it too
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: DATABASE_URL=postgres://toll@db/toll toll migrate")]
pub struct Args {}

/// The database has been migrated by the time it is handed to a command.
pub async fn run(_: Args, db: &PgPool) -> anyhow::Result<ExitCode> {
    let version: i64 = sqlx::query_scalar("select max(version) from _sqlx_migrations").fetch_one(db).await?;
    println!("the schema is at version {version}");
    Ok(ExitCode::SUCCESS)
}

/// Applies what is missing, under an advisory lock, since several nodes may start at once. Where nothing is missing only
/// reading is needed, so that a command works with fewer rights.
pub async fn ensure(db: &PgPool) -> anyhow::Result<()> {
    if is_current(db).await? {
        return Ok(());
    }
    match MIGRATIONS.run(db).await {
        Err(MigrateError::VersionMissing(version)) => {
            anyhow::bail!(
                "the database is at version {version}, which this toll does not know: run the newer toll"
            )
        }
        Err(MigrateError::VersionMismatch(version)) => anyhow::bail!(
            "migration {version} of the database is not this toll's: run the toll that made it, or restore a backup"
        ),
        done => done.context("the database cannot be migrated"),
    }
}

async fn is_current(db: &PgPool) -> anyhow::Result<bool> {
    let is_there: bool =
        sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null").fetch_one(db).await?;
    if !is_there {
        return Ok(false);
    }
    let applied: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("select version, checksum from _sqlx_migrations where success order by version")
            .fetch_all(db)
            .await?;
    let known = MIGRATIONS.iter().map(|migration| (migration.version, migration.checksum.to_vec()));
    Ok(known.eq(applied))
}
