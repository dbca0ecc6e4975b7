//! A running server: started by this process, or found running.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};
use sqlx::{Connection, PgConnection};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};

use super::PostgresError;
use super::account::Account;
use super::place::Place;

/// How long an answer may take.
pub const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

pub struct Postmaster {
    pub pid: Pid,
    process: Process,
}

enum Process {
    Child(tokio::process::Child),
    /// Readable once the process has ended. Not our child: only this tells.
    Adopted(AsyncFd<OwnedFd>),
}

impl Postmaster {
    /// In a process group of its own, so that Ctrl-C reaches Toll alone, which stops the server when the books are shut.
    pub fn spawn(place: &Place, socket_dir: &Path) -> Result<Postmaster, PostgresError> {
        let failed = |cause| PostgresError::folder(&place.cluster(), cause);
        let log = place.open_log().map_err(failed)?;
        let mut command = Command::new(place.binaries.program("postgres"));
        command
            .arg("-D")
            .arg(place.cluster())
            .arg("-p5432")
            .arg("-k")
            .arg(socket_dir)
            .args(["-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"])
            .args(["-c", "logging_collector=off", "-c", "log_destination=stderr"])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0);
        clear_environment(&mut command);
        Account::apply(place.account.as_ref(), &mut command);
        let child = tokio::process::Command::from(command).spawn().map_err(failed)?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or_else(|| failed(io::Error::other("the server ended at once")))?;
        Ok(Postmaster { pid, process: Process::Child(child) })
    }

    /// Takes over a server that is no child of ours. Fails where it has ended.
    pub fn adopt(pid: Pid) -> io::Result<Postmaster> {
        let fd = rustix::process::pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        // SAFETY: an `OwnedFd` names one open file for as long as it lives, and lives as long as this.
        let fd = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?;
        Ok(Postmaster { pid, process: Process::Adopted(fd) })
    }

    /// Returns when the server has ended; may be dropped and called again.
    pub async fn ended(&mut self) -> String {
        match &mut self.process {
            Process::Child(child) => match child.wait().await {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            },
            Process::Adopted(fd) => {
                let _readable = fd.readable().await;
                "it was found running".to_owned()
            }
        }
    }

    /// Returns when the server answers. Recovery after a crash takes as long as it takes.
    pub async fn ready(&mut self, url: &str, log: &Path) -> Result<(), PostgresError> {
        let mut notice = Instant::now() + Duration::from_secs(10);
        loop {
            tokio::select! {
                status = self.ended() => {
                    return Err(PostgresError::Ended { status, detail: last_words(log) });
                }
                answered = answers(url) => if answered { return Ok(()) },
            }
            if Instant::now() > notice {
                tracing::warn!("still waiting for the private PostgreSQL; see {}", log.display());
                notice += Duration::from_secs(10);
            }
            sleep(BETWEEN_TRIES).await;
        }
    }

    /// Ends sessions and writes a checkpoint; harder means follow if that takes over 30 s.
    pub async fn stop(&mut self) {
        for (signal, patience) in [(Signal::INT, 30), (Signal::QUIT, 5), (Signal::KILL, 5)] {
            if self.signal(signal).is_err() {
                return;
            }
            if timeout(Duration::from_secs(patience), self.ended()).await.is_ok() {
                return;
            }
            tracing::warn!(
                pid = self.pid.as_raw_nonzero().get(),
                "the private PostgreSQL does not heed {signal:?}"
            );
        }
    }

    /// Never reaches another process that has got the same number: a child's is ours until it is waited for.
    fn signal(&self, signal: Signal) -> io::Result<()> {
        match &self.process {
            Process::Child(child) if child.id().is_none() => Err(io::ErrorKind::NotFound.into()),
            Process::Child(_) => Ok(rustix::process::kill_process(self.pid, signal)?),
            Process::Adopted(fd) => Ok(rustix::process::pidfd_send_signal(fd.get_ref(), signal)?),
        }
    }
}

/// However the process comes away from it, no server is left behind that nobody looks after: it ends at once, and recovers
/// at the next start.
impl Drop for Postmaster {
    fn drop(&mut self) {
        let Ok(process) = rustix::process::pidfd_open(self.pid, PidfdFlags::empty()) else { return };
        for (signal, patience_s) in [(Signal::QUIT, 5), (Signal::KILL, 5)] {
            let patience = Timespec { tv_sec: patience_s, tv_nsec: 0 };
            let mut ends = [PollFd::new(&process, PollFlags::IN)];
            if self.signal(signal).is_err() || poll(&mut ends, Some(&patience)).is_ok_and(|ended| ended > 0) {
                return;
            }
        }
    }
}

/// One try: whether the server at `url` takes connections now.
pub async fn answers(url: &str) -> bool {
    ask(url).await.unwrap_or(false)
}

/// The same; one that hangs says neither yes nor no.
pub async fn ask(url: &str) -> Result<bool, Elapsed> {
    let session = async { PgConnection::connect(url).await?.close().await };
    Ok(timeout(PATIENCE, session).await?.is_ok())
}

/// The server needs nothing of Toll's environment, which holds the upstreams' secrets.
pub fn clear_environment(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
}

fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(4096)..]).into_owned();
    let fatal = text.lines().rev().find(|line| line.contains("FATAL") || line.contains("PANIC"));
    fatal.or(text.lines().last()).unwrap_or("it said nothing").trim().to_owned()
}
