//! Cache: do we hold the answer?
//!
//! Needs `Admitted`: a hit is a request served, and costs a token like any other. Gives `Miss`. Answers what is stored and fresh,
//! with 304 and no body to who holds that version. Touches this node's memory; what comes back from the upstream
//! is stored on its way through if a shared cache may (RFC 9111).

mod conditional;
mod directives;
mod key;
mod policy;
mod recorder;
mod status;
mod stored;
mod vary;

use std::sync::Arc;

use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::{HeaderMap, Method, Response, header};
use tower::Layer;

use crate::body;
use crate::catalog::Route;
use crate::clock::Micros;
use crate::gateway::Gateway;
use crate::ledger::Entry;
use crate::ledger::record::End;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::quota::Admitted;
use directives::RequestDirectives;
use key::UriKey;
pub use stored::Store;
use stored::Stored;
use vary::Asked;

/// Proof that no stored answer serves. Only this stage makes one.
pub struct Miss {
    pub admitted: Admitted,
    _proof: (),
}

impl Miss {
    pub fn entry(&mut self) -> &mut Entry {
        &mut self.admitted.identified.routed.arrived.entry
    }

    pub fn into_entry(self) -> Entry {
        self.admitted.identified.routed.arrived.entry
    }

    pub fn route(&self) -> &Arc<Route> {
        &self.admitted.identified.routed.route
    }
}

pub fn layer(gateway: &Arc<Gateway>) -> CacheLayer {
    CacheLayer { gateway: gateway.clone() }
}

pub struct CacheLayer {
    gateway: Arc<Gateway>,
}

impl<S> Layer<S> for CacheLayer {
    type Service = CacheStage<S>;

    fn layer(&self, inner: S) -> CacheStage<S> {
        CacheStage { gateway: self.gateway.clone(), inner }
    }
}

pub struct CacheStage<S> {
    gateway: Arc<Gateway>,
    inner: S,
}

impl<S: Serve<Miss>> Serve<Admitted> for CacheStage<S> {
    async fn serve(&self, mut admitted: Admitted) -> Answer {
        if !admitted.identified.routed.route.cache {
            admitted.identified.routed.arrived.entry.record.cache_miss = Some(CacheMiss::Off);
            return self.inner.serve(Miss { admitted, _proof: () }).await;
        }
        let entry = &mut admitted.identified.routed.arrived.entry;
        entry.at(Stage::Cache);
        let now = self.gateway.store.clock.now();
        let routed = &admitted.identified.routed;
        let method = routed.arrived.request.method().clone();
        let uri = UriKey::of(&routed.route, routed.arrived.request.uri());
        let asked = Asked::of(&admitted.identified);
        let wishes = RequestDirectives::of(routed.arrived.request.headers());

        let why = match self.decide(&uri, &method, &asked, &wishes, routed.arrived.request.headers(), now) {
            Ok(stored) => {
                let conditions = routed.arrived.request.headers();
                let (outcome, response) = answer(&stored, conditions, &method, now);
                let end = End {
                    stage: Stage::Cache,
                    outcome,
                    status: response.status().as_u16(),
                    reached: false,
                    upstream_status: 0,
                };
                return Answer { response, entry: admitted.identified.routed.arrived.entry, end };
            }
            Err(why) => why,
        };
        admitted.identified.routed.arrived.entry.record.cache_miss = Some(why);
        if wishes.only_if_cached {
            let detail = "nothing fresh is stored, and `only-if-cached` forbids asking the upstream";
            let mut answer = Refusal::new(Stage::Cache, Outcome::CacheOnly, detail)
                .answer(admitted.identified.routed.arrived.entry);
            status::miss(answer.response.headers_mut(), why, None, false);
            return answer;
        }
        let route = admitted.identified.routed.route.clone();
        let mut answer = self.inner.serve(Miss { admitted, _proof: () }).await;
        self.take_back(&mut answer, &method, uri, asked, &wishes, &route, why, now);
        answer
    }
}

impl<S> CacheStage<S> {
    /// The stored answer that serves, or why there is none.
    fn decide(
        &self,
        uri: &UriKey,
        method: &Method,
        asked: &Asked,
        wishes: &RequestDirectives,
        headers: &HeaderMap,
        now: Micros,
    ) -> Result<Arc<Stored>, CacheMiss> {
        // Ranges and preconditions other than If-None-Match and If-Modified-Since are the upstream's business.
        let beyond = [header::RANGE, header::IF_MATCH, header::IF_UNMODIFIED_SINCE, header::IF_RANGE];
        let is_read = method == Method::GET || method == Method::HEAD;
        if !is_read || wishes.no_store || beyond.iter().any(|name| headers.contains_key(name)) {
            return Err(CacheMiss::Bypass);
        }
        let stored = self.gateway.cache.find(uri, asked)?;
        if wishes.no_cache {
            return Err(CacheMiss::Bypass);
        }
        match stored.is_fresh(now) && wishes.accept(stored.age(now), stored.lifetime) {
            true => Ok(stored),
            false => Err(CacheMiss::Stale),
        }
    }

    /// On the way back: stores what may be stored, forgets what an unsafe method may have changed.
    #[allow(clippy::too_many_arguments, reason = "all of it is what the request asked")]
    fn take_back(
        &self,
        answer: &mut Answer,
        method: &Method,
        uri: UriKey,
        asked: Asked,
        wishes: &RequestDirectives,
        route: &Route,
        why: CacheMiss,
        asked_at: Micros,
    ) {
        if !answer.end.reached {
            status::miss(answer.response.headers_mut(), why, None, false);
            return;
        }
        let code = answer.response.status();
        if !method.is_safe() && (code.is_success() || code.is_redirection()) {
            // RFC 9111 §4.4
            self.gateway.cache.forget(&uri);
        }
        let now = self.gateway.store.clock.now();
        let stored = (method == Method::GET && !wishes.no_store && answer.end.outcome == Outcome::Forwarded)
            .then(|| policy::judge(&asked, &answer.response, route.cache_ttl, asked_at, now))
            .flatten();
        let will_be_stored = stored.is_some();
        if let Some(stored) = stored {
            let body = std::mem::replace(answer.response.body_mut(), body::empty());
            *answer.response.body_mut() =
                recorder::record(body, stored, self.gateway.cache.clone(), uri, asked);
        }
        status::miss(answer.response.headers_mut(), why, Some(code), will_be_stored);
    }
}

/// The stored answer as this request gets it: with its age, as 304 to who holds it, without a body for HEAD.
fn answer(
    stored: &Stored,
    conditions: &HeaderMap,
    method: &Method,
    now: Micros,
) -> (Outcome, Response<body::Body>) {
    let not_modified = conditional::holds_this_version(conditions, &stored.headers);
    let (outcome, code, mut headers) = match not_modified {
        true => (
            Outcome::CacheNotModified,
            http::StatusCode::NOT_MODIFIED,
            conditional::headers_of_304(&stored.headers),
        ),
        false => (Outcome::CacheHit, stored.status, stored.headers.clone()),
    };
    let age = stored.age(now);
    headers.insert(header::AGE, (age / 1_000_000).into());
    status::hit(&mut headers, stored.lifetime - age);
    let body = match not_modified || method == Method::HEAD {
        true => body::empty(),
        false => body::full(stored.body.clone()),
    };
    if !not_modified {
        headers.insert(header::CONTENT_LENGTH, stored.body.len().into());
    }
    let mut response = Response::new(body);
    *response.status_mut() = code;
    *response.headers_mut() = headers;
    (outcome, response)
}
