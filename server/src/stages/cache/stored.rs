//! A stored answer, and when it serves (RFC 9111 §4.2.4, RFC 5861, RFC 8246). Times are microseconds.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, header};

use super::asked::Selecting;
use super::directives::{RequestDirectives, ResponseDirectives};
use crate::clock::Micros;

/// However long it was fresh, it is not given without leave after so long of nobody to ask.
const LONGEST_UNASKED: Micros = 86_400_000_000;

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Stored {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Request headers that select it, and their values.
    pub vary: Vec<HeaderName>,
    pub selecting: Selecting,
    pub tags: Box<[Box<str>]>,
    pub asked_at: Micros,
    pub came_at: Micros,
    /// How old it was when it came.
    pub initial_age: Micros,
    pub lifetime: Micros,
    pub usage: Use,
}

/// What the origin allows to be done with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Use {
    /// Never without asking.
    no_cache: bool,
    /// Never stale.
    must_revalidate: bool,
    /// Never stale but where the origin says so itself: `s-maxage` means that (§5.2.2.10).
    shared_lifetime: bool,
    immutable: bool,
    while_revalidate: Micros,
    if_error: Micros,
}

/// What a stored answer does for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Fresh,
    /// Stale, and the client takes it.
    Stale,
    /// Stale, and to be asked about meanwhile.
    Revalidating,
    /// Stale: the upstream is to be asked.
    TooOld,
    /// It would do, but not for this request.
    Unwanted,
}

impl Use {
    pub fn of(allowed: &ResponseDirectives) -> Use {
        Use {
            no_cache: allowed.no_cache.is_whole(),
            must_revalidate: allowed.must_revalidate || allowed.proxy_revalidate,
            shared_lifetime: allowed.s_maxage.is_some(),
            immutable: allowed.immutable,
            while_revalidate: allowed.stale_while_revalidate.unwrap_or(0),
            if_error: allowed.stale_if_error.unwrap_or(0),
        }
    }
}

impl Stored {
    pub fn age(&self, now: Micros) -> Micros {
        self.initial_age + (now - self.came_at).max(0)
    }

    /// Until it is stale; negative afterwards.
    pub fn left(&self, now: Micros) -> Micros {
        self.lifetime - self.age(now)
    }

    pub fn is_fresh(&self, now: Micros) -> bool {
        !self.usage.no_cache && self.left(now) > 0
    }

    pub fn has_validator(&self) -> bool {
        self.headers.contains_key(header::ETAG) || self.headers.contains_key(header::LAST_MODIFIED)
    }

    /// `own`: the lifetime that it came with.
    pub fn is_worth_keeping(&self, own: Option<Micros>) -> bool {
        let Use { no_cache, must_revalidate, while_revalidate, if_error, .. } = self.usage;
        let serves_stale = !must_revalidate && (while_revalidate > 0 || if_error > 0);
        let serves = self.is_fresh(self.came_at) || own > Some(0) || serves_stale;
        self.has_validator() || (serves && !no_cache)
    }

    pub fn service(&self, asks: &RequestDirectives, now: Micros) -> Service {
        let (age, left) = (self.age(now), self.left(now));
        if asks.no_cache {
            return Service::Unwanted;
        }
        let is_young_enough = asks.max_age.is_none_or(|most| age <= most && most > 0);
        let stays_fresh = asks.min_fresh.is_none_or(|least| left >= least);
        if self.is_fresh(now) {
            // RFC 8246 §2: while it is fresh there is nothing new to be had by a reload.
            let serves = stays_fresh && (is_young_enough || self.usage.immutable);
            return if serves { Service::Fresh } else { Service::Unwanted };
        }
        let may_be_stale = !self.usage.no_cache && !self.usage.must_revalidate;
        if !may_be_stale || !is_young_enough || asks.min_fresh.is_some() {
            return Service::TooOld;
        }
        if -left <= self.usage.while_revalidate && self.usage.while_revalidate > 0 {
            return Service::Revalidating;
        }
        let is_taken = asks.max_stale.is_some_and(|most| -left <= most);
        if is_taken && !self.usage.shared_lifetime { Service::Stale } else { Service::TooOld }
    }

    /// Whether it may be given because asking failed (RFC 5861 §4). `nobody_answered`: not even an error came, and
    /// RFC 9111 §4.2.4 lets a cache that is cut off go on; this one does for as long as the answer had been fresh.
    pub fn serves_on_error(&self, asks: &RequestDirectives, nobody_answered: bool, now: Micros) -> bool {
        let stale = -self.left(now);
        let Use { no_cache, must_revalidate, shared_lifetime, if_error, .. } = self.usage;
        if no_cache || must_revalidate || asks.no_cache {
            return false;
        }
        let by_request = asks.stale_if_error.is_some_and(|most| stale <= most);
        let unasked = nobody_answered && stale <= self.lifetime.min(LONGEST_UNASKED);
        (if_error > 0 && stale <= if_error) || (!shared_lifetime && (by_request || unasked))
    }

    /// Bytes that it occupies, roughly.
    pub fn weight(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum();
        let tags: usize = self.tags.iter().map(|tag| tag.len() + 16).sum();
        self.body.len() + headers + tags + self.selecting.len() + 256
    }
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
