//! For `make bench-screens`: 30 days of requests of 1,000 keys, written by the ledger's own statement as `toll demo`'s past is.
//!
//! Arguments: a database's URL, and how many requests.

use std::fmt::Write as _;

use anyhow::Context;
use app::changes::By;
use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::keys::{self, NewKey};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use time::{Duration, OffsetDateTime};
use toll::ledger::past::Past;
use toll::ledger::record::{End, Record};
use toll::manifest::apply::{ApplyError, Options, apply};
use toll::manifest::file;
use uuid::Uuid;

const KEYS: usize = 1_000;
const KEYS_OF_A_PARTNER: usize = 4;
const ROUTES: usize = 8;
const DAYS: i64 = 30;

/// Who calls with it, and what: most of it one route.
struct Caller {
    partner: i64,
    key: i64,
    home: i64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().context("the first argument is a database's URL")?;
    let requests: usize = arguments.next().and_then(|n| n.parse().ok()).context("the second is a number")?;
    let db = PgPoolOptions::new().max_connections(4).connect(&url).await?;
    declare(&db).await?;
    let (callers, routes) = callers(&db).await?;
    let now = OffsetDateTime::now_utc();
    let window = Window::new(now - Duration::days(DAYS), now)?;
    let minutes = (window.length().whole_minutes()) as usize;
    let mut dice = StdRng::seed_from_u64(1);
    let mut past = Past::open(&db).await?;
    let first = window.from.unix_timestamp() / 60;
    let mut written = 0;
    for n in 0..minutes {
        // As many as are due by now, so that any number is spread evenly.
        let due = requests * (n + 1) / minutes;
        let records = (written..due).map(|_| request(&mut dice, &callers, &routes)).collect();
        written = due;
        past.write(first + n as i64, records).await?;
    }
    past.close().await?;
    println!("{written} requests of {} keys in {DAYS} days", callers.len());
    Ok(())
}

async fn declare(db: &PgPool) -> anyhow::Result<()> {
    let mut text = String::from("[[plan]]\nname = \"free\"\ncapacity = 60\nrefill_per_second = 1.0\n");
    for n in 0..ROUTES {
        write!(
            text,
            "[[upstream]]\nname = \"up-{n}\"\nurls = [\"http://127.0.0.1:9\"]\n\
             [[route]]\nname = \"route-{n}\"\npath = \"/route-{n}\"\nupstream = \"up-{n}\"\ncache = {}\n",
            n % 2 == 0
        )?;
    }
    for n in 0..KEYS / KEYS_OF_A_PARTNER {
        writeln!(text, "[[partner]]\nslug = \"partner-{n}\"\nplan = \"free\"")?;
    }
    match apply(db, &file::read(&text), Options::default()).await {
        Ok(_) => Ok(()),
        Err(ApplyError::Database(error)) => Err(error.into()),
        Err(ApplyError::Wrong(problems)) => anyhow::bail!("{problems:?}"),
    }
}

async fn callers(db: &PgPool) -> anyhow::Result<(Vec<Caller>, Vec<i64>)> {
    let routes: Vec<i64> = sqlx::query_scalar("select id from route order by id").fetch_all(db).await?;
    let partners: Vec<i64> = sqlx::query_scalar("select id from partner order by id").fetch_all(db).await?;
    let mut callers = Vec::new();
    for (n, partner) in partners.iter().cycle().take(KEYS).enumerate() {
        let name = format!("key {n}");
        let made =
            keys::create(db, By("bench"), *partner, NewKey { name: &name, ..NewKey::default() }).await?;
        callers.push(Caller { partner: *partner, key: made.key.id, home: routes[n % routes.len()] });
    }
    Ok((callers, routes))
}

fn request(dice: &mut StdRng, callers: &[Caller], routes: &[i64]) -> Record {
    let caller = &callers[dice.random_range(0..callers.len())];
    let route =
        if dice.random_range(0..10) < 9 { caller.home } else { routes[dice.random_range(0..routes.len())] };
    let (stage, outcome, status) = match dice.random_range(0..100) {
        0..30 => (Stage::Cache, Outcome::CacheHit, 200),
        30..40 => (Stage::Quota, Outcome::QuotaSpent, 429),
        40..44 => (Stage::Quota, Outcome::QuotaEarlyRetry, 429),
        44..46 => (Stage::Breaker, Outcome::BreakerOpen, 503),
        46 => (Stage::Key, Outcome::KeyNotAllowed, 403),
        47 => (Stage::Proxy, Outcome::UpstreamUnreachable, 502),
        48 | 49 => (Stage::Proxy, Outcome::Forwarded, 500),
        _ => (Stage::Proxy, Outcome::Forwarded, 200),
    };
    let reached = outcome == Outcome::Forwarded;
    let us = dice.random_range(2_000..400_000);
    Record {
        end: Some(End { stage, outcome, status, reached, upstream_status: if reached { status } else { 0 } }),
        route,
        partner: caller.partner,
        key: caller.key,
        method: "GET".into(),
        path: "/api/route/7".into(),
        address: "127.0.0.1".into(),
        user_agent: "bench".into(),
        bytes_out: 300,
        duration_us: us,
        stage_us: [20, 30, 400, 20, 10, us],
        cache_miss: (stage == Stage::Proxy).then_some(CacheMiss::First),
        upstream_calls: u8::from(reached).into(),
        ..Record::new(Uuid::nil(), 0)
    }
}
