//! What an upstream says before it answers (RFC 9110 §15.2).

use std::sync::Arc;

use http::{Request, StatusCode, Version};

use super::downstream;
use crate::body::Body;
use crate::listener::peer::{Connection, Peer};

/// One request's client, if it can be told anything before the answer: over HTTP/1.0 it must not be, and hyper's HTTP/2
/// has no way of doing so.
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
    number: u64,
}

impl Client {
    pub fn of(peer: &Peer, version: Version) -> Option<Client> {
        let (connection, number) = (peer.connection.clone(), peer.number);
        (version == Version::HTTP_11).then_some(Client { connection, number })
    }

    /// Has the client hear the interim answers to this request. `100 Continue` is between two neighbours: Toll says it
    /// itself.
    pub fn hears(&self, request: &mut Request<Body>) {
        let Client { connection, number } = self.clone();
        hyper::ext::on_informational(request, move |answer| {
            if answer.status() != StatusCode::CONTINUE {
                let mut headers = answer.headers().clone();
                downstream::tidy_interim(&mut headers);
                connection.interim(number, answer.status(), &headers);
            }
        });
    }

    /// Waits for the next of them.
    pub async fn has_heard(&self) {
        self.connection.interim_pushed().await;
    }
}
