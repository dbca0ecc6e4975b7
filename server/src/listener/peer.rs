//! The other end of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// One connection, shared by the requests that come on it.
#[derive(Debug)]
pub struct Connection {
    pub address: SocketAddr,
    /// Came over TLS.
    pub secure: bool,
    accepted: Instant,
    has_carried: AtomicBool,
}

/// Where one request came from.
#[derive(Debug)]
pub struct Peer {
    pub connection: Arc<Connection>,
    /// The client's address: the connection's, or what a trusted proxy says.
    pub address: IpAddr,
    /// When the client had made up its mind to send this at the latest: a connection is opened for its first request.
    pub decided: Instant,
}

impl Connection {
    pub fn new(address: SocketAddr, secure: bool) -> Arc<Connection> {
        let has_carried = AtomicBool::new(false);
        Arc::new(Connection { address, secure, accepted: Instant::now(), has_carried })
    }

    /// A request begins on this connection.
    pub fn request(self: &Arc<Self>) -> Peer {
        let is_first = !self.has_carried.swap(true, Ordering::Relaxed);
        Peer {
            connection: self.clone(),
            address: self.address.ip().to_canonical(),
            decided: if is_first { self.accepted } else { Instant::now() },
        }
    }
}
