//! Quota: has the partner a token left?
//!
//! Needs `Identified`. Gives `Admitted`. Refuses when the bucket is empty, and says when the next token comes. Touches the
//! partner's row in `bucket`, together with everybody who came while the last statement was under way; while the
//! database is away, what this node last saw of the bucket. Remembers what it refused, to know a retry by its request.

mod combine;
mod headers;
mod local;
mod refused;
mod spend;

use std::sync::Arc;
use std::time::{Duration, Instant};

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use tower::Layer;

use crate::catalog::Plan;
use crate::gateway::Gateway;
use crate::listener::callers::Inside;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::key::{Caller, Identified};
pub use combine::Quota;
pub use refused::Refused;

/// Proof that the request was paid for, or need not be. Only this stage makes one.
pub struct Admitted {
    pub identified: Identified,
    _proof: (),
}

/// What the bucket says to one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub granted: bool,
    pub tokens_before: f64,
    pub tokens_after: f64,
    /// Whole seconds until the next token, at least 1; for a refusal.
    pub retry_after: u64,
    /// Set on a refusal that came after an earlier one had been answered and before its `Retry-After` was over:
    /// milliseconds waited.
    pub early_after_ms: Option<i64>,
    pub locally: bool,
}

/// A request for one token.
#[derive(Debug)]
pub struct Ask {
    pub partner: i64,
    pub key: i64,
    pub address: String,
    pub capacity: f64,
    pub refill: f64,
    /// When the client had decided to send it.
    pub decided: Instant,
    /// Counts among its caller's requests. Accusing a burst of first attempts of being retries is the worse fault: requests
    /// that overlap cannot all have been sent because one of them was refused.
    pub inside: Arc<Inside>,
}

impl Ask {
    #[cfg(test)]
    pub fn for_tests(partner: i64, capacity: f64, refill: f64) -> Ask {
        let here = std::net::IpAddr::from([127, 0, 0, 1]);
        Ask {
            partner,
            key: 1,
            address: here.to_string(),
            capacity,
            refill,
            decided: Instant::now(),
            inside: Arc::new(crate::listener::callers::Callers::default().enter((1, here))),
        }
    }
}

/// A bucket that never refills says: tomorrow.
pub const NEVER: u64 = 86_400;

pub fn layer(gateway: &Arc<Gateway>) -> QuotaLayer {
    QuotaLayer { gateway: gateway.clone() }
}

pub struct QuotaLayer {
    gateway: Arc<Gateway>,
}

impl<S> Layer<S> for QuotaLayer {
    type Service = QuotaStage<S>;

    fn layer(&self, inner: S) -> QuotaStage<S> {
        QuotaStage { gateway: self.gateway.clone(), inner }
    }
}

pub struct QuotaStage<S> {
    gateway: Arc<Gateway>,
    inner: S,
}

impl<S: Serve<Admitted>> Serve<Identified> for QuotaStage<S> {
    async fn serve(&self, mut identified: Identified) -> Answer {
        let Some(caller) = &identified.caller else {
            return self.inner.serve(Admitted { identified, _proof: () }).await;
        };
        identified.routed.arrived.entry.at(Stage::Quota);
        let plan = caller.plan.clone();
        // Inside until it is answered.
        let (ask, _inside) = self.ask(caller, &identified);
        let verdict = self.gateway.quota.spend(ask).await;
        let entry = &mut identified.routed.arrived.entry;
        let Some(verdict) = verdict else {
            self.gateway.store.presence.refused();
            let detail = "your quota cannot be checked at the moment; nothing was taken from it";
            return Refusal::new(Stage::Quota, Outcome::QuotaUnavailable, detail)
                .answer(identified.routed.arrived.entry);
        };
        entry.record.tokens_before = Some(verdict.tokens_before);
        entry.record.tokens_after = Some(verdict.tokens_after);
        entry.record.metered_locally = verdict.locally;
        if !verdict.granted {
            let again = self.is_again(&mut identified, verdict.retry_after).await;
            let record = &mut identified.routed.arrived.entry.record;
            (record.retry_waited_ms, record.same_again) = (verdict.early_after_ms, again);
        }
        let mut answer = match decide(&verdict, &plan) {
            None => self.inner.serve(Admitted { identified, _proof: () }).await,
            Some(refusal) => refusal.answer(identified.routed.arrived.entry),
        };
        headers::write(answer.response.headers_mut(), &verdict, &plan);
        answer
    }
}

impl<S> QuotaStage<S> {
    /// Whether this request, which is refused, is one that was refused before, and comes sooner than it was to.
    async fn is_again(&self, identified: &mut Identified, retry_after: u64) -> bool {
        let Some(caller) = identified.caller.as_ref().map(|caller| caller.key.id) else { return false };
        let arrived = &mut identified.routed.arrived;
        let Some(body) = refused::body(&mut arrived.request).await else { return false };
        let (caller, wait) = ((caller, arrived.peer.address), Duration::from_secs(retry_after));
        self.gateway.refused.again(caller, &arrived.request, &body, wait, Instant::now())
    }

    fn ask(&self, caller: &Caller, identified: &Identified) -> (Ask, Arc<Inside>) {
        let peer = &identified.routed.arrived.peer;
        let inside = Arc::new(self.gateway.callers.enter((caller.key.id, peer.address)));
        let ask = Ask {
            partner: caller.key.partner,
            key: caller.key.id,
            address: peer.address.to_string(),
            capacity: f64::from(caller.plan.capacity),
            refill: caller.plan.refill_per_second,
            decided: peer.decided,
            inside: inside.clone(),
        };
        (ask, inside)
    }
}

fn decide(verdict: &Verdict, plan: &Plan) -> Option<Refusal> {
    if verdict.granted {
        return None;
    }
    let wait = verdict.retry_after;
    let (outcome, detail) = match verdict.early_after_ms {
        Some(waited) => (
            Outcome::QuotaEarlyRetry,
            format!(
                "you came back after {waited} ms, before the time you were given was over; wait {wait} s"
            ),
        ),
        None => (
            Outcome::QuotaSpent,
            format!(
                "plan {:?} allows {} at once; the next token comes in {wait} s",
                plan.name, plan.capacity
            ),
        ),
    };
    Some(Refusal::new(Stage::Quota, outcome, detail).retry_after(wait))
}
