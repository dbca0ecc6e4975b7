//! The response cache of this node, bounded by bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use app::domain::purge::Target;
use moka::ops::compute::{CompResult, Op};
use moka::sync::Cache;

use super::asked::{Selecting, View};
use super::flight::{Course, Flights};
use super::key::{Question, UriKey};
use super::status::Forward;
use super::stored::Stored;
use crate::clock::Micros;

/// Answers kept under one URI.
const MOST_VARIANTS: usize = 32;
/// URIs of which something else than their answers is remembered.
const MOST_NOTES: u64 = 100_000;
/// Longer than a fetch takes that began before the change.
const CHANGE_REMEMBERED: Duration = Duration::from_secs(300);
/// How long requests are not made to wait for an answer that will not be shared.
const ALONE_REMEMBERED: Duration = Duration::from_secs(10);

/// All answers under one URI, newest first.
#[derive(Clone)]
struct Page {
    /// Path and query as they were asked.
    path: Box<str>,
    variants: Vec<Arc<Stored>>,
}

impl Page {
    fn has_tag(&self, tag: &str) -> bool {
        let mut tags = self.variants.iter().flat_map(|stored| &stored.tags);
        tags.any(|other| other.eq_ignore_ascii_case(tag))
    }
}

#[derive(Clone)]
pub struct Store {
    by_uri: Cache<UriKey, Arc<Page>>,
    /// When an unsafe method last changed what is behind a URI: what was asked before is not stored after.
    changed: Cache<UriKey, Micros>,
    /// The same for everything, by a purge.
    purged_at: Arc<AtomicI64>,
    /// Number of the last purge that this node has followed; negative before the first look.
    purges_seen: Arc<AtomicI64>,
    /// URIs whose answers turned out not to be for sharing.
    alone: Cache<UriKey, ()>,
    pub flights: Flights,
    /// Larger bodies pass through.
    largest: usize,
}

impl Store {
    pub fn new(bytes: u64) -> Store {
        let weigh = |uri: &UriKey, page: &Arc<Page>| {
            let stored: usize = page.variants.iter().map(|stored| stored.weight()).sum();
            (uri.len() + page.path.len() + stored).try_into().unwrap_or(u32::MAX)
        };
        Store {
            by_uri: Cache::builder().max_capacity(bytes).weigher(weigh).build(),
            changed: Cache::builder().max_capacity(MOST_NOTES).time_to_live(CHANGE_REMEMBERED).build(),
            purged_at: Arc::new(AtomicI64::new(Micros::MIN)),
            purges_seen: Arc::new(AtomicI64::new(-1)),
            alone: Cache::builder().max_capacity(MOST_NOTES).time_to_live(ALONE_REMEMBERED).build(),
            flights: Flights::default(),
            largest: (bytes / 8).min(64 << 20) as usize,
        }
    }

    /// Bytes of the largest body that is kept.
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// The newest answer that the request selects.
    pub fn find(&self, uri: &UriKey, view: &View<'_>) -> Result<Arc<Stored>, Forward> {
        let page = self.by_uri.get(uri).ok_or(Forward::UriMiss)?;
        let selected = page.variants.iter().find(|stored| view.selecting(&stored.vary) == stored.selecting);
        selected.cloned().ok_or_else(|| {
            // Under another host name it is another URI (§2).
            let here = view.selecting(&[]);
            let is_known = page.variants.iter().any(|stored| stored.selecting.starts_with(&here));
            if is_known { Forward::VaryMiss } else { Forward::UriMiss }
        })
    }

    /// What requests must have in common to share one fetch, as far as earlier answers tell.
    pub fn course(&self, uri: &UriKey, view: &View<'_>) -> Course {
        let page = self.by_uri.get(uri);
        let vary = page.as_ref().and_then(|page| page.variants.first()).map(|stored| stored.vary.as_slice());
        let selecting: Selecting = view.selecting(vary.unwrap_or_default());
        Course { uri: uri.clone(), selecting }
    }

    /// Whether it has turned out lately that waiting for another's answer is in vain.
    pub fn is_not_for_sharing(&self, uri: &UriKey) -> bool {
        self.alone.contains_key(uri)
    }

    /// The answer here is for one.
    pub fn not_for_sharing(&self, uri: &UriKey) {
        self.alone.insert(uri.clone(), ());
    }

    /// Stores an answer in the place of the one that the same requests select. `None`: what is behind the URI has changed
    /// since it was asked for.
    pub fn put(&self, uri: UriKey, path: Box<str>, stored: Stored) -> Option<Arc<Stored>> {
        let stored = Arc::new(stored);
        self.alone.invalidate(&uri);
        let done = self.by_uri.entry_by_ref(&uri).and_compute_with(|before| {
            // Judged under the entry's lock, which `invalidate` takes after it has noted the change.
            let changed = self.changed.get(&uri).unwrap_or(Micros::MIN);
            if stored.asked_at <= changed.max(self.purged_at.load(Ordering::Acquire)) {
                return Op::Nop;
            }
            let before = before.map(|before| Arc::unwrap_or_clone(before.into_value()));
            let mut page = before.unwrap_or(Page { path, variants: Vec::new() });
            page.variants.retain(|old| !(old.vary == stored.vary && old.selecting == stored.selecting));
            page.variants.truncate(MOST_VARIANTS - 1);
            page.variants.insert(0, stored.clone());
            Op::Put(Arc::new(page))
        });
        matches!(done, CompResult::Inserted(_) | CompResult::ReplacedWith(_)).then_some(stored)
    }

    /// One of the answers is no longer good.
    pub fn forget(&self, uri: &UriKey, stored: &Arc<Stored>) {
        self.by_uri.entry_by_ref(uri).and_compute_with(|before| {
            let Some(before) = before else { return Op::Nop };
            let mut page = Arc::unwrap_or_clone(before.into_value());
            page.variants.retain(|old| !Arc::ptr_eq(old, stored));
            match page.variants.is_empty() {
                true => Op::Remove,
                false => Op::Put(Arc::new(page)),
            }
        });
    }

    /// What is behind this URI has changed: none of its answers is good, nor is one that was asked for before.
    pub fn invalidate(&self, uri: &UriKey, now: Micros) {
        self.changed.insert(uri.clone(), now);
        self.by_uri.entry_by_ref(uri).and_compute_with(|_| Op::Remove);
    }

    pub fn purges_seen(&self) -> i64 {
        self.purges_seen.load(Ordering::Acquire)
    }

    pub fn saw_purges(&self, last: i64) {
        self.purges_seen.fetch_max(last, Ordering::AcqRel);
    }

    /// Forgets what an operator names; `None`: everything.
    pub fn purge(&self, target: Option<&Target>, now: Micros) {
        self.purged_at.fetch_max(now, Ordering::AcqRel);
        let Some(target) = target else { return self.by_uri.invalidate_all() };
        let question = Question::of(target.text());
        let is_meant = |uri: &UriKey, page: &Page| match target {
            Target::Url(_) => uri.is_of(&question),
            Target::Prefix(prefix) => page.path.starts_with(prefix.as_str()),
            Target::Tag(tag) => page.has_tag(tag),
        };
        for (uri, page) in &self.by_uri {
            if is_meant(&uri, &page) {
                self.by_uri.invalidate(uri.as_ref());
            }
        }
    }
}
