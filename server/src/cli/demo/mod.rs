//! `toll demo`: a demo upstream, partners and keys, and real requests through the running gateway, so that pages live.

mod callers;
mod catalog;
mod gateway;
mod keys;
mod past;
mod upstream;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use app::books::{self, Filter};
use app::changes::By;
use app::domain::funnel::Funnel;
use app::domain::numbers::count;
use app::domain::window::{Window, parse_span};
use sqlx::PgPool;
use time::OffsetDateTime;
use tokio::time::{Instant, interval_at, sleep};

use super::signals::Signals;
use super::{funnel, with_database};
use crate::config::Config;
use gateway::Gateway;
use upstream::Upstream;

/// Send a demo's requests through the running gateway, for pages with life in them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll demo --minutes 10 --backfill 24h")]
pub struct Args {
    /// How long to send requests
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = minutes)]
    minutes: f64,
    /// Also write a past of this length, such as 24h, where nothing has happened yet
    #[arg(long, value_name = "SPAN", value_parser = past)]
    backfill: Option<time::Duration>,
}

const BY: By<'_> = By("toll demo");
const PROGRESS: Duration = Duration::from_secs(5);
/// How long the books may take to know what was sent last.
const SETTLE: Duration = Duration::from_secs(10);
const LONGEST_PAST: time::Duration = time::Duration::days(14);

/// Ends after its time, or with the first signal, with the funnel on standard output; with a second one, without.
pub async fn run(args: Args, purpose: &str, config: &Config) -> anyhow::Result<ExitCode> {
    let gateway = Gateway::find(config).await?;
    with_database(purpose, config, async |database, signals| {
        demonstrate(&args, &gateway, &database.pool, signals).await
    })
    .await
}

async fn demonstrate(
    args: &Args,
    gateway: &Gateway,
    db: &PgPool,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let began = now(db).await?;
    tokio::select! {
        done = act(args, gateway, db, began) => done?,
        _ = signals.next() => {}
    }
    let funnel = tokio::select! {
        funnel = settled(db, began) => funnel?,
        code = signals.next() => return Ok(code),
    };
    write!(std::io::stdout(), "\n{}", funnel::table(&funnel))?;
    Ok(ExitCode::SUCCESS)
}

/// Everything that a signal may cut short; callers and upstream end with it.
async fn act(args: &Args, gateway: &Gateway, db: &PgPool, began: OffsetDateTime) -> anyhow::Result<()> {
    let upstream = Upstream::start().await?;
    catalog::declare(db, upstream.address, upstream.closed()?).await?;
    let keys = keys::make(db).await?;
    gateway.knows(&keys.acme.text).await?;
    if let Some(span) = args.backfill {
        // Up to the minute that is running: that one is for real requests only.
        let mut window = Window::new(began - span, began)?;
        window.to -= time::Duration::MINUTE;
        let written = past::write(db, window, &keys).await?;
        say(&format!("{} of the past are in the books", count(written, "request")))?;
    }
    say(&format!("sending about 8 requests a second through {}; Ctrl-C ends it", gateway.url()))?;
    let _callers = callers::start(gateway, keys)?;
    progress(gateway, Duration::from_secs_f64(args.minutes * 60.0)).await
}

/// A line each few seconds, until the time is over or nobody answers any more.
async fn progress(gateway: &Gateway, length: Duration) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut tick = interval_at(began + PROGRESS, PROGRESS);
    let end = sleep(length);
    tokio::pin!(end);
    let mut answered = 0;
    loop {
        tokio::select! {
            () = &mut end => return Ok(()),
            _ = tick.tick() => {}
        }
        let seconds = began.elapsed().as_secs();
        say(&format!("{}:{:02}  {}", seconds / 60, seconds % 60, gateway.tally.line()))?;
        let before = std::mem::replace(&mut answered, gateway.tally.answered());
        if answered == before {
            bail!("{} no longer answers: see the log of toll serve", gateway.url());
        }
    }
}

/// The funnel of the demo's minutes, once nothing is under way any more.
async fn settled(db: &PgPool, began: OffsetDateTime) -> anyhow::Result<Funnel> {
    let deadline = Instant::now() + SETTLE;
    let mut before = None;
    loop {
        let window = Window::new(began, now(db).await?.max(began + time::Duration::SECOND))?;
        let funnel = books::funnel(db, window, &Filter::default()).await?;
        let still = funnel.in_flight == Some(0) && before == Some(funnel.arrived);
        if still || Instant::now() > deadline {
            return Ok(funnel);
        }
        before = Some(funnel.arrived);
        // The shipper's pause is a tenth of a second.
        sleep(Duration::from_millis(500)).await;
    }
}

/// By the database's clock, as in the books.
async fn now(db: &PgPool) -> sqlx::Result<OffsetDateTime> {
    sqlx::query_scalar("select now()").fetch_one(db).await
}

fn say(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| (0.01..=1_440.0).contains(minutes));
    minutes.ok_or_else(|| "write minutes from 0.01 to 1440, such as 5".to_owned())
}

fn past(text: &str) -> Result<time::Duration, String> {
    let span = parse_span(text).map_err(|error| error.to_string())?;
    let fits = span >= time::Duration::HOUR && span <= LONGEST_PAST;
    fits.then_some(span).ok_or_else(|| "write from 1h to 14d, such as 24h".to_owned())
}
