//! Which connections one caller has open on this node.
//!
//! A caller is a key at an address. Whether a refused request is a retry or one of a burst of first attempts shows in
//! this: a burst comes on many connections at once, a lone retry on one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A key and the address it is used from.
pub type CallerId = (i64, IpAddr);

#[derive(Debug, Default)]
pub struct Callers {
    open: Mutex<HashMap<CallerId, Weak<()>>>,
}

/// Held by each connection that carries requests of one caller.
#[derive(Debug, Clone)]
pub struct OpenConnection {
    shared: Arc<()>,
}

impl Callers {
    /// One more connection of this caller.
    pub fn open(&self, caller: CallerId) -> OpenConnection {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = open.get(&caller).and_then(Weak::upgrade) {
            return OpenConnection { shared };
        }
        if open.len() == open.capacity() {
            open.retain(|_, connections| connections.strong_count() > 0);
        }
        let shared = Arc::new(());
        open.insert(caller, Arc::downgrade(&shared));
        OpenConnection { shared }
    }
}

impl OpenConnection {
    /// How many other connections of the caller are open at this moment.
    pub fn company(&self) -> usize {
        Arc::strong_count(&self.shared) - 1
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn connections_of_one_caller_know_of_each_other_while_they_are_open() {
        let callers = Callers::default();
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let first = callers.open((1, here));
        assert_eq!(first.company(), 0);
        let second = callers.open((1, here));
        let stranger = callers.open((2, here));
        assert_eq!((first.company(), second.company(), stranger.company()), (1, 1, 0));
        drop(second);
        assert_eq!(first.company(), 0);
        drop(first);
        assert_eq!(callers.open((1, here)).company(), 0);
    }
}
