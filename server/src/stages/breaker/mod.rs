//! Breaker: can the upstream take it?
//!
//! Needs `Miss`. Gives `Pass`. Refuses while it is open, while another request is the probe, and when the upstream has as
//! many requests of this node as it may have. Touches this node's view of the breaker; the shared row in `breaker` only
//! for transitions, failures and the claim of the probe.

mod call;
mod reports;
mod rows;
mod view;

use std::sync::Arc;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use tower::Layer;

use crate::gateway::Gateway;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::cache::Miss;
pub use call::{Call, Failure, Permit};
use view::Decision;
pub use view::{Breaker, Breakers};

/// Proof that the breaker lets the request try. Only this stage makes one.
pub struct Pass {
    pub miss: Miss,
    pub permit: Permit,
    _proof: (),
}

pub fn layer(gateway: &Arc<Gateway>) -> BreakerLayer {
    BreakerLayer { gateway: gateway.clone() }
}

pub struct BreakerLayer {
    gateway: Arc<Gateway>,
}

impl<S> Layer<S> for BreakerLayer {
    type Service = BreakerStage<S>;

    fn layer(&self, inner: S) -> BreakerStage<S> {
        BreakerStage { gateway: self.gateway.clone(), inner }
    }
}

pub struct BreakerStage<S> {
    gateway: Arc<Gateway>,
    inner: S,
}

impl<S: Serve<Pass>> Serve<Miss> for BreakerStage<S> {
    async fn serve(&self, mut miss: Miss) -> Answer {
        miss.entry().at(Stage::Breaker);
        let upstream = miss.route().upstream.clone();
        let breaker = self.gateway.breakers.of(upstream.id);
        let decision = breaker.decide(&upstream.breaker, self.gateway.store.clock.now());
        let due = match decision {
            Decision::Closed => false,
            Decision::Due => true,
            Decision::Open { retry_after } => {
                return open(retry_after).answer(miss.into_entry());
            }
            Decision::Probing => return probing().answer(miss.into_entry()),
        };
        match Permit::take(breaker, upstream, due) {
            Some(permit) => self.inner.serve(Pass { miss, permit, _proof: () }).await,
            None => {
                let detail = "the upstream has as many requests under way as it may have";
                refuse(Outcome::BreakerSaturated, detail).answer(miss.into_entry())
            }
        }
    }
}

fn refuse(outcome: Outcome, detail: &'static str) -> Refusal {
    Refusal::new(Stage::Breaker, outcome, detail)
}

/// It failed too often, or an operator opened it.
fn open(retry_after: u64) -> Refusal {
    let detail = "the breaker of the upstream is open, so it is left alone for a while";
    refuse(Outcome::BreakerOpen, detail).retry_after(retry_after)
}

fn probing() -> Refusal {
    refuse(Outcome::BreakerProbing, "another request is finding out whether the upstream is back")
}
