//! THE ORDER. The top line meets the request first; each stage answers itself or passes the request on.

use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use tower::ServiceBuilder;

use crate::body::Body;
use crate::gateway::Gateway;
use crate::ledger::record::End;
use crate::ledger::recorded::{self, Recorded};
use crate::ledger::{Entry, Lane};
use crate::listener::Arriving;
use crate::listener::peer::Peer;
use crate::stages::{breaker, cache, key, proxy, quota, route};

/// What a stage is to the one before it. `Input` is the proof that the earlier stages have let the request pass,
/// so that stages in another order do not compile.
pub trait Serve<Input>: Send + Sync + 'static {
    fn serve(&self, input: Input) -> impl Future<Output = Answer> + Send;
}

/// A request as it comes from the door.
pub struct Arrived {
    pub request: Request<Arriving>,
    pub peer: Peer,
    /// The request's line in the books; whoever holds it when it is dropped, the ledger learns where that was.
    pub entry: Entry,
}

/// What goes back up through the stages.
pub struct Answer {
    pub response: Response<Body>,
    pub entry: Entry,
    /// How the request ends if the body is delivered whole.
    pub end: End,
}

/// The pipeline of one gateway thread, which writes in `lane`.
pub fn pipeline(gateway: &Arc<Gateway>, lane: Arc<Lane>) -> Recorded<impl Serve<Arrived> + use<>> {
    ServiceBuilder::new()
        .layer(recorded::layer(lane)) // outermost: every arrival leaves one record, however it ends
        .layer(route::layer(gateway)) // is there such a place, and may this be sent there?
        .layer(key::layer(gateway)) // who asks?
        .layer(quota::layer(gateway)) // has the partner a token? Before the cache: a hit is a request served
        .layer(cache::layer(gateway)) // do we hold the answer?
        .layer(breaker::layer(gateway)) // can the upstream take it?
        .service(proxy::service(gateway)) // the upstream
}
