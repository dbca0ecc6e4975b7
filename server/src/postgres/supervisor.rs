//! Keeps the private server running until it is told to stop it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::PostgresError;
use super::orphan;
use super::place::Place;
use super::postmaster::Postmaster;
use super::url;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);
/// A server that ran this long was well: the next restart comes without delay.
const WELL: Duration = Duration::from_secs(60);

/// Restarts a server that dies, with growing pauses. Ends when `stop` is sent or dropped, and the server with it.
pub async fn watch(
    place: Place,
    socket_dir: PathBuf,
    mut postmaster: Postmaster,
    mut stop: oneshot::Receiver<()>,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        tokio::select! {
            _ = &mut stop => break postmaster.stop().await,
            status = postmaster.ended() => {
                tracing::error!(status, "the private PostgreSQL died and is started again; see {}", place.log().display());
            }
            // Told by somebody else, it would wait for our own sessions to end, and take no new ones.
            () = told_to_leave(url(&socket_dir, "postgres")) => {
                tracing::error!("the private PostgreSQL was told to stop, and is started again");
                postmaster.stop().await;
            }
        }
        if started.elapsed() > WELL {
            pause = FIRST_PAUSE;
        }
        postmaster = loop {
            tokio::select! {
                _ = &mut stop => return,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
            match restart(&place, &socket_dir) {
                Ok(restarted) => break restarted,
                Err(error) => tracing::error!(%error, "the private PostgreSQL cannot be started again"),
            }
        };
        let (server, log) = (url(&socket_dir, "postgres"), place.log());
        tokio::select! {
            _ = &mut stop => break postmaster.stop().await,
            // One that ends again while it starts is seen at the head of the loop, and so is one that was told to.
            back = postmaster.ready(&server, &log) => {
                if back.is_ok() {
                    tracing::info!("the private PostgreSQL is back");
                }
            }
            () = told_to_leave(server.clone()) => postmaster.stop().await,
        }
    }
}

/// Returns when the server takes no more connections because it is shutting down.
async fn told_to_leave(url: String) {
    loop {
        sleep(BETWEEN_LOOKS).await;
        if let Err(sqlx::Error::Database(refusal)) = PgConnection::connect(&url).await
            && refusal.message().contains("shutting down")
        {
            return;
        }
    }
}

fn restart(place: &Place, socket_dir: &Path) -> Result<Postmaster, PostgresError> {
    // For what it clears away.
    orphan::find(&place.cluster()).map_err(|cause| PostgresError::folder(&place.cluster(), cause))?;
    Postmaster::spawn(place, socket_dir)
}
