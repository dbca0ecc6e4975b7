//! One request's question to the cache: whether what is stored serves it, and what must be known when an answer comes back.

use std::sync::Arc;

use app::domain::outcome::Outcome;
use http::{Method, Request, header};

use super::asked::{Asked, View};
use super::conditional;
use super::directives::RequestDirectives;
use super::flight::Lead;
use super::invalidate::Changes;
use super::key::UriKey;
use super::status::Forward;
use super::store::Store;
use super::stored::{Service, Stored};
use crate::body::known_length;
use crate::catalog::Route;
use crate::clock::Micros;
use crate::stages::quota::Admitted;

/// What is stored for a request.
pub enum Found {
    /// It serves, as this outcome.
    Serves(Arc<Stored>, Outcome),
    /// It serves, and is to be asked about in the background.
    Revalidating(Arc<Stored>),
    /// The upstream has to be asked. What is stored may still be validated, or serve if that fails.
    Forwards(Forward, Option<Arc<Stored>>),
}

pub fn look<B: http_body::Body>(
    store: &Store,
    uri: &UriKey,
    view: &View<'_>,
    wishes: &RequestDirectives,
    request: &Request<B>,
    now: Micros,
) -> Found {
    if let Some(why) = passes_by(request, wishes) {
        return Found::Forwards(why, None);
    }
    let stored = match store.find(uri, view) {
        Ok(stored) => stored,
        Err(why) => return Found::Forwards(why, None),
    };
    match stored.service(wishes, now) {
        Service::Fresh => Found::Serves(stored, Outcome::CacheHit),
        Service::Stale => Found::Serves(stored, Outcome::CacheStale),
        Service::Revalidating => Found::Revalidating(stored),
        Service::TooOld => Found::Forwards(Forward::Stale, Some(stored)),
        Service::Unwanted => Found::Forwards(Forward::Request, Some(stored)),
    }
}

/// Why the store has nothing to do with a request.
fn passes_by<B: http_body::Body>(request: &Request<B>, wishes: &RequestDirectives) -> Option<Forward> {
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        return Some(Forward::Method);
    }
    let headers = request.headers();
    // Preconditions of changes are the upstream's business, and a body may mean anything.
    let beyond = [header::UPGRADE, header::IF_MATCH, header::IF_UNMODIFIED_SINCE];
    let passes = wishes.no_store
        || beyond.iter().any(|name| headers.contains_key(name))
        || known_length(request.body()) != Some(0);
    passes.then_some(Forward::Bypass)
}

/// What is known of the request when the answer to it comes back.
pub struct Inquiry {
    pub uri: UriKey,
    /// Path and query as they were asked.
    pub path: Box<str>,
    pub method: Method,
    pub asked: Asked,
    pub wishes: RequestDirectives,
    pub route: Arc<Route>,
    pub asked_at: Micros,
    pub why: Forward,
    /// What is stored and does not serve as it is.
    pub candidate: Option<Arc<Stored>>,
    /// The upstream is asked whether the candidate is still good.
    pub validates: bool,
    /// What an unsafe method changes.
    pub changes: Option<Changes>,
    /// Others may wait for the answer.
    pub lead: Option<Lead>,
}

impl Inquiry {
    pub fn new(
        admitted: &Admitted,
        asked: Asked,
        (uri, wishes): (UriKey, RequestDirectives),
        (why, candidate): (Forward, Option<Arc<Stored>>),
        asked_at: Micros,
    ) -> Inquiry {
        let routed = &admitted.identified.routed;
        let request = &routed.arrived.request;
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        Inquiry {
            uri,
            path: path.into(),
            method: request.method().clone(),
            asked,
            wishes,
            route: routed.route.clone(),
            asked_at,
            why,
            candidate,
            validates: false,
            changes: (!request.method().is_safe()).then(|| Changes::by(routed)),
            lead: None,
        }
    }

    /// Has the request ask about what is stored, if that can be validated. A range is asked for as it is: its answer is
    /// a part, and no part is stored.
    pub fn prepare(&mut self, admitted: &mut Admitted) {
        let headers = admitted.identified.routed.arrived.request.headers_mut();
        let validated = self.candidate.as_ref().filter(|stored| stored.has_validator());
        if let (Some(stored), true, false) =
            (validated, self.method == Method::GET, headers.contains_key(header::RANGE))
        {
            conditional::ask_about(stored, headers);
            self.validates = true;
        }
    }

    /// Whether another's answer may do: not if the request wants a part, or one of its own.
    pub fn may_wait(&self) -> bool {
        let waits = matches!(self.why, Forward::UriMiss | Forward::VaryMiss | Forward::Stale);
        waits && self.method == Method::GET && !self.asked.headers.contains_key(header::RANGE)
    }

    /// Whether others may wait for the answer: not if it may be a 304 that is for this client only.
    pub fn may_lead(&self) -> bool {
        let will_validate = self.candidate.as_ref().is_some_and(|stored| stored.has_validator());
        will_validate || !conditional::is_conditional(&self.asked.headers)
    }

    /// Whether this request selects the answer.
    pub fn selects(&self, stored: &Stored) -> bool {
        self.asked.view().selecting(&stored.vary) == stored.selecting
    }
}
