//! Requests by what became of them, in the window and in the one before.

use super::Route;
use crate::books::Totals;
use crate::domain::cache_miss::CacheMiss;
use crate::domain::verdict::Evidence;

/// Of all requests, and of each route's.
pub fn add(totals: &Totals, evidence: &mut Evidence, routes: &mut [Route]) {
    for total in &totals.rows {
        evidence.all.now.add(total);
        // Requests without a route are of all, and of none of them.
        if let Some(route) = routes.iter_mut().find(|route| route.id == total.route) {
            route.evidence.tally.now.add(total);
            if let Some(why) = total.cache_miss {
                missed(&mut route.evidence.misses, why, total.line.requests);
            }
        }
    }
}

/// The same of the window before.
pub fn add_before(totals: &Totals, evidence: &mut Evidence, routes: &mut [Route]) {
    for total in &totals.rows {
        evidence.all.before.add(total);
        if let Some(route) = routes.iter_mut().find(|route| route.id == total.route) {
            route.evidence.tally.before.add(total);
        }
    }
}

fn missed(misses: &mut Vec<(CacheMiss, u64)>, why: CacheMiss, requests: u64) {
    match misses.iter_mut().find(|(known, _)| *known == why) {
        Some((_, sum)) => *sum += requests,
        None => misses.push((why, requests)),
    }
}
