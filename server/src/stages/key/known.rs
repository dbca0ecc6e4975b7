//! Keys that this node has met: hash → key, bounded, dropped at once when the database says so.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::sync::Cache;
use sha2::{Digest, Sha256};
use sqlx::{PgPool, Row};
use time::OffsetDateTime;

use crate::clock::Micros;
use crate::store::{Away, Store};

/// SHA-256 of a whole key: all that is ever compared or kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

/// A key and what is true of its partner.
#[derive(Debug)]
pub struct KnownKey {
    pub id: i64,
    pub partner: i64,
    pub plan: i64,
    pub partner_slug: String,
    pub suspended: bool,
    /// Names of routes that the key is limited to; `None`: all of the plan's.
    pub routes: Option<HashSet<String>>,
    pub expires_at: Option<Micros>,
    /// Perhaps in the future: a rotated key is honoured until then.
    pub revoked_at: Option<Micros>,
}

/// Known keys apart from unknown ones, so that a flood of invented keys pushes out no real one.
pub struct KnownKeys {
    known: Cache<KeyHash, Kept>,
    unknown: Cache<KeyHash, ()>,
    /// Counted up by each notice of a key: an answer that was asked for before it is not kept.
    notices: AtomicU64,
    /// Counted up when anything may have changed: what was kept before is asked for again.
    epoch: AtomicU64,
}

#[derive(Clone)]
struct Kept {
    key: Arc<KnownKey>,
    epoch: u64,
}

impl KeyHash {
    pub fn of(key: &str) -> KeyHash {
        KeyHash(Sha256::digest(key.as_bytes()).into())
    }

    fn from_hex(hex: &str) -> Option<KeyHash> {
        let mut bytes = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        for (n, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).ok()?;
        }
        Some(KeyHash(bytes))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

impl KnownKeys {
    pub fn new(most: u64) -> KnownKeys {
        let (notices, epoch) = (AtomicU64::new(0), AtomicU64::new(0));
        KnownKeys { known: Cache::new(most), unknown: Cache::new(most), notices, epoch }
    }

    /// The key of that hash, from memory or from the database; `None` if there is none. One that ought to be asked for
    /// again is good as it was while the database is away.
    pub async fn find(&self, hash: KeyHash, store: &Store) -> Result<Option<Arc<KnownKey>>, Away> {
        let epoch = self.epoch.load(Ordering::Acquire);
        let kept = self.known.get(&hash);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.epoch == epoch) {
            return Ok(Some(kept.key.clone()));
        }
        if self.unknown.contains_key(&hash) {
            return Ok(None);
        }
        let before = self.notices.load(Ordering::Acquire);
        let db = store.db.clone();
        let found = match store.ask(async move { query(&db, hash).await }).await {
            Ok(found) => found.map(Arc::new),
            Err(away) => return kept.map(|kept| Some(kept.key)).ok_or(away),
        };
        match &found {
            Some(key) => self.known.insert(hash, Kept { key: key.clone(), epoch }),
            None => {
                self.known.invalidate(&hash);
                self.unknown.insert(hash, ());
            }
        }
        if self.notices.load(Ordering::Acquire) != before {
            self.drop_entry(&hash);
        } else if self.epoch.load(Ordering::Acquire) != epoch {
            self.unknown.invalidate(&hash);
        }
        Ok(found)
    }

    /// A notice: the key whose hash reads `hex` was made, changed or revoked.
    pub fn forget(&self, hex: &str) {
        self.notices.fetch_add(1, Ordering::AcqRel);
        match KeyHash::from_hex(hex) {
            Some(hash) => self.drop_entry(&hash),
            None => self.forget_all(),
        }
    }

    /// Anything may have changed. Known keys are not dropped: the database may go away before they are asked for again.
    pub fn forget_all(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.unknown.invalidate_all();
    }

    fn drop_entry(&self, hash: &KeyHash) {
        self.known.invalidate(hash);
        self.unknown.invalidate(hash);
    }
}

async fn query(db: &PgPool, hash: KeyHash) -> sqlx::Result<Option<KnownKey>> {
    let row = sqlx::query(
        "select k.id, k.partner_id, k.routes, k.expires_at, k.revoked_at, p.slug, p.plan_id,
                p.suspended or p.retired_at is not null as suspended
         from api_key k
         join partner p on p.id = k.partner_id
         where k.hash = $1",
    )
    .bind(&hash.0[..])
    .fetch_optional(db)
    .await?;
    let micros = |at: Option<OffsetDateTime>| at.map(|at| (at.unix_timestamp_nanos() / 1000) as Micros);
    row.map(|row| {
        let routes: Option<Vec<String>> = row.try_get("routes")?;
        Ok(KnownKey {
            id: row.try_get("id")?,
            partner: row.try_get("partner_id")?,
            plan: row.try_get("plan_id")?,
            partner_slug: row.try_get("slug")?,
            suspended: row.try_get("suspended")?,
            routes: routes.map(|routes| routes.into_iter().collect()),
            expires_at: micros(row.try_get("expires_at")?),
            revoked_at: micros(row.try_get("revoked_at")?),
        })
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_from_hex_and_shows_nothing() {
        let hash = KeyHash::of("abc");
        // FIPS 180-2, appendix B.1.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(KeyHash::from_hex(hex) == Some(hash));
        assert!(KeyHash::from_hex(&hex[1..]).is_none());
        assert_eq!(format!("{hash:?}"), "KeyHash(…)");
    }
}
