//! Who has requests inside at the same time.
//!
//! A caller is a key at an address. Whether a refused request is a retry or one of a burst of first attempts shows in
//! this: the requests of a burst overlap, a lone caller waits for each answer.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A key and the address it is used from.
pub type CallerId = (i64, IpAddr);

/// A burst has stragglers: for so long after requests of a caller overlapped, whatever comes is taken for one of them.
const STRAGGLE: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub struct Callers {
    callers: Mutex<HashMap<CallerId, Arc<Caller>>>,
}

#[derive(Debug)]
struct Caller {
    inside: AtomicUsize,
    begun: Instant,
    /// Milliseconds since `begun`, plus 1, of the last overlap; 0 for never.
    overlapped: AtomicU64,
}

/// A request of a caller, inside until dropped.
#[derive(Debug)]
pub struct Inside {
    caller: Arc<Caller>,
}

impl Callers {
    /// One more request of this caller.
    pub fn enter(&self, id: CallerId) -> Inside {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() == callers.capacity() {
            callers.retain(|_, caller| caller.inside.load(Ordering::Relaxed) > 0 || caller.is_a_crowd());
        }
        let caller = callers.entry(id).or_insert_with(|| Arc::new(Caller::new())).clone();
        drop(callers);
        if caller.inside.fetch_add(1, Ordering::Relaxed) > 0 {
            let now = caller.begun.elapsed().as_millis() as u64 + 1;
            caller.overlapped.store(now, Ordering::Relaxed);
        }
        Inside { caller }
    }
}

impl Caller {
    fn new() -> Caller {
        Caller { inside: AtomicUsize::new(0), begun: Instant::now(), overlapped: AtomicU64::new(0) }
    }

    fn is_a_crowd(&self) -> bool {
        let overlapped = self.overlapped.load(Ordering::Relaxed);
        overlapped > 0 && self.begun.elapsed() < Duration::from_millis(overlapped) + STRAGGLE
    }
}

impl Inside {
    /// Whether this request overlaps with others of its caller, or straggles behind some that did.
    pub fn is_one_of_a_crowd(&self) -> bool {
        self.caller.is_a_crowd()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.caller.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn requests_that_overlap_are_a_crowd_and_others_are_not() {
        let callers = Callers::default();
        for _ in 0..3 {
            assert!(!callers.enter((1, HERE)).is_one_of_a_crowd(), "one after the other");
        }
        let first = callers.enter((1, HERE));
        let stranger = callers.enter((2, HERE));
        assert!(!first.is_one_of_a_crowd() && !stranger.is_one_of_a_crowd());
        let second = callers.enter((1, HERE));
        assert!(first.is_one_of_a_crowd() && second.is_one_of_a_crowd() && !stranger.is_one_of_a_crowd());
    }

    #[test]
    fn a_straggler_is_one_of_the_crowd_for_a_moment() {
        let callers = Callers::default();
        drop((callers.enter((1, HERE)), callers.enter((1, HERE))));
        let straggler = callers.enter((1, HERE));
        assert!(straggler.is_one_of_a_crowd());
        std::thread::sleep(STRAGGLE + Duration::from_millis(10));
        assert!(!straggler.is_one_of_a_crowd());
    }
}
