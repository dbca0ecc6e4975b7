//! Telling every node that something changed: how a change writes it, and how a listener reads it.

use std::fmt;
use std::str::FromStr;

use sqlx::PgConnection;

/// The channel that all nodes listen on.
pub const CHANNEL: &str = "toll";

/// What changed. Its text is the payload of the notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// An upstream, plan, route or partner: `catalog`.
    Catalog,
    /// A key was made, revoked, renamed or rotated: `key` and the SHA-256 of its text in hex.
    Key([u8; 32]),
    /// A breaker changed its state: `breaker` and the upstream's id.
    Breaker(i64),
    /// There is something to forget: `purge`.
    Purge,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no notice of a change")]
pub struct NotANotice(String);

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Catalog => f.write_str("catalog"),
            Change::Key(hash) => {
                f.write_str("key ")?;
                hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Change::Breaker(upstream) => write!(f, "breaker {upstream}"),
            Change::Purge => f.write_str("purge"),
        }
    }
}

impl FromStr for Change {
    type Err = NotANotice;

    fn from_str(payload: &str) -> Result<Change, NotANotice> {
        let read = match payload.split_once(' ') {
            None if payload == "catalog" => Some(Change::Catalog),
            None if payload == "purge" => Some(Change::Purge),
            Some(("key", hash)) => unhex(hash).map(Change::Key),
            Some(("breaker", upstream)) => upstream.parse().ok().map(Change::Breaker),
            _ => None,
        };
        read.ok_or_else(|| NotANotice(payload.to_owned()))
    }
}

/// Announces `change` in the caller's transaction: nodes hear of it when that commits, and never if it does not.
///
/// Call it last: it takes the one row of `catalog_version`, so whoever locks anything after it can deadlock with another
/// change. Breakers leave the version alone, for they are read afresh anyway, and purges have a number of their own.
pub async fn announce(conn: &mut PgConnection, change: Change) -> sqlx::Result<()> {
    if !matches!(change, Change::Breaker(_) | Change::Purge) {
        sqlx::query("update catalog_version set version = version + 1").execute(&mut *conn).await?;
    }
    // A statement of its own: a distributed engine refuses to select it from a modifying one.
    sqlx::query("select pg_notify($1, $2)")
        .bind(CHANNEL)
        .bind(change.to_string())
        .execute(&mut *conn)
        .await?;
    Ok(())
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn payloads_read_as_agreed() {
        assert_eq!(Change::Catalog.to_string(), "catalog");
        assert_eq!(Change::Key([0xab; 32]).to_string(), format!("key {}", "ab".repeat(32)));
        assert_eq!(Change::Breaker(7).to_string(), "breaker 7");
        assert_eq!(Change::Purge.to_string(), "purge");
    }

    #[test]
    fn what_is_no_notice_is_refused() {
        let signs = format!("key {}", "+1".repeat(32));
        let split = format!("key a{}b", "é".repeat(31));
        for payload in ["", "catalog ", "Catalog", "key", "key ab", &signs, &split, "breaker", "breaker x"] {
            assert!(payload.parse::<Change>().is_err(), "{payload:?}");
        }
    }

    proptest! {
        #[test]
        fn every_notice_is_read_as_it_was_written(hash: [u8; 32], upstream: i64) {
            for change in [Change::Catalog, Change::Key(hash), Change::Breaker(upstream), Change::Purge] {
                prop_assert_eq!(change.to_string().parse(), Ok(change));
            }
        }
    }
}
