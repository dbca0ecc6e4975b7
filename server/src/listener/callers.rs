//! Which connections one caller has open on this node.
//!
//! A caller is a key at an address. Whether a refused request is a retry or one of a burst of first attempts shows in
//! this: a burst comes on many connections at once, a lone retry on one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A key and the address it is used from.
pub type CallerId = (i64, IpAddr);

/// A burst has stragglers: for so long after a crowd was refused, whoever comes is one of it.
const STRAGGLE: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub struct Callers {
    callers: Mutex<HashMap<CallerId, Arc<Caller>>>,
}

#[derive(Debug)]
struct Caller {
    open: AtomicUsize,
    begun: Instant,
    /// Milliseconds since `begun`, plus 1; 0 for never.
    crowd_refused: AtomicU64,
}

/// Held by each connection that carries requests of one caller.
#[derive(Debug)]
pub struct OpenConnection {
    caller: Arc<Caller>,
}

impl Callers {
    /// One more connection of this caller.
    pub fn open(&self, id: CallerId) -> OpenConnection {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() == callers.capacity() {
            callers.retain(|_, caller| caller.open.load(Ordering::Relaxed) > 0 || caller.straggles());
        }
        let caller = callers.entry(id).or_insert_with(|| Arc::new(Caller::new()));
        caller.open.fetch_add(1, Ordering::Relaxed);
        OpenConnection { caller: caller.clone() }
    }
}

impl Caller {
    fn new() -> Caller {
        Caller { open: AtomicUsize::new(0), begun: Instant::now(), crowd_refused: AtomicU64::new(0) }
    }

    fn straggles(&self) -> bool {
        let refused = self.crowd_refused.load(Ordering::Relaxed);
        refused > 0 && self.begun.elapsed() < Duration::from_millis(refused) + STRAGGLE
    }
}

impl OpenConnection {
    /// Whether the caller has several other connections open, or just had and was refused on them. One other may be its
    /// last connection, about to be closed.
    pub fn is_one_of_a_crowd(&self) -> bool {
        self.caller.open.load(Ordering::Relaxed) > 2 || self.caller.straggles()
    }

    /// A request was refused that came as one of a crowd.
    pub fn crowd_refused(&self) {
        let now = self.caller.begun.elapsed().as_millis() as u64 + 1;
        self.caller.crowd_refused.store(now, Ordering::Relaxed);
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.caller.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn three_connections_of_one_caller_are_a_crowd_while_they_are_open() {
        let callers = Callers::default();
        let (first, second) = (callers.open((1, HERE)), callers.open((1, HERE)));
        let _stranger = callers.open((2, HERE));
        assert!(!first.is_one_of_a_crowd());
        let third = callers.open((1, HERE));
        assert!(first.is_one_of_a_crowd() && third.is_one_of_a_crowd());
        drop((second, third));
        assert!(!first.is_one_of_a_crowd());
    }

    #[test]
    fn a_straggler_of_a_crowd_that_was_refused_is_one_of_it_for_a_moment() {
        let callers = Callers::default();
        callers.open((1, HERE)).crowd_refused();
        let straggler = callers.open((1, HERE));
        assert!(straggler.is_one_of_a_crowd());
        std::thread::sleep(STRAGGLE + Duration::from_millis(10));
        assert!(!straggler.is_one_of_a_crowd());
    }
}
