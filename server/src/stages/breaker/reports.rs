//! What calls report, written down by one task: failures of one upstream are combined, successes are not written at all.

use std::sync::{Arc, Weak};

use tokio::sync::mpsc;
use uuid::Uuid;

use super::call::Failure;
use super::rows;
use super::view::{Breakers, State, View};
use crate::catalog::Upstream;

pub enum Report {
    Failed {
        upstream: Arc<Upstream>,
        generation: i64,
        failure: Failure,
    },
    Probe {
        upstream: Arc<Upstream>,
        generation: i64,
        probe: Uuid,
        result: ProbeResult,
    },
    /// This node's view may be old.
    Reread {
        upstream: i64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    Succeeded,
    Failed(Failure),
    /// The client left before the upstream answered.
    Abandoned,
}

/// Failures of one upstream and generation that came while the last statement was under way.
struct Combined {
    upstream: Arc<Upstream>,
    generation: i64,
    last: Failure,
    count: i32,
}

impl Breakers {
    pub(super) fn reread(&self, upstream: i64) {
        self.report(Report::Reread { upstream });
    }
}

/// Ends when the last sender is gone.
pub async fn write_down(mut reports: mpsc::UnboundedReceiver<Report>, breakers: Weak<Breakers>) {
    let mut batch = Vec::new();
    while reports.recv_many(&mut batch, 10_000).await > 0 {
        let Some(breakers) = breakers.upgrade() else { return };
        let mut failures: Vec<Combined> = Vec::new();
        for report in batch.drain(..) {
            match report {
                Report::Failed { upstream, generation, failure } => {
                    let same = |c: &&mut Combined| c.upstream.id == upstream.id && c.generation == generation;
                    match failures.iter_mut().find(same) {
                        Some(combined) => {
                            combined.count += 1;
                            combined.last = failure;
                        }
                        None => failures.push(Combined { upstream, generation, last: failure, count: 1 }),
                    }
                }
                Report::Probe { upstream, generation, probe, result } => {
                    breakers.probe_ended(&upstream, generation, probe, result).await;
                }
                Report::Reread { upstream } => {
                    let read = breakers.refresh(&breakers.store.db, Some(upstream)).await;
                    breakers.take_note(upstream, read.map(|()| None)).await;
                }
            }
        }
        for combined in failures {
            breakers.failed(&combined).await;
        }
    }
}

impl Breakers {
    async fn failed(&self, combined: &Combined) {
        if self.store.is_away() {
            return;
        }
        let Combined { upstream, generation, last, count } = combined;
        let view = rows::fail(&self.store.db, upstream, *generation, *count, &last.words(), self.node).await;
        self.take_note(upstream.id, view).await;
    }

    async fn probe_ended(&self, upstream: &Upstream, generation: i64, probe: Uuid, result: ProbeResult) {
        if !self.store.is_away() {
            let view = rows::end_probe(&self.store.db, upstream.id, probe, result, self.node).await;
            if !matches!(view, Ok(None)) {
                return self.take_note(upstream.id, view).await;
            }
        }
        // A probe of this node alone, without the database: its result holds here, until the database says otherwise.
        let now = self.store.clock.now();
        let breaker = self.of(upstream.id);
        if breaker.view().generation == generation {
            let state = match result {
                ProbeResult::Succeeded => State::Closed,
                ProbeResult::Failed(_) => State::Open { since: now },
                ProbeResult::Abandoned => State::Open { since: 0 },
            };
            breaker.saw(View { state, generation });
        }
    }

    /// A transition of this node's own: in force here at once, elsewhere by notice.
    async fn take_note(&self, upstream: i64, view: sqlx::Result<Option<View>>) {
        let told = match view {
            Ok(Some(view)) => {
                self.saw(upstream, view);
                rows::notify(&self.store.db, upstream).await
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            self.store.failed(&error);
        }
    }
}
