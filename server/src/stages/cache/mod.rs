//! Cache: do we hold the answer?
//!
//! Needs `Admitted`: a hit is a request served, and costs a token like any other. Gives `Miss`. Answers what is stored and
//! serves (RFC 9111), with 304 and no body to who holds that version, or with what another request is just fetching.
//! Touches this node's memory; what comes back from the upstream is stored on its way through if a shared cache may.

mod answers;
mod asked;
mod conditional;
mod directives;
mod failure;
mod fetch;
mod flight;
mod freshness;
mod inquiry;
mod invalidate;
mod key;
mod list;
mod policy;
pub mod purge;
mod range;
mod reply;
mod status;
mod store;
mod stored;
mod tags;
mod take_back;
mod targeted;
mod update;
mod vary;
mod waiting;

use std::sync::Arc;

use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http_body_util::BodyExt;
use tower::Layer;

use crate::catalog::Route;
use crate::clock::Micros;
use crate::gateway::Gateway;
use crate::ledger::Entry;
use crate::pipeline::{Answer, Serve};
use crate::stages::quota::Admitted;
use answers::{give, give_collapsed, hit, refuse};
use asked::View;
use directives::RequestDirectives;
use flight::Boarding;
use inquiry::{Found, Inquiry, look};
use key::UriKey;
use reply::reply;
use status::Forward;
pub use store::Store;
use stored::Stored;
use take_back::take_back;

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
        CacheStage { gateway: self.gateway.clone(), inner: Arc::new(inner) }
    }
}

pub struct CacheStage<S> {
    gateway: Arc<Gateway>,
    /// Shared with requests in the background, which outlive the one that caused them.
    inner: Arc<S>,
}

impl<S: Serve<Miss>> Serve<Admitted> for CacheStage<S> {
    async fn serve(&self, mut admitted: Admitted) -> Answer {
        if !admitted.identified.routed.route.cache {
            admitted.identified.routed.arrived.entry.record.cache_miss = Some(CacheMiss::Off);
            return self.inner.serve(Miss { admitted, _proof: () }).await;
        }
        admitted.identified.routed.arrived.entry.at(Stage::Cache);
        let now = self.gateway.store.clock.now();
        let request = &admitted.identified.routed.arrived.request;
        let uri = UriKey::of(&admitted.identified.routed.route, request.uri());
        let wishes = RequestDirectives::of(request.headers());
        let view = View::of(&admitted.identified, &self.gateway.settings.trusted_proxies);
        match look(&self.gateway.cache, &uri, &view, &wishes, request, now) {
            Found::Serves(stored, outcome) => give(admitted, &stored, outcome, now),
            Found::Revalidating(stored) => self.give_and_revalidate(admitted, (uri, wishes), stored, now),
            Found::Forwards(why, _) if wishes.only_if_cached => refuse(admitted, why),
            Found::Forwards(why, candidate) => {
                let asked = view.keep();
                let inquiry = Inquiry::new(&admitted, asked, (uri, wishes), (why, candidate), now);
                self.fetch(admitted, inquiry).await
            }
        }
    }
}

impl<S: Serve<Miss>> CacheStage<S> {
    /// Has what another request fetches, or asks the upstream.
    async fn fetch(&self, mut admitted: Admitted, mut inquiry: Inquiry) -> Answer {
        let clock = &self.gateway.store.clock;
        if let Some((stored, outcome)) = waiting::wait(&mut inquiry, &self.gateway.cache, clock).await {
            return match outcome {
                Outcome::CacheCollapsed => give_collapsed(admitted, &stored, inquiry.why, clock.now()),
                _ => give(admitted, &stored, outcome, clock.now()),
            };
        }
        inquiry.asked_at = clock.now();
        inquiry.prepare(&mut admitted);
        admitted.identified.routed.arrived.entry.record.cache_miss = Some(inquiry.why.in_books());
        let answer = self.inner.serve(Miss { admitted, _proof: () }).await;
        take_back(&self.gateway, inquiry, answer)
    }

    /// RFC 5861 §3: the client has the stale answer at once, and one request asks for a newer one in the background.
    fn give_and_revalidate(
        &self,
        mut admitted: Admitted,
        (uri, wishes): (UriKey, RequestDirectives),
        stored: Arc<Stored>,
        now: Micros,
    ) -> Answer {
        let routed = &admitted.identified.routed;
        let response = reply(&stored, routed.arrived.request.headers(), routed.arrived.request.method(), now);
        let asked = View::of(&admitted.identified, &self.gateway.settings.trusted_proxies).keep();
        let course = self.gateway.cache.course(&uri, &asked.view());
        let lead = match self.gateway.cache.flights.board(course) {
            Boarding::Leads(lead) if !wishes.only_if_cached => Some(lead),
            // It is being asked already.
            _ => None,
        };
        let background = lead.and_then(|lead| Some((lead, routed.arrived.entry.for_background()?)));
        let entry = match background {
            None => admitted.identified.routed.arrived.entry,
            Some((lead, background)) => {
                let entry = std::mem::replace(&mut admitted.identified.routed.arrived.entry, background);
                let inquiry = Inquiry {
                    lead: Some(lead),
                    ..Inquiry::new(
                        &admitted,
                        asked,
                        (uri, RequestDirectives::default()),
                        (Forward::Stale, Some(stored.clone())),
                        now,
                    )
                };
                self.revalidate(admitted, inquiry);
                entry
            }
        };
        hit(response, entry, Outcome::CacheStale, stored.left(now))
    }

    fn revalidate(&self, mut admitted: Admitted, mut inquiry: Inquiry) {
        let request = &mut admitted.identified.routed.arrived.request;
        *request.method_mut() = http::Method::GET;
        inquiry.method = http::Method::GET;
        conditional::remove(request.headers_mut());
        conditional::remove(&mut inquiry.asked.headers);
        inquiry.prepare(&mut admitted);
        let (gateway, inner) = (self.gateway.clone(), self.inner.clone());
        tokio::spawn(async move {
            let answer = inner.serve(Miss { admitted, _proof: () }).await;
            let Answer { response, entry, .. } = take_back(&gateway, inquiry, answer);
            // The call is over for the books.
            drop(entry);
            // What is stored is stored at its end; nothing larger is.
            let (mut body, mut rest) = (response.into_body(), gateway.cache.largest());
            while let Some(Ok(frame)) = body.frame().await {
                match rest.checked_sub(frame.data_ref().map_or(0, bytes::Bytes::len)) {
                    Some(less) => rest = less,
                    None => return,
                }
            }
        });
    }
}
