//! A gateway, an upstream that does as its paths say, and a partner for each purpose.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use tokio::sync::Semaphore;

use crate::support::catalog::declare;
use crate::support::client::Reply;
use crate::support::database::TestDatabase;
use crate::support::flaky::Flaky;
use crate::support::gateway::{Options, TestGateway, create_key};
use crate::support::raw::{RawClient, RawOrigin, RawSeen, Step, ask, request};
use crate::support::toll::PATIENCE;

pub struct House {
    pub toll: TestGateway,
    pub origin: RawOrigin,
    /// A permit lets one answer of `/slow` go.
    pub gate: Arc<Semaphore>,
    /// Of `acme`, whose quota is never spent.
    pub key: String,
}

/// What the upstream makes of a path.
fn script(seen: &RawSeen, gate: &Arc<Semaphore>) -> Vec<Step> {
    // Has been stale for ten seconds when it comes.
    let stale = |also: &str| {
        let headers = format!("Cache-Control: max-age=10{also}\r\nAge: 20\r\nETag: \"v1\"\r\n");
        Step::answer("200 OK", &headers, "old")
    };
    let is_conditional = seen.headers.contains_key("if-none-match");
    let head = |length: usize| Step::send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"));
    match seen.target.as_str() {
        "/hold" => vec![Step::Hold],
        "/close" => vec![Step::Close],
        "/fail" => vec![Step::answer("500 Internal Server Error", "", "ill")],
        "/drip" => vec![head(100_000), Step::send("the first few"), Step::Hold],
        "/cut" => vec![head(100_000), Step::send("the first few"), Step::Close],
        "/keep" => vec![Step::answer("200 OK", "Cache-Control: max-age=600\r\nETag: \"v1\"\r\n", "kept")],
        "/stale" => vec![stale(", stale-while-revalidate=600")],
        "/same" if is_conditional => vec![Step::send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n")],
        "/same" => vec![stale("")],
        "/faint" if is_conditional => vec![Step::answer("500 Internal Server Error", "", "ill")],
        "/faint" => vec![stale(", stale-if-error=600")],
        slow if slow.starts_with("/slow") => {
            let answer = Step::answer("200 OK", "Cache-Control: max-age=600\r\n", "slow");
            vec![Step::Wait(gate.clone()), answer]
        }
        "/upgrade" => {
            let switch = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
            vec![Step::send(switch), Step::Echo]
        }
        _ => vec![Step::answer("200 OK", "", "ok")],
    }
}

pub async fn origin(gate: &Arc<Semaphore>) -> RawOrigin {
    let gate = gate.clone();
    RawOrigin::start(move |seen| script(seen, &gate)).await
}

/// Nothing listens on port 9.
pub fn catalog(origin: &str) -> String {
    let upstream = |name: &str, timeout: &str, breaker: &str| {
        format!(
            "[[upstream]]\nname = \"{name}\"\nurls = [\"{origin}\"]\ntimeout = \"{timeout}\"\nbreaker = {breaker}\n\
             [[route]]\nname = \"{name}\"\npath = \"/{name}\"\nupstream = \"{name}\"\n"
        )
    };
    let calm = "{ failures = 1000, window = \"60s\", open_for = \"60s\" }";
    [
        &upstream("orders", "60s", calm),
        // Continues the route above.
        "methods = [\"GET\", \"HEAD\", \"POST\"]\nbody_limit = \"1KiB\"\ncors = [\"https://shop.example\"]\n",
        &upstream("impatient", "300ms", calm),
        &upstream("brittle", "60s", "{ failures = 1, window = \"60s\", open_for = \"60s\" }"),
        &upstream("reviving", "60s", "{ failures = 1, window = \"60s\", open_for = \"500ms\" }"),
        &upstream("narrow", "60s", "{ failures = 1000, window = \"60s\", max_in_flight = 1 }"),
        r#"
[[upstream]]
name = "dead"
urls = ["http://127.0.0.1:9"]
[[route]]
name = "dead"
path = "/dead"
upstream = "dead"
[[route]]
name = "stored"
path = "/stored"
upstream = "orders"
cache = true
[[route]]
name = "closed"
path = "/closed"
upstream = "orders"
cors = ["https://shop.example"]
off = true
[[plan]]
name = "large"
capacity = 1000000
refill_per_second = 0.0
[[plan]]
name = "small"
capacity = 1
refill_per_second = 0.0
[[plan]]
name = "narrow"
capacity = 1000000
refill_per_second = 0.0
routes = ["stored"]
[[partner]]
slug = "acme"
name = "Acme"
plan = "large"
[[partner]]
slug = "thrifty"
name = "Thrifty"
plan = "small"
[[partner]]
slug = "choosy"
name = "Choosy"
plan = "narrow"
[[partner]]
slug = "banned"
name = "Banned"
plan = "large"
suspended = true
[[partner]]
slug = "outcast"
name = "Outcast"
plan = "narrow"
suspended = true
"#,
    ]
    .concat()
}

impl House {
    pub async fn open() -> House {
        House::with(&[]).await
    }

    pub async fn with(flags: &[(&'static str, &'static str)]) -> House {
        let (db, origin, gate, key) = foundations().await;
        let toll = TestGateway::on(db, &Options { flags: flags.to_vec() }).await;
        House { toll, origin, gate, key }
    }

    /// The gateway's database can go away; the test's own view of it stays.
    pub async fn before_a_flaky_database(flags: &[(&'static str, &'static str)]) -> (House, Flaky) {
        let (db, origin, gate, key) = foundations().await;
        let flaky = Flaky::before(&db.url).await;
        let through = TestDatabase { pool: flaky.pool().await, url: db.url.clone() };
        let mut toll = TestGateway::on(through, &Options { flags: flags.to_vec() }).await;
        toll.db = db;
        (House { toll, origin, gate, key }, flaky)
    }

    /// GET with the key of `acme`.
    pub async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[("X-Api-Key", &self.key)]).await
    }

    /// On a connection of its own, with these headers and no others but `Host`.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        ask(self.toll.address(), request(method, &format!("/api{path}"), headers)).await
    }

    /// A request whose answer is not waited for: with the key of `acme`, these headers, and the beginning of a body.
    pub async fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> RawClient {
        let headers: Vec<_> = [("X-Api-Key", self.key.as_str())].iter().chain(headers).copied().collect();
        let mut client = RawClient::connect(self.toll.address()).await;
        client.send(request(method, &format!("/api{path}"), &headers) + body).await;
        client
    }

    /// Waits until so many requests have been counted at the door: who leaves at once could leave before.
    pub async fn until_arrived(&self, count: u64) {
        let (deadline, probe) = (Instant::now() + PATIENCE, self.toll.node.probe());
        while probe().arrived < count {
            assert!(Instant::now() < deadline, "{} arrived, not {count}", probe().arrived);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub async fn key_of(&self, partner: &str) -> String {
        create_key(&self.toll.db, partner).await
    }

    /// A connection of the test's own, for holding locks.
    pub async fn connection(&self) -> PgConnection {
        self.toll.db.pool.acquire().await.unwrap().detach()
    }
}

async fn foundations() -> (TestDatabase, RawOrigin, Arc<Semaphore>, String) {
    let gate = Arc::new(Semaphore::new(0));
    let (db, origin) = (TestDatabase::new().await, origin(&gate).await);
    declare(&db.pool, &catalog(&origin.url())).await;
    let key = create_key(&db, "acme").await;
    (db, origin, gate, key)
}
