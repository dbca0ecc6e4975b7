//! A database's socket that goes away, or loses an answer after the statement was committed.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// A statement with a batch of records is larger than this, a heartbeat is not.
const LARGE: usize = 2_000;

pub struct Flaky {
    dir: tempfile::TempDir,
    url: String,
    away: watch::Sender<bool>,
    to_lose: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl Flaky {
    /// Stands before the database that `url` names.
    pub async fn before(url: &str) -> Flaky {
        let (start, rest) = url.split_once("host=").unwrap();
        let (host, rest) = rest.split_once('&').unwrap();
        let behind = Path::new(host).join(".s.PGSQL.5432");
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(".s.PGSQL.5432")).unwrap();
        let url = format!("{start}host={}&{rest}", dir.path().display());
        let away = watch::Sender::new(false);
        let (to_lose, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        tokio::spawn(accept(listener, behind, away.clone(), to_lose.clone(), lost.clone()));
        Flaky { dir, url, away, to_lose, lost }
    }

    pub async fn pool(&self) -> PgPool {
        assert!(self.dir.path().exists());
        PgPoolOptions::new().connect_with(PgConnectOptions::from_str(&self.url).unwrap()).await.unwrap()
    }

    pub fn lose_next_answer(&self) {
        self.to_lose.store(1, SeqCst);
    }

    pub fn answers_lost(&self) -> usize {
        self.lost.load(SeqCst)
    }

    /// Breaks all connections and takes no new ones.
    pub fn go_away(&self) {
        self.away.send_replace(true);
    }

    pub fn come_back(&self) {
        self.away.send_replace(false);
    }
}

async fn accept(
    listener: UnixListener,
    behind: PathBuf,
    away: watch::Sender<bool>,
    to_lose: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let mut gone = away.subscribe();
        if *gone.borrow() {
            continue;
        }
        let server = UnixStream::connect(&behind).await.unwrap();
        let (to_lose, lost) = (to_lose.clone(), lost.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = pass(client, server, &to_lose, &lost) => {}
                _ = gone.wait_for(|away| *away) => {}
            }
        });
    }
}

/// Copies both ways until one side ends, or until an answer is to be lost.
async fn pass(mut client: UnixStream, mut server: UnixStream, to_lose: &AtomicUsize, lost: &AtomicUsize) {
    let (mut up, mut down) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut losing = false;
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(n @ 1..) = read else { return };
                losing |= n > LARGE && to_lose.swap(0, SeqCst) > 0;
                if server.write_all(&up[..n]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(n @ 1..) = read else { return };
                if losing {
                    // The server answers a statement of its own transaction only once that is committed.
                    lost.fetch_add(1, SeqCst);
                    return;
                }
                if client.write_all(&down[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}
