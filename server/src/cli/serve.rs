//! `toll serve`: gateway and portal, with a database to stand on, until a signal ends it.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use app::people::first_ops_link;
use rustix::process::{Resource, getrlimit, setrlimit};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::signals::Signals;
use super::{database, migrate};
use crate::config::Config;
use crate::config::flags::AllFlags;
use crate::data_dir;
use crate::listener::GRACE;
use crate::node::Node;
use crate::portal::{self, PortalState};
use crate::postgres::PrivatePostgres;
use crate::telemetry::admin;

/// Run the gateway on /api and the portal on every other path
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll serve --listen 127.0.0.1:8080 --data-dir ./toll-data")]
pub struct Args {
    #[command(flatten)]
    pub settings: AllFlags,
}

/// From the first signal to the end, whatever holds it up: what is in flight has `listener::GRACE`, the last records
/// need the rest.
const OVERDUE: Duration = Duration::from_secs(60);
/// A database that starts at the same time as Toll is waited for this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The portal, the shipper and other work behind the gateway share them.
const CONNECTIONS: u32 = 32;

pub fn run(config: Config) -> anyhow::Result<ExitCode> {
    raise_open_files();
    let _folder = data_dir::claim(&config.data_dir)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().thread_name("toll-portal").enable_all().build()?;
    runtime.block_on(async {
        let shutdown = on_signals()?;
        serve(config, shutdown).await
    })
}

async fn serve(config: Config, mut shutdown: watch::Receiver<bool>) -> anyhow::Result<ExitCode> {
    let private = match &config.database_url {
        Some(_) => None,
        None => Some(PrivatePostgres::start(&config.data_dir).await?),
    };
    let url =
        private.as_ref().map(PrivatePostgres::url).or(config.database_url.as_deref()).unwrap_or_default();
    let served = tokio::select! {
        served = with_database(&config, url, shutdown.clone()) => served,
        () = overdue(&mut shutdown) => Err(anyhow::anyhow!("what was in flight did not end within {OVERDUE:?}")),
    };
    if let Some(postgres) = private {
        postgres.stop().await;
    }
    served.map(|()| ExitCode::SUCCESS)
}

async fn with_database(
    config: &Config,
    url: &str,
    mut shutdown: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let db = tokio::select! {
        db = reach(url) => db?,
        _ = shutdown.wait_for(|stop| *stop) => return Ok(()),
    };
    migrate::ensure(&db).await?;
    let done = node(config.clone(), db.clone(), shutdown).await;
    // Connections that hang are the server's to end.
    let _late = timeout(Duration::from_secs(2), db.close()).await;
    done
}

/// Tries again while the database is starting.
async fn reach(url: &str) -> anyhow::Result<PgPool> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match database::connect(url, CONNECTIONS).await {
            Ok(db) => return Ok(db),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(error) => tracing::warn!("waiting for the database: {error:#}"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// The admin port is bound first: a taken one is found out before the gateway answers anybody.
async fn node(config: Config, db: PgPool, mut shutdown: watch::Receiver<bool>) -> anyhow::Result<()> {
    let admin = match config.admin_listen {
        Some(address) => Some(admin::bind(address).await?),
        None => None,
    };
    let state = PortalState {
        db: db.clone(),
        public_url: config.public_url.clone(),
        site_dir: config.site_dir.clone(),
    };
    let node = Node::start(&config, db.clone(), portal::router(state)).await?;
    if let Some(listener) = admin {
        tracing::info!("metrics and health on http://{}", listener.local_addr()?);
        tokio::spawn(admin::serve(listener, node.probe()));
    }
    say(&format!("Toll serves {}", config.url_of(node.address)));
    match first_ops_link(&db, &config.public_url).await {
        Ok(Some(link)) => {
            say("Nobody has an account yet. This link makes the first operator, once, within 72 hours:");
            say(&link);
        }
        Ok(None) => {}
        // The gateway serves by now, and goes on.
        Err(error) => tracing::warn!(
            %error,
            "whether anybody has an account is not known; `toll users invite --role ops` makes one"
        ),
    }
    let _gone = shutdown.wait_for(|stop| *stop).await;
    node.stop().await
}

/// On standard output, whatever the log looks like; nobody has to be there to read it.
fn say(line: &str) {
    let _unread = writeln!(std::io::stdout(), "{line}");
}

async fn overdue(shutdown: &mut watch::Receiver<bool>) {
    let _gone = shutdown.wait_for(|stop| *stop).await;
    sleep(OVERDUE).await;
}

/// The first signal asks to end, the second does not ask.
fn on_signals() -> anyhow::Result<watch::Receiver<bool>> {
    let mut signals = Signals::catch()?;
    let (stop, shutdown) = watch::channel(false);
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("ending: finishing what is in flight, {} s at most", GRACE.as_secs());
        stop.send_replace(true);
        signals.next().await;
        tracing::warn!("ending at once");
        std::process::exit(130);
    });
    Ok(shutdown)
}

/// Each request in flight takes up to two files; the soft limit of 1024 is there for programs that use `select`.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}
