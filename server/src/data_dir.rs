//! The data folder and its locks: one `serve` a folder, and whoever comes second learns who holds it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    #[error("{}: cannot be used as data folder ({cause}): make it writable, or name another with --data-dir", dir.display())]
    Unusable { dir: PathBuf, cause: io::Error },
    #[error("{}: in use by {holder}: stop that first, or name another folder with --data-dir", dir.display())]
    InUse { dir: PathBuf, holder: String },
}

/// An flock on a file: gone when this is dropped, and when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the folder for one `serve`, and makes it where it is missing.
pub fn claim(dir: &Path) -> Result<Lock, DataDirError> {
    let unusable = |cause| DataDirError::Unusable { dir: dir.to_owned(), cause };
    create(dir).map_err(unusable)?;
    match Lock::exclusive(&dir.join("serve.lock"), "toll serve").map_err(unusable)? {
        Ok(lock) => Ok(lock),
        Err(holder) => Err(DataDirError::InUse { dir: dir.to_owned(), holder }),
    }
}

/// Others may pass through a folder of root's, since its PostgreSQL runs as another user, but not list it.
pub fn create(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    match DirBuilder::new().mode(mode).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => made,
    }
}

impl Lock {
    /// The lock, or who holds it. `purpose` is what others are told.
    pub fn exclusive(path: &Path, purpose: &str) -> io::Result<Result<Lock, String>> {
        let mut file = open(path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                writeln!(file, "{purpose}, process {}", std::process::id())?;
                Ok(Ok(Lock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                let holder = holder.trim();
                Ok(Err(if holder.is_empty() { "another process" } else { holder }.to_owned()))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// A lock that others may share; `None` while somebody has it exclusively.
    pub fn shared(path: &Path) -> io::Result<Option<Lock>> {
        let file = open(path)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_claim_is_refused_and_names_the_holder_until_the_first_is_dropped() {
        let home = tempfile::tempdir().expect("a folder");
        let dir = home.path().join("some/data");
        let first = claim(&dir).expect("free");
        let refused = claim(&dir).expect_err("taken").to_string();
        let expected = format!("in use by toll serve, process {}", std::process::id());
        assert!(refused.contains(&expected) && refused.contains("some/data"), "{refused}");
        drop(first);
        claim(&dir).expect("free again");
    }

    #[test]
    fn readers_share_a_lock_and_keep_a_writer_out() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("users");
        let shared = (Lock::shared(&path).expect("a file"), Lock::shared(&path).expect("a file"));
        assert!(shared.0.is_some() && shared.1.is_some());
        assert!(Lock::exclusive(&path, "test").expect("a file").is_err());
        drop(shared);
        let _writer = Lock::exclusive(&path, "test").expect("a file").expect("free");
        assert!(Lock::shared(&path).expect("a file").is_none());
    }
}
