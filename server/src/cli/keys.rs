//! `toll keys`: make, list, revoke and rotate API keys.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use app::changes::By;
use app::domain::api_key::ApiKey;
use app::keys::{self, KeyError, MadeKey, NewKey};
use serde_json::json;
use sqlx::PgPool;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::units;

const BY: By<'_> = By("toll keys");

/// Make, list, revoke and rotate API keys
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll keys create --partner acme --name ci --expires 30d")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a key and print it, once
    #[command(after_help = "Example: toll keys create --partner acme --name ci --expires 30d")]
    Create {
        /// Slug of the partner whose key it is
        #[arg(long, value_name = "SLUG")]
        partner: String,
        /// What to call it on screens
        #[arg(long)]
        name: String,
        /// How long it lasts, such as 30d; without it, until it is revoked
        #[arg(long, value_name = "SPAN", value_parser = span)]
        expires: Option<Duration>,
        /// Print {"id","key","start","partner","expires_at"}
        #[arg(long)]
        json: bool,
    },
    /// List keys, ended ones last
    #[command(after_help = "Example: toll keys list --partner acme")]
    List {
        /// Only this partner's
        #[arg(long, value_name = "SLUG")]
        partner: Option<String>,
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// End a key now, on every node
    #[command(after_help = "Example: toll keys revoke 17")]
    Revoke {
        /// As in the list
        id: i64,
    },
    /// Make a successor and print it, once; the old key is honoured a while longer
    #[command(after_help = "Example: toll keys rotate 17 --overlap 15m")]
    Rotate {
        /// As in the list
        id: i64,
        /// How much longer the old key is honoured, such as 15m; 0s ends it now
        #[arg(long, value_name = "SPAN", value_parser = span)]
        overlap: Duration,
        /// Print {"id","key","start","partner","expires_at"}
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, db: &PgPool) -> anyhow::Result<ExitCode> {
    let printed = work(args.command, db).await.map_err(told)?;
    std::io::stdout().write_all(printed.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// With the command that helps on.
pub(super) fn told(error: KeyError) -> anyhow::Error {
    let command = match &error {
        KeyError::NoPartner(_) => "`toll export` shows those there are",
        KeyError::NotFound(_) | KeyError::RotatedAlready => "`toll keys list` shows those there are",
        KeyError::LimitReached { .. } | KeyError::StillOverlapping => {
            "`toll keys list` shows them, `toll keys revoke ID` ends one"
        }
        KeyError::Ended => "`toll keys create --partner SLUG --name NAME` makes one",
        KeyError::BadExpiry => "leave --expires out for a key without an end",
        _ => return error.into(),
    };
    anyhow::anyhow!("{error}: {command}")
}

/// What is printed.
async fn work(command: Command, db: &PgPool) -> Result<String, KeyError> {
    Ok(match command {
        Command::Create { partner, name, expires, json } => {
            let partner = keys::partner_by_slug(db, &partner).await?;
            let new = NewKey { name: &name, expires_in: expires, routes: None };
            show(&keys::create(db, BY, partner, new).await?, json)
        }
        Command::Rotate { id, overlap, json } => show(&keys::rotate(db, BY, None, id, overlap).await?, json),
        Command::Revoke { id } => {
            let key = keys::revoke(db, BY, None, id).await?;
            format!("key {id} ({}…, {:?}) of {} is {}\n", key.start, key.name, key.partner, key.state.word())
        }
        Command::List { partner, json } => {
            let scope = match &partner {
                Some(slug) => Some(keys::partner_by_slug(db, slug).await?),
                None => None,
            };
            let keys = keys::list(db, scope).await?;
            if json { format!("{:#}\n", json!(keys)) } else { table(&keys) }
        }
    })
}

/// Nothing but the key on standard output, so that a script can take it as it is.
fn show(made: &MadeKey, as_json: bool) -> String {
    let MadeKey { key, text } = made;
    if as_json {
        let value = json!({
            "id": key.id,
            "key": text,
            "start": key.start,
            "partner": key.partner,
            "expires_at": key.expires_at.map(moment),
        });
        return format!("{value}\n");
    }
    let until =
        key.expires_at.map_or_else(|| "until it is revoked".to_owned(), |at| format!("until {}", moment(at)));
    eprintln!("key {} of {}, good {until}; it is shown this once:", key.id, key.partner);
    format!("{text}\n")
}

fn table(keys: &[ApiKey]) -> String {
    if keys.is_empty() {
        return "no keys; make one: toll keys create --partner SLUG --name NAME\n".to_owned();
    }
    let partner = keys.iter().map(|key| key.partner.len()).max().unwrap_or(0).max(7);
    let mut text = format!(
        "{:>6}  {:partner$}  {:10}  {:8}  {:20}  {:20}  NAME\n",
        "ID", "PARTNER", "START", "STATE", "CREATED", "ENDS"
    );
    for key in keys {
        let end = [key.expires_at, key.revoked_at].into_iter().flatten().min();
        let _ = writeln!(
            text,
            "{:>6}  {:partner$}  {:10}  {:8}  {:20}  {:20}  {}",
            key.id,
            key.partner,
            key.start,
            key.state.word(),
            moment(key.created_at),
            end.map_or_else(|| "never".to_owned(), moment),
            key.name
        );
    }
    text
}

/// To the second, UTC.
fn moment(at: OffsetDateTime) -> String {
    let whole = at.replace_nanosecond(0).unwrap_or(at);
    whole.format(&Rfc3339).unwrap_or_else(|_| whole.to_string())
}

fn span(text: &str) -> Result<Duration, String> {
    let span = units::parse_duration(text).map_err(|error| error.to_string())?;
    Duration::try_from(span).map_err(|_| format!("{text:?} is longer than can be counted"))
}
