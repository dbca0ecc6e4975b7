//! The private PostgreSQL: where no `DATABASE_URL` is given, Toll makes one under its data folder, starts it, keeps it
//! running and stops it again. It listens on a Unix socket in a folder that only its owner can enter, and on no port.
//!
//! One process owns the server (a lock tells who). Others use it while it runs, and an owner that is no `serve` waits for
//! them before it stops the server.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::data_dir::Lock;

mod account;
mod binaries;
mod cluster;
mod orphan;
mod place;
mod postmaster;
mod supervisor;

use place::Place;
use postmaster::Postmaster;

const DATABASE: &str = "toll";
/// How long to wait for another process to let go of the server, or to get it going.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error(
        "no PostgreSQL is installed (looked in PATH and /usr/lib/postgresql/*/bin): run `apt-get install postgresql`, or set DATABASE_URL"
    )]
    NoBinaries,
    #[error("{}: user {user} cannot run the PostgreSQL there: open the folder, or set DATABASE_URL", dir.display())]
    NotRunnable { dir: PathBuf, user: String },
    #[error(
        "{}: was made by PostgreSQL {major}, and {installed} is installed: install postgresql-{major} beside it, or move the data with pg_upgrade", cluster.display()
    )]
    OtherVersion { cluster: PathBuf, major: u32, installed: u32 },
    #[error(
        "PostgreSQL does not run as root, and there is no user postgres or nobody: add one, or set DATABASE_URL"
    )]
    NoAccount,
    #[error(
        "{}: {user}, as whom the private PostgreSQL runs, cannot reach it: open the folders above it (chmod o+x)", base.display()
    )]
    ShutOut { user: String, base: PathBuf },
    #[error("{}: names {}, which is missing: restore it, or remove the file to begin with an empty database", pointer.display(), base.display())]
    Moved { pointer: PathBuf, base: PathBuf },
    #[error("{}: {cause}: make it writable for who runs toll, or name another folder with --data-dir", path.display())]
    Folder { path: PathBuf, cause: io::Error },
    #[error("initdb failed: {detail}")]
    Initdb { detail: String },
    #[error("the private PostgreSQL ended ({status}): {detail}")]
    Ended { status: String, detail: String },
    #[error("the private PostgreSQL is held by {holder}, and does not come up: stop that first")]
    Held { holder: String },
    #[error(
        "the private PostgreSQL of {holder} takes connections and does not answer within {} s: it hangs or is overloaded, so \
         see {}, and restart {holder}", postmaster::PATIENCE.as_secs(), log.display()
    )]
    Silent { holder: String, log: PathBuf },
    #[error("the private PostgreSQL failed")]
    Database(#[from] sqlx::Error),
}

impl PostgresError {
    fn folder(path: &Path, cause: io::Error) -> PostgresError {
        PostgresError::Folder { path: path.to_owned(), cause }
    }
}

/// A server that this process owns, and stops in good order by [`PrivatePostgres::stop`].
pub struct PrivatePostgres {
    url: String,
    stop: oneshot::Sender<()>,
    supervisor: JoinHandle<()>,
    place: Place,
    socket_dir: PathBuf,
    _owner: Lock,
}

/// A server that another process owns, while that process keeps it for us.
pub struct Borrowed {
    url: String,
    holder: String,
    log: PathBuf,
    _user: Lock,
}

/// How one command comes to a database.
pub enum Lease {
    Owned(PrivatePostgres),
    Borrowed(Borrowed),
}

impl PrivatePostgres {
    /// Starts the server, or takes over one that a crash has left running. Waits for a command that owns it just now.
    pub async fn start(data_dir: &Path) -> Result<PrivatePostgres, PostgresError> {
        let place = Place::of(data_dir)?;
        let deadline = Instant::now() + PATIENCE;
        let mut told = false;
        loop {
            match own(&place, "toll serve")? {
                Ok(owner) => return PrivatePostgres::run(place, owner).await,
                Err(holder) if Instant::now() > deadline => return Err(PostgresError::Held { holder }),
                Err(holder) if !std::mem::replace(&mut told, true) => {
                    tracing::info!("waiting for {holder}, which uses the private PostgreSQL");
                }
                Err(_) => {}
            }
            sleep(BETWEEN_TRIES).await;
        }
    }

    async fn run(place: Place, owner: Lock) -> Result<PrivatePostgres, PostgresError> {
        cluster::ensure(&place).await?;
        let (mut postmaster, socket_dir) = match adopt(&place).await? {
            Some(adopted) => adopted,
            None => {
                let socket_dir = place.socket_dir()?;
                (Postmaster::spawn(&place, &socket_dir)?, socket_dir)
            }
        };
        let made = async {
            postmaster.ready(&url(&socket_dir, "postgres"), &place.log()).await?;
            ensure_database(&socket_dir).await
        };
        if let Err(error) = made.await {
            postmaster.stop().await;
            return Err(error);
        }
        let url = url(&socket_dir, DATABASE);
        let (stop, stopping) = oneshot::channel();
        let supervisor =
            tokio::spawn(supervisor::watch(place.clone(), socket_dir.clone(), postmaster, stopping));
        Ok(PrivatePostgres { url, stop, supervisor, place, socket_dir, _owner: owner })
    }

    /// As `DATABASE_URL` takes it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops the server in good order, whoever uses it.
    pub async fn stop(self) {
        self.stop_by(std::future::pending()).await;
    }

    /// The same, but once `deadline` returns without waiting for a checkpoint: the next start recovers.
    pub async fn stop_by(mut self, deadline: impl Future<Output = ()>) {
        let _gone = self.stop.send(());
        tokio::select! {
            ended = &mut self.supervisor => if let Err(error) = ended {
                tracing::error!(%error, "the supervisor of the private PostgreSQL failed");
            },
            () = deadline => {
                // Takes the server along.
                self.supervisor.abort();
                let _ended = (&mut self.supervisor).await;
            }
        }
        // The server has removed the socket; a folder that still holds something stays.
        let _kept = std::fs::remove_dir(&self.socket_dir);
    }

    /// Waits until no other command uses the server, and keeps new ones out, before it stops it.
    async fn stop_when_unused(self) -> Result<(), PostgresError> {
        let path = self.place.users_lock();
        let failed = |cause| PostgresError::folder(&path, cause);
        let _users = loop {
            match Lock::exclusive(&path, "a command that ends").map_err(failed)? {
                Ok(lock) => break lock,
                Err(_) => sleep(BETWEEN_TRIES).await,
            }
        };
        self.stop().await;
        Ok(())
    }
}

impl Lease {
    /// For a command: uses the server that runs, or starts it. `purpose` is what others are told of who owns it.
    pub async fn take(data_dir: &Path, purpose: &str) -> Result<Lease, PostgresError> {
        let place = Place::of(data_dir)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let holder = match own(&place, purpose)? {
                Ok(owner) => return PrivatePostgres::run(place, owner).await.map(Lease::Owned),
                Err(holder) => holder,
            };
            if let Some(borrowed) = borrow(&place, &holder).await? {
                return Ok(Lease::Borrowed(borrowed));
            }
            if Instant::now() > deadline {
                return Err(PostgresError::Held { holder });
            }
            sleep(BETWEEN_TRIES).await;
        }
    }

    pub fn url(&self) -> &str {
        match self {
            Lease::Owned(postgres) => postgres.url(),
            Lease::Borrowed(borrowed) => &borrowed.url,
        }
    }

    /// What is wrong when the server takes a connection and does not answer.
    pub fn silent(&self) -> PostgresError {
        let (holder, log) = match self {
            Lease::Owned(postgres) => ("this command".to_owned(), postgres.place.log()),
            Lease::Borrowed(borrowed) => (borrowed.holder.clone(), borrowed.log.clone()),
        };
        PostgresError::Silent { holder, log }
    }

    pub async fn end(self) -> Result<(), PostgresError> {
        match self {
            Lease::Owned(postgres) => postgres.stop_when_unused().await,
            Lease::Borrowed(_) => Ok(()),
        }
    }
}

fn own(place: &Place, purpose: &str) -> Result<Result<Lock, String>, PostgresError> {
    let path = place.owner_lock();
    Lock::exclusive(&path, purpose).map_err(|cause| PostgresError::folder(&path, cause))
}

/// Nothing while the server is starting or stopping.
async fn borrow(place: &Place, holder: &str) -> Result<Option<Borrowed>, PostgresError> {
    let path = place.users_lock();
    let lock = Lock::shared(&path).map_err(|cause| PostgresError::folder(&path, cause))?;
    let (Some(_user), Some(socket_dir)) = (lock, orphan::socket_dir(&place.cluster())) else {
        return Ok(None);
    };
    let url = url(&socket_dir, DATABASE);
    let (holder, log) = (holder.to_owned(), place.log());
    match postmaster::ask(&url).await {
        Ok(true) => Ok(Some(Borrowed { url, holder, log, _user })),
        Ok(false) => Ok(None),
        Err(_) => Err(PostgresError::Silent { holder, log }),
    }
}

/// Takes over an orphan that answers, and stops one that does not or that listens where it should not.
async fn adopt(place: &Place) -> Result<Option<(Postmaster, PathBuf)>, PostgresError> {
    let failed = |cause| PostgresError::folder(&place.cluster(), cause);
    let Some(orphan) = orphan::find(&place.cluster()).map_err(failed)? else { return Ok(None) };
    let Ok(mut postmaster) = Postmaster::adopt(orphan.pid) else { return Ok(None) };
    let pid = orphan.pid.as_raw_nonzero().get();
    if let Some(socket_dir) = orphan.socket_dir.filter(|_| orphan.is_private)
        && postmaster::answers(&url(&socket_dir, "postgres")).await
    {
        tracing::info!(pid, "taking over the private PostgreSQL of a former run");
        return Ok(Some((postmaster, socket_dir)));
    }
    tracing::warn!(pid, "stopping the private PostgreSQL of a former run: it does not answer");
    postmaster.stop().await;
    Ok(None)
}

async fn ensure_database(socket_dir: &Path) -> Result<(), PostgresError> {
    let mut connection = PgConnection::connect(&url(socket_dir, "postgres")).await?;
    let is_there: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(DATABASE)
        .fetch_one(&mut connection)
        .await?;
    if !is_there {
        sqlx::query(AssertSqlSafe(format!("create database {DATABASE}"))).execute(&mut connection).await?;
    }
    Ok(connection.close().await?)
}

/// The folder's name was chosen so that nothing in it needs escaping.
fn url(socket_dir: &Path, database: &str) -> String {
    format!("postgres:///{database}?host={}&user=postgres", socket_dir.display())
}
