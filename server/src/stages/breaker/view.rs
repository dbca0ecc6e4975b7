//! What this node knows of each breaker.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use arc_swap::ArcSwap;
use sqlx::PgPool;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::reports::{self, Report};
use super::rows;
use crate::catalog::upstream::BreakerSettings;
use crate::clock::Micros;
use crate::store::Store;

/// One upstream's breaker, as last heard of.
#[derive(Debug)]
pub struct Breaker {
    pub upstream: i64,
    view: ArcSwap<View>,
    /// This node's requests that are with the upstream.
    pub(super) in_flight: AtomicUsize,
    /// One request of this node at most asks for the probe at a time.
    pub(super) claiming: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub state: State,
    pub generation: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Closed,
    Open { since: Micros },
    HalfOpen { lease_until: Micros },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Closed,
    /// Open, for so many seconds.
    Open {
        retry_after: u64,
    },
    /// Somebody else is the probe.
    Probing,
    /// The time is over: who asks now may become the probe.
    Due,
}

impl View {
    pub const CLOSED: View = View { state: State::Closed, generation: 1 };

    pub fn decide(self, settings: &BreakerSettings, now: Micros) -> Decision {
        match self.state {
            State::Closed => Decision::Closed,
            State::Open { since } => {
                let left = since + settings.open_for.as_micros() as Micros - now;
                if left <= 0 {
                    Decision::Due
                } else {
                    Decision::Open { retry_after: (left as u64).div_ceil(1_000_000).max(1) }
                }
            }
            State::HalfOpen { lease_until } if lease_until <= now => Decision::Due,
            State::HalfOpen { .. } => Decision::Probing,
        }
    }
}

impl Breaker {
    fn new(upstream: i64, view: View) -> Breaker {
        Breaker {
            upstream,
            view: ArcSwap::from_pointee(view),
            in_flight: AtomicUsize::new(0),
            claiming: AtomicBool::new(false),
        }
    }

    pub fn view(&self) -> View {
        **self.view.load()
    }

    /// A younger generation is never replaced by an older one: notices and answers may overtake each other.
    pub(super) fn saw(&self, view: View) {
        self.view.rcu(
            |current| if view.generation >= current.generation { Arc::new(view) } else { current.clone() },
        );
    }

    pub fn decide(&self, settings: &BreakerSettings, now: Micros) -> Decision {
        self.view().decide(settings, now)
    }
}

/// All breakers of this node.
pub struct Breakers {
    by_upstream: ArcSwap<HashMap<i64, Arc<Breaker>>>,
    reports: mpsc::UnboundedSender<Report>,
    /// Whose name stands in the events.
    pub(super) node: Uuid,
    pub(super) store: Arc<Store>,
}

impl Breakers {
    /// Starts the task that writes failures down; call on the background runtime.
    pub fn start(store: Arc<Store>, node: Uuid) -> Arc<Breakers> {
        let (reports, receiver) = mpsc::unbounded_channel();
        let breakers =
            Arc::new(Breakers { by_upstream: ArcSwap::default(), reports, node, store: store.clone() });
        store.background().spawn(reports::write_down(receiver, Arc::downgrade(&breakers)));
        breakers
    }

    pub fn of(&self, upstream: i64) -> Arc<Breaker> {
        if let Some(breaker) = self.by_upstream.load().get(&upstream) {
            return breaker.clone();
        }
        self.insert(upstream, View::CLOSED)
    }

    /// Reads one breaker, or all, from the database.
    pub async fn refresh(&self, db: &PgPool, upstream: Option<i64>) -> sqlx::Result<()> {
        for (upstream, view) in rows::read(db, upstream).await? {
            self.saw(upstream, view);
        }
        Ok(())
    }

    /// Takes the lease from probes that never reported, and reads all breakers.
    pub async fn sweep(&self, db: &PgPool) -> sqlx::Result<()> {
        for upstream in rows::sweep(db, self.node).await? {
            rows::notify(db, upstream).await?;
        }
        self.refresh(db, None).await
    }

    pub(super) fn saw(&self, upstream: i64, view: View) {
        match self.by_upstream.load().get(&upstream) {
            Some(breaker) => breaker.saw(view),
            None => drop(self.insert(upstream, view)),
        }
    }

    pub(super) fn report(&self, report: Report) {
        // Fails only while the process ends.
        let _ = self.reports.send(report);
    }

    fn insert(&self, upstream: i64, view: View) -> Arc<Breaker> {
        let fresh = Arc::new(Breaker::new(upstream, view));
        self.by_upstream.rcu(|current| {
            let mut all = HashMap::clone(current);
            all.entry(upstream).or_insert_with(|| fresh.clone());
            all
        });
        self.by_upstream.load().get(&upstream).cloned().unwrap_or(fresh)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SETTINGS: BreakerSettings = BreakerSettings {
        failures: 5,
        window: Duration::from_secs(10),
        open_for: Duration::from_secs(5),
        max_in_flight: 10,
    };

    fn decide(state: State, now: Micros) -> Decision {
        View { state, generation: 1 }.decide(&SETTINGS, now)
    }

    #[test]
    fn an_open_breaker_says_when_to_come_back_and_is_due_when_its_time_is_over() {
        let open = State::Open { since: 0 };
        assert_eq!(decide(open, 0), Decision::Open { retry_after: 5 });
        assert_eq!(decide(open, 4_999_999), Decision::Open { retry_after: 1 });
        assert_eq!(decide(open, 5_000_000), Decision::Due);
    }

    #[test]
    fn a_probe_that_never_reports_loses_its_lease() {
        let half_open = State::HalfOpen { lease_until: 100 };
        assert_eq!(decide(half_open, 99), Decision::Probing);
        assert_eq!(decide(half_open, 100), Decision::Due);
    }

    #[test]
    fn an_older_generation_is_not_believed() {
        let breaker = Breaker::new(1, View { state: State::Closed, generation: 7 });
        breaker.saw(View { state: State::Open { since: 0 }, generation: 6 });
        assert_eq!(breaker.view().state, State::Closed);
        breaker.saw(View { state: State::Open { since: 0 }, generation: 8 });
        assert_eq!(breaker.view().state, State::Open { since: 0 });
    }
}
