//! `toll export`: the catalog as a file that `toll apply` takes.

use std::io::Write;
use std::process::ExitCode;

use sqlx::PgPool;

use crate::manifest::export::export;

/// Print upstreams, plans, routes and partners as a file that `toll apply` takes
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll export > toll-catalog.toml")]
pub struct Args {}

pub async fn run(_: Args, db: &PgPool) -> anyhow::Result<ExitCode> {
    let text = export(db).await?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
