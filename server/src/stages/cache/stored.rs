//! What is stored, bounded by bytes.

use std::sync::Arc;

use app::domain::cache_miss::CacheMiss;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use moka::sync::Cache;

use super::key::UriKey;
use super::vary::Asked;
use crate::clock::Micros;

/// Answers kept under one URI.
const MOST_VARIANTS: usize = 32;

/// A complete answer. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Stored {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Request headers that select it.
    pub vary: Vec<HeaderName>,
    pub came_at: Micros,
    /// How old it was when it came.
    pub initial_age: Micros,
    pub lifetime: Micros,
}

impl Stored {
    pub fn age(&self, now: Micros) -> Micros {
        self.initial_age + (now - self.came_at).max(0)
    }

    pub fn is_fresh(&self, now: Micros) -> bool {
        self.age(now) < self.lifetime
    }

    /// Bytes that it occupies, roughly.
    fn weight(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum();
        self.body.len() + headers + 256
    }
}

/// All answers under one URI, newest first, each with the header values that select it.
type Variants = Arc<Vec<(Vec<u8>, Arc<Stored>)>>;

/// The response cache of this node.
#[derive(Clone)]
pub struct Store {
    by_uri: Cache<UriKey, Variants>,
    /// Larger bodies pass through.
    pub largest: usize,
}

impl Store {
    pub fn new(bytes: u64) -> Store {
        let weigh = |uri: &UriKey, variants: &Variants| {
            let stored: usize =
                variants.iter().map(|(selecting, stored)| selecting.len() + stored.weight()).sum();
            (uri.len() + stored).try_into().unwrap_or(u32::MAX)
        };
        let by_uri = Cache::builder().max_capacity(bytes).weigher(weigh).build();
        Store { by_uri, largest: (bytes / 8).min(64 << 20) as usize }
    }

    /// The newest answer that the request selects.
    pub fn find(&self, uri: &UriKey, asked: &Asked) -> Result<Arc<Stored>, CacheMiss> {
        let variants = self.by_uri.get(uri).ok_or(CacheMiss::First)?;
        let selected =
            variants.iter().find(|(selecting, stored)| asked.selecting(&stored.vary) == *selecting);
        selected.map(|(_, stored)| stored.clone()).ok_or(CacheMiss::Vary)
    }

    pub fn put(&self, uri: UriKey, asked: &Asked, stored: Stored) {
        let selecting = asked.selecting(&stored.vary);
        let stored = Arc::new(stored);
        self.by_uri.entry(uri).and_upsert_with(|before| {
            let mut variants =
                before.map(|before| before.into_value()).map_or_else(Vec::new, Arc::unwrap_or_clone);
            variants.retain(|(other, old)| !(old.vary == stored.vary && *other == selecting));
            variants.truncate(MOST_VARIANTS - 1);
            variants.insert(0, (selecting.clone(), stored.clone()));
            Arc::new(variants)
        });
    }

    pub fn forget(&self, uri: &UriKey) {
        self.by_uri.invalidate(uri);
    }
}
