//! What is Toll's own fault: a defect, and a process that was killed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use toll::ledger::recorded;
use toll::listener::peer::Connection;
use toll::listener::{Serves, Surface};
use toll::pipeline::{Answer, Serve};
use toll::stages::key::Identified;
use toll::stages::{key, route};
use tower::ServiceBuilder;

use super::Driven;
use super::everywhere::{Ending, in_the_books};
use super::house::{House, catalog, origin};
use crate::processes::Machine;
use crate::support::database::TestDatabase;
use crate::support::raw::{RawClient, ask, request};

pub const DRIVEN: &[Driven] = &[
    (Outcome::Internal, a_defect_in_a_stage_ends_one_request_and_is_in_the_books_at_that_stage),
    (Outcome::GatewayLost, what_was_in_flight_when_the_gateway_was_killed_is_lost_with_it),
];

/// Stands where the quota stage stands, and is what no stage should be.
struct Defect;

impl Serve<Identified> for Defect {
    async fn serve(&self, mut identified: Identified) -> Answer {
        identified.routed.arrived.entry.at(Stage::Quota);
        panic!("a defect, made on purpose");
    }
}

/// The house's own ledger and first stages on another port, with the defect behind them.
async fn with_a_defect(house: &House) -> SocketAddr {
    let gateway = house.toll.node.gateway.clone();
    let pipeline = ServiceBuilder::new()
        .layer(recorded::layer(house.toll.node.ledger.lane(0)))
        .layer(route::layer(&gateway))
        .layer(key::layer(&gateway))
        .service(Defect);
    let serves = Arc::new(Serves::new(Surface::Gateway, pipeline, gateway));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, address)) = listener.accept().await {
            let (serves, connection) = (serves.clone(), Connection::new(address, false));
            let service = service_fn(move |request| {
                let (serves, peer) = (serves.clone(), connection.request());
                async move { Ok::<_, Infallible>(serves.serve(request, peer).await) }
            });
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_in_a_stage_ends_one_request_and_is_in_the_books_at_that_stage() {
    let house = House::open().await;
    let address = with_a_defect(&house).await;
    let reply = ask(address, request("GET", "/api/orders/7", &[("X-Api-Key", &house.key)])).await;
    house.assert_ended(&reply, Ending::early(Stage::Quota, Outcome::Internal)).await;
    assert_eq!(house.get("/orders/7").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_in_flight_when_the_gateway_was_killed_is_lost_with_it() {
    let (db, origin) = (TestDatabase::new().await, origin(&Arc::new(Semaphore::new(0))).await);
    let machine = Machine::on(&db.url);
    machine.apply(&catalog(&origin.url()));
    let (_, key) = machine.create_key("acme");
    let toll = machine.serve();
    let mut client = RawClient::connect(toll.url.strip_prefix("http://").unwrap().parse().unwrap()).await;
    client.send(request("GET", "/api/orders/hold", &[("X-Api-Key", &key)])).await;
    origin.until_count(1).await;
    toll.kill();
    assert_eq!(client.rest().await, "");
    // The next process finds what the last one had inside.
    assert_eq!(machine.serve().stop(), Some(0));
    let (funnel, _) = in_the_books(&db.pool, || 1, Ending::late(Outcome::GatewayLost, 0, 0)).await;
    assert_eq!((funnel.upstream_calls, funnel.statuses.no_answer), (origin.count(), 1));
}
