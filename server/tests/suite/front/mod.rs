//! HTTP on the client's side of the gateway. Raw sockets on both sides: a library would hide what is tested here.

mod bodies;
mod chunks;
mod cors;
mod expect;
mod forwarding;
mod frames;
mod framing;
mod hosts;
mod http2;
mod http2_rules;
mod limits;
mod raw;
mod slow;
mod targets;
mod tls;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use raw::{RawClient, RawOrigin, RawReply};

use crate::support::catalog::declare;
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway};

/// A gateway before a raw upstream.
struct Front {
    toll: TestGateway,
    origin: RawOrigin,
}

const ROUTES: &str = r#"
    [[route]]
    name = "orders"
    path = "/orders"
    upstream = "orders"
    access = "public"
    [[route]]
    name = "whole"
    path = "/whole"
    upstream = "orders"
    access = "public"
    strip = false
    [[route]]
    name = "limited"
    path = "/limited"
    upstream = "orders"
    access = "public"
    body_limit = "1KiB"
    [[route]]
    name = "large"
    path = "/large"
    upstream = "orders"
    access = "public"
    body_limit = "200KiB"
    [[route]]
    name = "streamed"
    path = "/streamed"
    upstream = "orders"
    access = "public"
    body_limit = "none"
    [[route]]
    name = "listed"
    path = "/listed"
    upstream = "orders"
    access = "public"
    methods = ["GET", "HEAD"]
    [[route]]
    name = "shop"
    path = "/shop"
    upstream = "orders"
    access = "public"
    cors = ["https://shop.example"]
    [[route]]
    name = "keyed"
    path = "/keyed"
    upstream = "orders"
    cors = ["https://shop.example"]
"#;

impl Front {
    async fn start() -> Front {
        Front::before(RawOrigin::ok().await, &[]).await
    }

    async fn before(origin: RawOrigin, flags: &[(&'static str, &'static str)]) -> Front {
        let db = TestDatabase::new().await;
        let upstream = format!(
            "[[upstream]]\nname = \"orders\"\nurls = [\"http://{}\"]\nheaders = {{ X-Service-Token = \"s\" }}\n",
            origin.address
        );
        declare(&db.pool, &(upstream + ROUTES)).await;
        let toll = TestGateway::on(db, &Options { flags: flags.to_vec() }).await;
        Front { toll, origin }
    }

    async fn connect(&self) -> RawClient {
        RawClient::connect(self.toll.address()).await
    }

    /// One request on a connection of its own.
    async fn ask(&self, bytes: impl AsRef<[u8]>) -> RawReply {
        self.connect().await.ask(bytes).await
    }

    /// How requests ended, once none is inside: they must add up to those that arrived.
    async fn books(&self) -> BTreeMap<String, u64> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let counters = self.toll.node.ledger.counters();
            let ended: u64 = counters.ended.values().sum();
            assert_eq!(counters.arrived, ended + counters.in_flight);
            if counters.in_flight == 0 {
                let mut books = BTreeMap::new();
                for (end, count) in &counters.ended {
                    *books.entry(format!("{} {}", end.stage.name(), end.outcome.name())).or_default() +=
                        count;
                }
                return books;
            }
            assert!(Instant::now() < deadline, "a request is still inside");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Until a request has begun.
    async fn until_inside(&self) {
        while self.toll.node.ledger.counters().in_flight == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn unreadable(&self) -> u64 {
        self.toll.node.gateway.unreadable.load(Ordering::Relaxed)
    }
}

fn books<const N: usize>(ends: [(&str, u64); N]) -> BTreeMap<String, u64> {
    ends.into_iter().map(|(end, count)| (end.to_owned(), count)).collect()
}
