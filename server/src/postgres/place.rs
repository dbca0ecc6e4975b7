//! Where the private PostgreSQL lives: its cluster, its socket, its log and the locks around them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::PostgresError;
use super::account::Account;
use super::binaries::Binaries;
use crate::data_dir;

/// In the data folder: names the place of a cluster that could not live there.
const POINTER: &str = "postgres-is-at";
const SYSTEM: &str = "/var/lib/toll";
/// A socket's path must fit in 107 bytes, and this is what PostgreSQL puts behind its folder.
const LONGEST_FOLDER: usize = 107 - "/.s.PGSQL.5432".len();
const LOG_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug)]
pub struct Place {
    /// The data folder, or one in a system place if the server's user cannot reach that.
    base: PathBuf,
    pub account: Option<Account>,
    /// Of the version that made the cluster, else the newest.
    pub binaries: Binaries,
}

impl Place {
    /// Makes the folders that are missing, but no cluster.
    pub fn of(data_dir: &Path) -> Result<Place, PostgresError> {
        let unusable = |cause| PostgresError::folder(data_dir, cause);
        data_dir::create(data_dir).map_err(unusable)?;
        let home = data_dir.canonicalize().map_err(unusable)?;
        let pointer = home.join(POINTER);
        let pointed = fs::read_to_string(&pointer).ok().map(|text| PathBuf::from(text.trim()));
        if let Some(base) = pointed.as_ref().filter(|base| !base.is_dir()) {
            return Err(PostgresError::Moved { pointer, base: base.clone() });
        }
        let mut base = pointed.clone().unwrap_or_else(|| home.clone());
        let account = Account::choose(&base.join("postgres"))?;
        let installed = Binaries::installed(account.as_ref())?;
        let binaries = Binaries::pick(&installed, made_by(&base.join("postgres")), &base)?;
        if let Some(user) = account.as_ref().filter(|user| !reaches(user, &binaries, &base)) {
            if base.join("postgres").exists() {
                return Err(PostgresError::ShutOut { user: user.name.clone(), base });
            }
            base = Path::new(SYSTEM).join(short_hash(&home));
            fs::create_dir_all(SYSTEM).map_err(|cause| PostgresError::folder(Path::new(SYSTEM), cause))?;
            data_dir::create(&base).map_err(|cause| PostgresError::folder(&base, cause))?;
            fs::write(&pointer, format!("{}\n", base.display())).map_err(unusable)?;
            tracing::warn!(
                "user {} cannot reach {}: the private PostgreSQL lives in {}",
                user.name,
                home.display(),
                base.display()
            );
        }
        Ok(Place { base, account, binaries })
    }

    pub fn cluster(&self) -> PathBuf {
        self.base.join("postgres")
    }

    /// A cluster while it is being made.
    pub fn draft(&self) -> PathBuf {
        self.base.join("postgres.new")
    }

    /// Who holds it starts and stops the server.
    pub fn owner_lock(&self) -> PathBuf {
        self.base.join("postgres.lock")
    }

    /// Shared by those who use a server that another process owns.
    pub fn users_lock(&self) -> PathBuf {
        self.base.join("postgres.users")
    }

    pub fn log(&self) -> PathBuf {
        self.base.join("postgres.log")
    }

    pub fn made_by(&self) -> Option<u32> {
        made_by(&self.cluster())
    }

    /// For the server's output; one former log is kept.
    pub fn open_log(&self) -> io::Result<File> {
        let path = self.log();
        if fs::metadata(&path).is_ok_and(|log| log.len() > LOG_BYTES) {
            fs::rename(&path, self.base.join("postgres.log.1"))?;
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(path)
    }

    /// A folder for the socket that only the server's user can enter.
    pub fn socket_dir(&self) -> Result<PathBuf, PostgresError> {
        let dir = self.socket_dir_name();
        private_dir(&dir, self.account.as_ref()).map_err(|cause| PostgresError::folder(&dir, cause))?;
        Ok(dir)
    }

    /// Short enough for a socket, and without a character that a list of folders or a URL would take for its own.
    fn socket_dir_name(&self) -> PathBuf {
        let near = self.base.join("socket");
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"/._-".contains(&c);
        let text = near.as_os_str().as_encoded_bytes();
        if text.len() <= LONGEST_FOLDER && text.iter().copied().all(plain) {
            return near;
        }
        let root = self.account.is_some() && Path::new("/run").is_dir();
        Path::new(if root { "/run" } else { "/tmp" }).join(format!("toll-{}", short_hash(&self.base)))
    }
}

/// The major version that made a cluster; `None` where there is none.
fn made_by(cluster: &Path) -> Option<u32> {
    fs::read_to_string(cluster.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// Tried rather than computed from mode bits: access lists and mounts have their say.
fn reaches(user: &Account, binaries: &Binaries, dir: &Path) -> bool {
    let mut command = Command::new(binaries.program("postgres"));
    Account::apply(Some(user), command.arg("--version").current_dir(dir));
    command.output().is_ok_and(|output| output.status.success())
}

/// Makes a folder of mode 0700 for the server's user. One that is there must be just that: `/tmp` is everybody's.
fn private_dir(dir: &Path, account: Option<&Account>) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => return Account::own(account, dir),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    let found = fs::symlink_metadata(dir)?;
    let owner = account.map_or_else(|| rustix::process::geteuid().as_raw(), |account| account.uid);
    if found.is_dir() && found.uid() == owner && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other("it is there, but is no private folder of the server's user"))
}

fn short_hash(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(base: &str) -> PathBuf {
        let binaries = Binaries::installed(None).expect("a PostgreSQL is installed").remove(0);
        Place { base: base.into(), account: None, binaries }.socket_dir_name()
    }

    #[test]
    fn the_socket_lives_near_unless_its_path_is_too_long_or_too_odd() {
        assert_eq!(at("/srv/toll"), Path::new("/srv/toll/socket"));
        let deep = format!("/srv/{}", "x".repeat(81));
        assert_eq!(at(&deep).as_os_str().len(), LONGEST_FOLDER);
        for odd in [format!("{deep}x"), "/srv/a,b".to_owned(), "/srv/a b".to_owned(), "/srv/ü".to_owned()] {
            let dir = at(&odd);
            assert!(dir.starts_with("/tmp") && dir.as_os_str().len() < 40, "{}", dir.display());
            assert_ne!(dir, at("/srv/another,one"));
        }
    }

    #[test]
    fn a_socket_folder_that_others_can_enter_or_a_link_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let home = tempfile::tempdir().expect("a folder");
        let dir = home.path().join("socket");
        private_dir(&dir, None).expect("made");
        private_dir(&dir, None).expect("found");
        let link = home.path().join("link");
        symlink(&dir, &link).expect("a link");
        private_dir(&link, None).expect_err("a link");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("ours");
        private_dir(&dir, None).expect_err("open to others");
    }
}
