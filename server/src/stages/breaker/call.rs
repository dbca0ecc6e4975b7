//! A request that the breaker let pass: from the permit over the claim of the probe to what the upstream made of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use uuid::Uuid;

use super::reports::{ProbeResult, Report};
use super::view::{Breaker, Breakers, State, View};
use super::{open, probing, rows};
use crate::catalog::Upstream;
use crate::refusal::Refusal;

/// Taken in the breaker stage, turned into a `Call` when the request is ready to be sent, so that a slow upload does
/// not own the probe.
pub struct Permit {
    slot: Slot,
    upstream: Arc<Upstream>,
    generation: i64,
    /// The breaker is not closed, but its time is over.
    due: bool,
}

/// A place among the requests that this node may have with an upstream.
struct Slot {
    breaker: Arc<Breaker>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.breaker.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Permit {
    /// `None`: the upstream is saturated.
    pub(super) fn take(breaker: Arc<Breaker>, upstream: Arc<Upstream>, due: bool) -> Option<Permit> {
        let generation = breaker.view().generation;
        let before = breaker.in_flight.fetch_add(1, Ordering::AcqRel);
        let slot = Slot { breaker };
        (before < upstream.breaker.max_in_flight).then_some(Permit { slot, upstream, generation, due })
    }

    /// The request is about to be sent. If the breaker is due, this claims the one probe, or refuses.
    pub async fn ready(self, breakers: &Arc<Breakers>) -> Result<Call, Refusal> {
        let mut call = Call {
            upstream: self.upstream,
            generation: self.generation,
            probe: None,
            breakers: breakers.clone(),
            slot: self.slot,
        };
        if self.due {
            call.claim().await?;
        }
        Ok(call)
    }
}

/// Why a call counts against its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Unreachable,
    TimedOut,
    /// 500, 502, 503 or 504.
    Status(u16),
    Broken,
}

impl Failure {
    /// Only these say that the upstream is ill; 501 or 505 say that the request was strange.
    pub fn of_status(status: u16) -> Option<Failure> {
        matches!(status, 500 | 502 | 503 | 504).then_some(Failure::Status(status))
    }

    pub fn words(self) -> String {
        match self {
            Failure::Unreachable => "no connection".into(),
            Failure::TimedOut => "timed out".into(),
            Failure::Status(status) => format!("status {status}"),
            Failure::Broken => "broke off".into(),
        }
    }
}

/// A call under way. Dropped without a word (the client left), it counts neither for nor against the upstream; a probe
/// gives its place to the next request.
pub struct Call {
    upstream: Arc<Upstream>,
    generation: i64,
    probe: Option<Uuid>,
    breakers: Arc<Breakers>,
    slot: Slot,
}

impl Call {
    async fn claim(&mut self) -> Result<(), Refusal> {
        let breaker = self.slot.breaker.clone();
        if breaker.claiming.swap(true, Ordering::AcqRel) {
            return Err(probing());
        }
        let claimed = Claiming { breaker: breaker.clone() };
        let settings = self.upstream.breaker;
        let store = self.breakers.store.clone();
        // Between the decision and here another request of this node may have been the probe, and done with it.
        match breaker.decide(&settings, store.clock.now()) {
            super::Decision::Due => {}
            super::Decision::Closed => {
                self.generation = breaker.view().generation;
                return Ok(());
            }
            super::Decision::Probing => return Err(probing()),
            super::Decision::Open { retry_after } => return Err(open(retry_after)),
        }
        // Longer than the call can take: connecting, waiting for the head, and a second for the report.
        let lease = self.upstream.connect_timeout + self.upstream.timeout + std::time::Duration::from_secs(1);
        let probe = Uuid::now_v7();
        let db = store.db.clone();
        let (upstream, node) = (self.upstream.id, self.breakers.node);
        let answer = store
            .ask(async move {
                let view = rows::claim(&db, upstream, probe, lease, settings.open_for, node).await?;
                rows::notify(&db, upstream).await?;
                Ok(view)
            })
            .await;
        let view = match answer {
            Ok(Some(view)) => view,
            Ok(None) => {
                // Another node was faster, or this node's view is old.
                self.breakers.reread(self.upstream.id);
                return Err(probing());
            }
            // Without the database a node goes by what it last knew: one probe of its own.
            Err(_away) => View {
                state: State::HalfOpen { lease_until: store.clock.now() + lease.as_micros() as i64 },
                generation: breaker.view().generation,
            },
        };
        breaker.saw(view);
        self.generation = view.generation;
        self.probe = Some(probe);
        drop(claimed);
        Ok(())
    }

    /// The upstream answered as an upstream in good health does.
    pub fn succeeded(&mut self) {
        if let Some(probe) = self.probe.take() {
            self.report_probe(probe, ProbeResult::Succeeded);
        }
    }

    pub fn failed(&mut self, failure: Failure) {
        match self.probe.take() {
            Some(probe) => self.report_probe(probe, ProbeResult::Failed(failure)),
            None => self.breakers.report(Report::Failed {
                upstream: self.upstream.clone(),
                generation: self.generation,
                failure,
            }),
        }
    }

    fn report_probe(&self, probe: Uuid, result: ProbeResult) {
        let (upstream, generation) = (self.upstream.clone(), self.generation);
        self.breakers.report(Report::Probe { upstream, generation, probe, result });
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(probe) = self.probe.take() {
            self.report_probe(probe, ProbeResult::Abandoned);
        }
    }
}

/// The right of one request of this node to ask for the probe.
struct Claiming {
    breaker: Arc<Breaker>,
}

impl Drop for Claiming {
    fn drop(&mut self) {
        self.breaker.claiming.store(false, Ordering::Release);
    }
}
