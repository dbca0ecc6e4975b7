//! Waiting for another's fetch, and taking the lead where there is none.

use std::sync::Arc;
use std::time::Duration;

use app::domain::outcome::Outcome;
use tokio::time::timeout;

use super::flight::{Boarding, Landed};
use super::inquiry::Inquiry;
use super::store::Store;
use super::stored::{Service, Stored};
use crate::clock::Clock;

/// How often a request waits anew, because the leader left or the answer was for other request headers.
const MOST_TURNS: usize = 4;
/// Beyond what the upstream may take to its head.
const FOR_THE_BODY: Duration = Duration::from_secs(5);

/// An answer that another has fetched, and as what it is given. `None`: this request asks by itself, with the lead if it
/// has got that.
pub async fn wait(inquiry: &mut Inquiry, store: &Store, clock: &Clock) -> Option<(Arc<Stored>, Outcome)> {
    if !inquiry.may_wait() || store.is_not_for_sharing(&inquiry.uri) {
        return None;
    }
    let upstream = &inquiry.route.upstream;
    let patience = upstream.connect_timeout + upstream.timeout + FOR_THE_BODY;
    let mut outcome = Outcome::CacheHit;
    for _ in 0..MOST_TURNS {
        let course = store.course(&inquiry.uri, &inquiry.asked.view());
        let landed = match store.flights.board(course) {
            Boarding::Leads(lead) => {
                // Between looking and boarding the one who led may have landed.
                let stored = serves(inquiry, store, clock);
                if stored.is_none() && inquiry.may_lead() {
                    inquiry.lead = Some(lead);
                }
                return stored.map(|stored| (stored, outcome));
            }
            Boarding::Waits(waiter) => timeout(patience, waiter.landed()).await.unwrap_or(Landed::Alone),
        };
        outcome = Outcome::CacheCollapsed;
        let now = clock.now();
        match landed {
            Landed::Shared(stored) if inquiry.selects(&stored) => {
                let service = stored.service(&inquiry.wishes, now);
                return is_service(service).then_some((stored, outcome));
            }
            // For other request headers: what is asked for is known better now.
            Landed::Shared(_) | Landed::Left => {
                if let Some(stored) = serves(inquiry, store, clock) {
                    return Some((stored, outcome));
                }
            }
            Landed::Failed => {
                let stale = inquiry.candidate.clone();
                let stale = stale.filter(|stale| stale.serves_on_error(&inquiry.wishes, true, now));
                return stale.map(|stale| (stale, Outcome::CacheStale));
            }
            Landed::Alone => return None,
        }
    }
    None
}

fn serves(inquiry: &Inquiry, store: &Store, clock: &Clock) -> Option<Arc<Stored>> {
    let stored = store.find(&inquiry.uri, &inquiry.asked.view()).ok()?;
    is_service(stored.service(&inquiry.wishes, clock.now())).then_some(stored)
}

fn is_service(service: Service) -> bool {
    matches!(service, Service::Fresh | Service::Stale | Service::Revalidating)
}
