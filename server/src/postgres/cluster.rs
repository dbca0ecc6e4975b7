//! Making the cluster, once.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Command, Stdio};

use super::PostgresError;
use super::account::Account;
use super::place::Place;

/// Appended to what `initdb` writes, and then the operator's to change. What keeps the server private is given on its
/// command line instead.
const SETTINGS: &str = "
# Toll's choices; change them as you like.
max_connections = 200
shared_buffers = 128MB
max_wal_size = 2GB
checkpoint_timeout = 15min
random_page_cost = 1.1
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = warning
log_checkpoints = off
";

/// Makes a cluster where there is none. It gets its name when it is whole, so that a crash leaves no half of one.
pub async fn ensure(place: &Place) -> Result<(), PostgresError> {
    if place.made_by().is_some() {
        return Ok(());
    }
    let draft = place.draft();
    let unusable = |cause| PostgresError::folder(&draft, cause);
    match fs::remove_dir_all(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unusable(error)),
        _ => DirBuilder::new().mode(0o700).create(&draft).map_err(unusable)?,
    }
    Account::own(place.account.as_ref(), &draft).map_err(unusable)?;
    tracing::info!(
        version = place.binaries.major,
        "making a private PostgreSQL in {}",
        place.cluster().display()
    );

    let mut command = Command::new(place.binaries.program("initdb"));
    command
        .args(["--username=postgres", "--encoding=UTF8", "--locale=C", "--data-checksums"])
        // Who can enter the socket's folder is the owner; nobody else comes in by any other way.
        .args(["--auth-local=trust", "--auth-host=reject"])
        .arg("--pgdata")
        .arg(&draft)
        .current_dir("/")
        .stdin(Stdio::null());
    super::postmaster::clear_environment(&mut command);
    Account::apply(place.account.as_ref(), &mut command);
    let output =
        tokio::process::Command::from(command).kill_on_drop(true).output().await.map_err(unusable)?;
    if !output.status.success() {
        let detail = String::from_utf8_lossy(&output.stderr);
        let is_cause = |line: &&str| ["error", "FATAL", "PANIC"].iter().any(|word| line.contains(word));
        let line = detail.lines().find(is_cause).or(detail.lines().last());
        return Err(PostgresError::Initdb { detail: line.unwrap_or("it said nothing").to_owned() });
    }
    let append = || -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(draft.join("postgresql.conf"))?;
        file.write_all(SETTINGS.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, place.cluster())
    };
    append().map_err(unusable)
}
