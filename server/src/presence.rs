//! Whether the database answers, as this process last heard. Said once when it goes away and once when it is back.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct Presence {
    is_away: AtomicBool,
    turned: Notify,
    since: Mutex<Option<Instant>>,
    /// Requests and pages that could not be answered for that.
    missed: AtomicU64,
}

impl Presence {
    pub fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// Something was asked in vain.
    pub fn left(&self, cause: impl Display) {
        if !self.is_away.swap(true, Ordering::Relaxed) {
            *self.since() = Some(Instant::now());
            tracing::warn!(%cause, "the database is away: going on from what this node last knew");
            self.turned.notify_waiters();
        }
    }

    /// It has answered.
    pub fn back(&self) {
        if self.is_away.swap(false, Ordering::Relaxed) {
            let away_s = self.since().take().map_or(0, |since| since.elapsed().as_secs());
            let refused = self.missed.swap(0, Ordering::Relaxed);
            tracing::info!(away_s, refused, "the database is back");
        }
    }

    /// A request or a page was refused because it is away.
    pub fn refused(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns when it is away.
    pub async fn gone(&self) {
        loop {
            let turned = self.turned.notified();
            if self.is_away() {
                return;
            }
            turned.await;
        }
    }

    fn since(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn who_waits_hears_of_it_when_it_goes_and_at_once_while_it_is_away() {
        let presence = Arc::new(Presence::default());
        let waiting = tokio::spawn({
            let presence = presence.clone();
            async move { presence.gone().await }
        });
        tokio::task::yield_now().await;
        presence.left("no answer");
        waiting.await.expect("heard");
        presence.gone().await;
        presence.back();
        assert!(!presence.is_away());
    }
}
