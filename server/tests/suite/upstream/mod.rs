//! The upstream's side of the proxy: what comes from there, whatever it is, and how it is asked.
//!
//! Origins are scripted sockets where a server library would hide the fault, and real servers elsewhere.

mod balancing;
mod faults;
mod framing;
mod headers;
mod http2;
mod http2_faults;
mod interim;
mod raw;
mod reuse;
mod streaming;
mod timeouts;
mod tls;
mod upgrades;

use std::time::Instant;

use app::books::audit::Audit;
use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::window::Window;
use time::OffsetDateTime;

use crate::support::catalog::declare;
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway, create_key};
use raw::{PATIENCE, Wire};

/// A gateway with a route `/api/x` to an upstream.
struct Bench {
    toll: TestGateway,
    key: String,
}

/// Of the upstream: a breaker that never opens, so that one fault does not hide the next.
const PATIENT: &str = "breaker = { failures = 1000 }";
/// Of the route: nothing special.
const PLAIN: &str = "";

impl Bench {
    /// `upstream` and `route` are further lines of the file.
    async fn new(urls: &[String], upstream: &str, route: &str) -> Bench {
        Bench::with(urls, upstream, route, &[]).await
    }

    async fn with(
        urls: &[String],
        upstream: &str,
        route: &str,
        flags: &[(&'static str, &'static str)],
    ) -> Bench {
        let db = TestDatabase::new().await;
        let file = format!(
            "[[upstream]]\nname = \"x\"\nurls = {urls:?}\n{upstream}\n\
             [[plan]]\nname = \"free\"\ncapacity = 100000\nrefill_per_second = 0.0\n\
             [[route]]\nname = \"x\"\npath = \"/x\"\nupstream = \"x\"\n{route}\n\
             [[partner]]\nslug = \"acme\"\nname = \"Acme\"\nplan = \"free\"\n"
        );
        declare(&db.pool, &file).await;
        let key = create_key(&db, "acme").await;
        Bench { toll: TestGateway::on(db, &Options { flags: flags.to_vec() }).await, key }
    }

    async fn client(&self) -> Wire {
        Wire::connect(self.toll.address()).await
    }

    /// A client that has sent the head of a POST with these further lines, and nothing of its body.
    async fn post(&self, lines: &str) -> Wire {
        let mut client = self.client().await;
        client.ask("POST", "/api/x", &self.key, lines).await;
        client
    }

    /// One GET on a connection of its own.
    async fn get(&self, path: &str) -> raw::Answer {
        self.get_with(path, "").await
    }

    async fn get_with(&self, path: &str, lines: &str) -> raw::Answer {
        let mut client = self.client().await;
        client.get(path, &self.key, lines).await;
        client.answer().await
    }

    /// Waits until the books are closed over `requests`: nothing in flight, nothing unaccounted, and all counts agree.
    async fn books(&self, requests: u64) -> Funnel {
        let began = Instant::now();
        loop {
            let now = OffsetDateTime::now_utc();
            let window = Window::new(now - time::Duration::DAY, now + time::Duration::DAY).unwrap();
            let pool = &self.toll.db.pool;
            let funnel = books::funnel(pool, window, &Filter::default()).await.unwrap();
            let closed = (funnel.arrived, funnel.in_flight, funnel.unaccounted);
            if closed == (requests, Some(0), Some(0)) {
                let Audit { agrees, differences, .. } = books::audit::audit(pool, window).await.unwrap();
                if agrees {
                    return funnel;
                }
                assert!(began.elapsed() < PATIENCE, "{differences:?}");
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain for {requests} requests: {funnel:?}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    /// How often requests ended with `outcome` at the proxy stage, once the books are closed over `requests`.
    async fn count(&self, requests: u64, outcome: app::domain::outcome::Outcome) -> i64 {
        self.books(requests).await;
        sqlx::query_scalar("select count(*) from request_log where outcome = $1 and stage = 6")
            .bind(outcome.code())
            .fetch_one(&self.toll.db.pool)
            .await
            .unwrap()
    }
}
