//! The other end of a connection, and what it has been told on it.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use super::callers::{CallerId, Callers, OpenConnection};

/// One connection, shared by the requests that come on it.
#[derive(Debug)]
pub struct Connection {
    pub address: SocketAddr,
    /// Came over TLS.
    pub secure: bool,
    accepted: Instant,
    /// Requests that have come on this connection.
    requests: AtomicU32,
    /// Requests on this connection that are not answered yet (more than one over HTTP/2).
    in_flight: AtomicU32,
    /// The key that was last refused for its quota on this connection, 0 for none.
    refused_key: AtomicI64,
    /// Whose requests came last.
    caller: Mutex<Option<(CallerId, Arc<OpenConnection>)>>,
}

/// Where one request came from. Counts as in flight on its connection until dropped.
#[derive(Debug)]
pub struct Peer {
    pub connection: Arc<Connection>,
    /// The client's address: the connection's, or what a trusted proxy says.
    pub address: IpAddr,
    /// Whether nothing else was in flight on the connection when this request came.
    pub alone: bool,
    /// When the client had made up its mind to send this at the latest: a connection is opened for its first request.
    pub decided: Instant,
}

impl Connection {
    pub fn new(address: SocketAddr, secure: bool) -> Arc<Connection> {
        Arc::new(Connection {
            address,
            secure,
            accepted: Instant::now(),
            requests: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            refused_key: AtomicI64::new(0),
            caller: Mutex::new(None),
        })
    }

    /// A request begins on this connection.
    pub fn request(self: &Arc<Self>) -> Peer {
        let before = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let is_first = self.requests.fetch_add(1, Ordering::Relaxed) == 0;
        Peer {
            connection: self.clone(),
            address: self.address.ip().to_canonical(),
            alone: before == 0,
            decided: if is_first { self.accepted } else { Instant::now() },
        }
    }

    /// The connection carries a request of `caller`. What is given ends with the connection.
    pub fn carries(&self, caller: CallerId, callers: &Callers) -> Weak<OpenConnection> {
        let mut current = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((same, open)) if *same == caller => Arc::downgrade(open),
            _ => {
                let open = Arc::new(callers.open(caller));
                let weak = Arc::downgrade(&open);
                *current = Some((caller, open));
                weak
            }
        }
    }

    /// The caller of `key` is about to read a refusal on this connection.
    pub fn note_refusal(&self, key: i64) {
        self.refused_key.store(key, Ordering::Relaxed);
    }

    pub fn was_refused(&self, key: i64) -> bool {
        self.refused_key.load(Ordering::Relaxed) == key
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.connection.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
