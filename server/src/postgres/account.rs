//! The user that the private PostgreSQL runs as: it refuses to run as root.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use super::PostgresError;

/// Tried in this order where Toll runs as root.
const NAMES: [&str; 2] = ["postgres", "nobody"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// `None`: the server runs as who runs Toll. A cluster that is there keeps its owner.
    pub fn choose(cluster: &Path) -> Result<Option<Account>, PostgresError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        if let Ok(owner) = fs::metadata(cluster)
            && owner.uid() != 0
        {
            let name = format!("user {}", owner.uid());
            return Ok(Some(Account { name, uid: owner.uid(), gid: owner.gid() }));
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let account = NAMES.iter().find_map(|name| named(&passwd, name));
        account.map(Some).ok_or(PostgresError::NoAccount)
    }

    /// Hands a file or folder over.
    pub fn own(account: Option<&Account>, path: &Path) -> io::Result<()> {
        account.map_or(Ok(()), |account| chown(path, Some(account.uid), Some(account.gid)))
    }

    /// Has `command` run as this user, without any of root's groups.
    pub fn apply(account: Option<&Account>, command: &mut std::process::Command) {
        if let Some(account) = account {
            command.uid(account.uid).gid(account.gid);
        }
    }
}

fn named(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        (uid != 0).then(|| Account { name: name.to_owned(), uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name_and_is_never_root() {
        let passwd = "root:x:0:0::/root:/bin/sh\nnobody2:x:7:7::/:/bin/sh\nnobody:x:65534:65533:n:/:/no\n";
        let nobody = Account { name: "nobody".to_owned(), uid: 65534, gid: 65533 };
        assert_eq!(named(passwd, "nobody"), Some(nobody));
        assert_eq!(named(passwd, "postgres"), None);
        assert_eq!(named(passwd, "root"), None);
    }
}
