//! `toll purge`: have every node forget stored answers.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context;
use app::domain::purge::{Purge, Target};
use app::purge;
use serde_json::json;
use sqlx::PgPool;
use time::format_description::well_known::Rfc3339;

/// How the list of purges calls whoever used the command.
const BY: &str = "toll purge";

/// Have every node forget stored answers, within a second
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll purge url /api/orders/7")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Forget what is stored under these URLs, in all its variants
    #[command(after_help = "Example: toll purge url /api/orders/7 'https://toll.example/api/orders?page=2'")]
    Url {
        /// With its query if it has one; scheme and host may be left out
        #[arg(required = true)]
        urls: Vec<String>,
        /// Print a JSON array of the purges
        #[arg(long)]
        json: bool,
    },
    /// Forget all whose path begins like this
    #[command(after_help = "Example: toll purge prefix /api/orders/")]
    Prefix {
        /// Byte for byte: /api/orders also means /api/orders-old
        #[arg(required = true)]
        prefixes: Vec<String>,
        /// Print a JSON array of the purges
        #[arg(long)]
        json: bool,
    },
    /// Forget all that the upstream has marked with a tag, in Cache-Tag or Surrogate-Key
    #[command(after_help = "Example: toll purge tag order-7 customer-12")]
    Tag {
        /// Case does not matter
        #[arg(required = true)]
        tags: Vec<String>,
        /// Print a JSON array of the purges
        #[arg(long)]
        json: bool,
    },
    /// List the last purges, newest first
    #[command(after_help = "Example: toll purge list --last 20")]
    List {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        last: i64,
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, db: &PgPool) -> anyhow::Result<ExitCode> {
    let (purges, as_json) = match args.command {
        Command::List { last, json } => (purge::recent(db, last).await?, json),
        Command::Url { urls, json } => (forget(db, "url", &urls).await?, json),
        Command::Prefix { prefixes, json } => (forget(db, "prefix", &prefixes).await?, json),
        Command::Tag { tags, json } => (forget(db, "tag", &tags).await?, json),
    };
    let text = if as_json { format!("{:#}\n", json!(purges)) } else { table(&purges) };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// All are read before the first is done.
async fn forget(db: &PgPool, kind: &str, texts: &[String]) -> anyhow::Result<Vec<Purge>> {
    let read = |text: &String| Target::read(kind, text).with_context(|| format!("{text:?} cannot be purged"));
    let targets = texts.iter().map(read).collect::<anyhow::Result<Vec<Target>>>()?;
    let mut purges = Vec::new();
    for target in &targets {
        purges.push(purge::purge(db, target, BY).await?);
    }
    Ok(purges)
}

fn table(purges: &[Purge]) -> String {
    let line = |purge: &Purge| {
        let at = purge.at.replace_nanosecond(0).unwrap_or(purge.at);
        let at = at.format(&Rfc3339).unwrap_or_else(|_| at.to_string());
        format!("{at}  {:6}  {}  by {}\n", purge.target.kind(), purge.target.text(), purge.by)
    };
    match purges.is_empty() {
        true => "nothing was purged yet\n".to_owned(),
        false => purges.iter().map(line).collect(),
    }
}
