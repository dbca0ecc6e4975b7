//! Finding an installed PostgreSQL: in `PATH` and where Debian puts it, newest first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::PostgresError;
use super::account::Account;

const DEBIAN: &str = "/usr/lib/postgresql";

/// A folder with `postgres` and `initdb` of one version. Ordered by version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binaries {
    pub major: u32,
    minor: u32,
    dir: PathBuf,
}

impl Binaries {
    /// Those that `account` can run, newest first; at least one.
    pub fn installed(account: Option<&Account>) -> Result<Vec<Binaries>, PostgresError> {
        let candidates = candidates();
        let mut found: Vec<Binaries> =
            candidates.iter().filter_map(|dir| Binaries::at(dir.clone(), account)).collect();
        found.sort();
        found.reverse();
        match (candidates.into_iter().next(), account) {
            _ if !found.is_empty() => Ok(found),
            (Some(dir), Some(account)) => Err(PostgresError::NotRunnable { dir, user: account.name.clone() }),
            _ => Err(PostgresError::NoBinaries),
        }
    }

    /// The newest, or the newest of the major version that made the cluster at `place`.
    pub fn pick(
        installed: &[Binaries],
        made_by: Option<u32>,
        place: &Path,
    ) -> Result<Binaries, PostgresError> {
        let newest = installed.first().ok_or(PostgresError::NoBinaries)?;
        let Some(major) = made_by else { return Ok(newest.clone()) };
        let matching = installed.iter().find(|binaries| binaries.major == major);
        matching.cloned().ok_or_else(|| PostgresError::OtherVersion {
            cluster: place.to_owned(),
            major,
            installed: newest.major,
        })
    }

    fn at(dir: PathBuf, account: Option<&Account>) -> Option<Binaries> {
        let mut command = Command::new(dir.join("postgres"));
        Account::apply(account, command.arg("--version").current_dir("/"));
        let output = command.output().ok()?;
        let (major, minor) = version(&String::from_utf8_lossy(&output.stdout))?;
        dir.join("initdb").exists().then_some(Binaries { major, minor, dir })
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// Symbolic links are followed, so that a version that is found twice counts once.
fn candidates() -> BTreeSet<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let debian = versions.map(|entry| entry.path().join("bin"));
    std::env::split_paths(&path)
        .chain(debian)
        .filter_map(|dir| dir.join("postgres").canonicalize().ok())
        .filter_map(|program| program.parent().map(Path::to_owned))
        .collect()
}

/// Reads `postgres (PostgreSQL) 15.13 (Debian …)`; a wrapper that prints anything else is none.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.strip_prefix("postgres (PostgreSQL) ")?;
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    let major = digits(number)?;
    // A beta has none.
    let minor = number.split_once('.').and_then(|(_, minor)| digits(minor));
    Some((major, minor.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_real_binary_prints() {
        assert_eq!(version("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some((15, 13)));
        assert_eq!(version("postgres (PostgreSQL) 18beta1\n"), Some((18, 0)));
        assert_eq!(version("Error: You must install at least one postgresql-client package\n"), None);
    }

    #[test]
    fn the_newest_is_taken_unless_the_cluster_asks_for_another() {
        let of = |major, minor| Binaries { major, minor, dir: PathBuf::from(format!("/pg/{major}.{minor}")) };
        let installed = [of(17, 2), of(15, 13), of(15, 2)];
        let pick = |major| Binaries::pick(&installed, major, Path::new("/data/postgres"));
        assert_eq!(pick(None).expect("some"), of(17, 2));
        assert_eq!(pick(Some(15)).expect("some"), of(15, 13));
        let error = pick(Some(14)).expect_err("none").to_string();
        assert!(error.contains("/data/postgres") && error.contains("postgresql-14"), "{error}");
        let none = Binaries::pick(&[], None, Path::new("/")).expect_err("none").to_string();
        assert!(none.contains("apt-get install postgresql"), "{none}");
    }
}
