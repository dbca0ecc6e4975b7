//! `toll serve`: gateway and portal, with a database to stand on, until a signal ends it.

use std::future::Future;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use app::people::first_ops_link;
use rustix::process::{Resource, getrlimit, setrlimit};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::database::{self, Unreached};
use super::migrate;
use super::signals::{Ending, Signals, until};
use crate::config::Config;
use crate::config::flags::AllFlags;
use crate::data_dir;
use crate::listener::GRACE;
use crate::node::Node;
use crate::portal::{self, PortalState};
use crate::postgres::PrivatePostgres;
use crate::sockets::Sockets;
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
/// Fewer open files are told of: what distributions give as a soft limit.
const ENOUGH_FILES: u64 = 1024;
/// Exit code after a second signal.
const AT_ONCE: u8 = 130;
/// A database that starts at the same time as Toll is waited for this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first operator's link is waited for this long.
const LINK: Duration = Duration::from_secs(5);
const FIRST_OPERATOR: &str =
    "Nobody has an account yet. This link makes the first operator, once, within 72 hours:";
/// Work behind the gateway shares them.
const CONNECTIONS: u32 = 24;
/// However many look at screens, the gateway keeps its own.
const CONNECTIONS_OF_SCREENS: u32 = 8;

pub fn run(config: Config) -> anyhow::Result<ExitCode> {
    raise_open_files();
    // Before the sockets if it is there: who has the port is, most often, who serves from the folder.
    let folder = config.data_dir.is_dir().then(|| data_dir::claim(&config.data_dir)).transpose()?;
    let sockets = Sockets::bind(&config)?;
    let _folder = match folder {
        Some(folder) => folder,
        None => data_dir::claim(&config.data_dir)?,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().thread_name("toll-portal").enable_all().build()?;
    let code = runtime.block_on(async { serve(config, sockets, on_signals()?).await });
    // What still runs has had its time.
    runtime.shutdown_background();
    code
}

async fn serve(
    config: Config,
    sockets: Sockets,
    ending: watch::Receiver<Ending>,
) -> anyhow::Result<ExitCode> {
    let private = match &config.database_url {
        Some(_) => None,
        None => tokio::select! {
            started = PrivatePostgres::start(&config.data_dir) => Some(started?),
            () = until(ending.clone(), Ending::InOrder) => return Ok(ExitCode::SUCCESS),
        },
    };
    let url =
        private.as_ref().map(PrivatePostgres::url).or(config.database_url.as_deref()).unwrap_or_default();
    let served = tokio::select! {
        served = with_database(&config, sockets, url, ending.clone()) => served,
        () = overdue(ending.clone()) => Err(anyhow::anyhow!("what was in flight did not end within {OVERDUE:?}")),
        () = until(ending.clone(), Ending::AtOnce) => Ok(()),
    };
    if let Some(postgres) = private {
        postgres.stop_by(until(ending.clone(), Ending::AtOnce)).await;
    }
    let in_order = *ending.borrow() < Ending::AtOnce;
    served.map(|()| if in_order { ExitCode::SUCCESS } else { ExitCode::from(AT_ONCE) })
}

async fn with_database(
    config: &Config,
    sockets: Sockets,
    url: &str,
    ending: watch::Receiver<Ending>,
) -> anyhow::Result<()> {
    let opened = async {
        let db = reach(url).await?;
        migrate::ensure(&db).await?;
        anyhow::Ok(db)
    };
    let db = tokio::select! {
        db = opened => db?,
        () = until(ending.clone(), Ending::InOrder) => return Ok(()),
    };
    let screens = database::for_screens(url, CONNECTIONS_OF_SCREENS)?;
    let done =
        node(config.clone(), sockets, db.clone(), screens.clone(), until(ending, Ending::InOrder)).await;
    // Connections that hang are the server's to end.
    let _late = timeout(Duration::from_secs(2), async { tokio::join!(db.close(), screens.close()) }).await;
    done
}

/// Tries again while the database is starting, or is not yet the primary. What waiting does not mend is told at once.
async fn reach(url: &str) -> Result<PgPool, Unreached> {
    let deadline = Instant::now() + PATIENCE;
    let mut said = String::new();
    loop {
        match database::connect_to_primary(url, CONNECTIONS).await {
            Err(error) if error.may_pass() && Instant::now() < deadline => {
                let why = error.to_string();
                if why != said {
                    tracing::warn!(why, "waiting for the database");
                    said = why;
                }
            }
            done => return done,
        }
        sleep(Duration::from_secs(1)).await;
    }
}

async fn node(
    config: Config,
    mut sockets: Sockets,
    db: PgPool,
    screens: PgPool,
    ending: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let admin = sockets.admin.take();
    let state =
        PortalState { db: screens, public_url: config.public_url(), site_dir: config.site_dir.clone() };
    let node = Node::start(&config, sockets, db.clone(), portal::router(state)).await?;
    if let Some(bound) = admin {
        tracing::info!("metrics and health on http://{}", bound.address);
        tokio::spawn(admin::serve(bound, node.probe()));
    }
    // In one piece: who waits for the first line has the link too.
    let serves = format!("Toll serves {}", config.url_of(node.address));
    match timeout(LINK, first_ops_link(&db, &config.public_url()))
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
    {
        Ok(Some(link)) => say(&format!("{serves}\n{FIRST_OPERATOR}\n{link}")),
        Ok(None) => say(&serves),
        // The gateway serves by now, and goes on.
        Err(error) => {
            say(&serves);
            tracing::warn!(
                %error,
                "whether anybody has an account is not known; `toll users invite --role ops` makes one"
            );
        }
    }
    ending.await;
    node.stop().await
}

/// On standard output and at once, whatever the log looks like; nobody has to be there to read it.
fn say(text: &str) {
    let _unread = std::io::stdout().write_all(format!("{text}\n").as_bytes());
}

async fn overdue(ending: watch::Receiver<Ending>) {
    until(ending, Ending::InOrder).await;
    sleep(OVERDUE).await;
}

/// The first signal asks to end in good order, the second to do without what that waits for.
fn on_signals() -> anyhow::Result<watch::Receiver<Ending>> {
    let mut signals = Signals::catch()?;
    let (ending, told) = watch::channel(Ending::NotYet);
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("ending: finishing what is in flight, {} s at most", GRACE.as_secs());
        ending.send_replace(Ending::InOrder);
        signals.next().await;
        tracing::warn!("ending at once");
        ending.send_replace(Ending::AtOnce);
    });
    Ok(told)
}

/// Each request in flight takes up to two files; the soft limit of 1024 is there for programs that use `select`.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Some(few) = limit.maximum.filter(|files| *files < ENOUGH_FILES) {
        tracing::warn!(
            files = few,
            "few files may be open, and each request takes up to two: raise the limit (ulimit -n, LimitNOFILE=)"
        );
    }
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}
