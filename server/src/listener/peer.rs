//! The other end of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use http::header::{CONNECTION, HeaderValue};
use http::{HeaderMap, StatusCode};

use super::interim::Interim;
use super::wire::Fault;

/// One connection, shared by the requests that come on it. Requests are counted from 1; 0 is none. All of it is used
/// by one task at a time: the connection's; `interim` by those of upstreams too.
#[derive(Debug)]
pub struct Connection {
    pub address: SocketAddr,
    /// Came over TLS.
    pub secure: bool,
    accepted: Instant,
    requests: AtomicU64,
    /// What was wrong with which request; it is the last.
    fault: OnceLock<(u64, Fault)>,
    /// The request whose body has not come whole.
    body_of: AtomicU64,
    /// The last request that was answered, and whether by a change of protocol.
    answered: AtomicU64,
    switched: AtomicU64,
    /// What goes to the client before the next answer.
    pub(super) interim: Interim,
}

/// Where one request came from.
#[derive(Debug)]
pub struct Peer {
    pub connection: Arc<Connection>,
    /// The client's address: the connection's, or what a trusted proxy says.
    pub address: IpAddr,
    /// When the client had made up its mind to send this at the latest: a connection is opened for its first request.
    pub decided: Instant,
    /// Which of its connection this is.
    pub number: u64,
    /// Why it must not be sent on.
    pub fault: Option<Fault>,
}

impl Connection {
    pub fn new(address: SocketAddr, secure: bool) -> Arc<Connection> {
        Arc::new(Connection {
            address,
            secure,
            accepted: Instant::now(),
            requests: AtomicU64::new(0),
            fault: OnceLock::new(),
            body_of: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            switched: AtomicU64::new(0),
            interim: Interim::default(),
        })
    }

    /// A request begins on this connection.
    pub fn request(self: &Arc<Self>) -> Peer {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        Peer {
            connection: self.clone(),
            address: self.address.ip().to_canonical(),
            decided: if number == 1 { self.accepted } else { Instant::now() },
            number,
            fault: self.fault.get().filter(|(faulty, _)| *faulty == number).map(|(_, fault)| *fault),
        }
    }

    /// The head of that request is not to be sent on.
    pub(super) fn found(&self, number: u64, fault: Fault) {
        let _ = self.fault.set((number, fault));
    }

    pub(super) fn body_is_under_way(&self, number: u64) {
        self.body_of.store(number, Ordering::Relaxed);
    }

    /// An answer over HTTP/1 begins. If the rest of the body is not waited for, the connection ends with it: nobody can
    /// say where the next request begins (RFC 9112 §9.6).
    pub(super) fn answer(&self, number: u64, status: StatusCode, headers: &mut HeaderMap) {
        self.answered.store(number, Ordering::Relaxed);
        if status == StatusCode::SWITCHING_PROTOCOLS {
            self.switched.store(number, Ordering::Relaxed);
        } else if self.body_of.load(Ordering::Relaxed) == number {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// An interim answer to a request over HTTP/1.1, unless it has been answered.
    pub fn interim(&self, number: u64, status: StatusCode, headers: &HeaderMap) {
        if self.answered.load(Ordering::Relaxed) < number {
            self.interim.push(status, headers);
        }
    }

    /// Waits for the next of these; the connection's task, which it wakes, writes it.
    pub async fn interim_pushed(&self) {
        self.interim.pushed().await;
    }

    /// Whether that request was answered by a change of protocol; `None` if there is no answer yet.
    pub(super) fn has_switched(&self, number: u64) -> Option<bool> {
        if self.answered.load(Ordering::Relaxed) < number {
            return None;
        }
        Some(self.switched.load(Ordering::Relaxed) == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_was_decided_on_before_its_connection_and_others_when_they_come() {
        let connection = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false);
        let open = Instant::now();
        let (first, second) = (connection.request(), connection.request());
        assert!(first.decided <= open && open <= second.decided);
    }

    #[test]
    fn an_answer_closes_only_if_its_own_body_is_still_under_way() {
        let connection = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false);
        let closes = |number| {
            let mut headers = HeaderMap::new();
            connection.answer(number, StatusCode::OK, &mut headers);
            headers.contains_key(CONNECTION)
        };
        let (first, second) = (connection.request(), connection.request());
        connection.body_is_under_way(second.number);
        assert_eq!((closes(first.number), closes(second.number)), (false, true));
    }

    #[test]
    fn what_comes_after_the_answer_is_no_interim_answer() {
        let connection = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false);
        connection.answer(1, StatusCode::OK, &mut HeaderMap::new());
        connection.interim(1, StatusCode::EARLY_HINTS, &HeaderMap::new());
        assert!(connection.interim.take().is_empty());
        connection.interim(2, StatusCode::EARLY_HINTS, &HeaderMap::new());
        assert!(!connection.interim.take().is_empty());
    }

    #[test]
    fn only_the_answer_to_the_request_for_an_upgrade_decides_it() {
        let connection = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false);
        connection.answer(1, StatusCode::OK, &mut HeaderMap::new());
        assert_eq!(connection.has_switched(2), None);
        connection.answer(2, StatusCode::SWITCHING_PROTOCOLS, &mut HeaderMap::new());
        assert_eq!((connection.has_switched(2), connection.has_switched(1)), (Some(true), Some(false)));
    }
}
