//! Verdicts on real traffic: what operators and partners read after it went through a real gateway.

mod brief;
mod contrary;
mod history;
mod partners;
mod past;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use app::domain::verdict::{Evidence, Verdict, Who, verdicts};
use app::domain::window::Window;
use app::evidence;
use futures::future::join_all;
use time::OffsetDateTime;

use crate::support::catalog::declare;
use crate::support::client::{Reply, client, get};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway, create_key};
use crate::support::origin::Origin;

/// Three upstreams at one origin, and partners with a key each.
struct Scene {
    toll: TestGateway,
    keys: Vec<String>,
}

/// `orders` with and `billing` without a cache, `archive` that nobody calls. `plan` and `breaker` as in the file.
async fn scene(origin: &Origin, plan: &str, breaker: &str, partners: &[&str]) -> Scene {
    let db = TestDatabase::new().await;
    let mut file = format!("[[plan]]\nname = \"free\"\n{plan}\n");
    for name in ["orders", "billing", "archive"] {
        file += &format!(
            r#"
            [[upstream]]
            name = "{name}"
            urls = ["{}"]
            breaker = {breaker}
            [[route]]
            name = "{name}"
            path = "/{name}"
            upstream = "{name}"
            cache = {}
            "#,
            origin.url(),
            name == "orders",
        );
    }
    for slug in partners {
        file += &format!("[[partner]]\nslug = \"{slug}\"\nname = \"{slug}\"\nplan = \"free\"\n");
    }
    declare(&db.pool, &file).await;
    let mut keys = Vec::new();
    for slug in partners {
        keys.push(create_key(&db, slug).await);
    }
    Scene { toll: TestGateway::on(db, &Options::default()).await, keys }
}

const AMPLE: &str = "capacity = 100000\nrefill_per_second = 0.0";
/// So many failures that the door stays open.
const PATIENT: &str = "{ failures = 1000, max_in_flight = 10000 }";

impl Scene {
    async fn get(&self, partner: usize, path: &str) -> Reply {
        get(&client(), &self.toll.url(path), &self.keys[partner]).await
    }

    /// One after the other, as a caller does that waits for its answers.
    async fn in_turn(&self, partner: usize, path: &str, requests: usize) -> Vec<Reply> {
        let (client, url) = (client(), self.toll.url(path));
        let mut replies = Vec::new();
        for _ in 0..requests {
            replies.push(get(&client, &url, &self.keys[partner]).await);
        }
        replies
    }

    /// Orders, one after the other.
    async fn post(&self, partner: usize, bodies: impl IntoIterator<Item = String>) -> Vec<Reply> {
        let (client, url) = (client(), self.toll.url("/api/billing"));
        let mut replies = Vec::new();
        for body in bodies {
            replies
                .push(Reply::of(client.post(&url).header("x-api-key", &self.keys[partner]).body(body)).await);
        }
        replies
    }

    /// All at once.
    async fn burst(&self, partner: usize, path: &str, requests: usize) -> Vec<Reply> {
        let (client, url) = (client(), self.toll.url(path));
        join_all((0..requests).map(|_| get(&client, &url, &self.keys[partner]))).await
    }

    /// The id of a partner.
    async fn partner(&self, slug: &str) -> i64 {
        sqlx::query_scalar("select id from partner where slug = $1")
            .bind(slug)
            .fetch_one(&self.toll.db.pool)
            .await
            .unwrap()
    }

    /// Evidence of the last 15 minutes, once it has so many requests.
    async fn evidence(&self, who: Who, requests: u64) -> Evidence {
        let began = Instant::now();
        loop {
            let arrived = self.read(who).await.all.now.arrived;
            if arrived == requests {
                // Who stands out was looked for in a snapshot of a moment before.
                return self.read(who).await;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{arrived} of {requests} arrived");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn read(&self, who: Who) -> Evidence {
        let window = Window::last(time::Duration::minutes(15), OffsetDateTime::now_utc());
        evidence::read(&self.toll.db.pool, window, who).await.unwrap().evidence
    }

    async fn verdicts(&self, who: Who, requests: u64) -> Vec<Verdict> {
        verdicts(&self.evidence(who, requests).await)
    }

    /// What operators read.
    async fn said(&self, requests: u64) -> Vec<String> {
        self.verdicts(Who::Ops, requests).await.iter().map(Verdict::text).collect()
    }

    async fn wait_for_open(&self) {
        let began = Instant::now();
        let open = "select count(*) from breaker where state = 'open'";
        while sqlx::query_scalar::<_, i64>(open).fetch_one(&self.toll.db.pool).await.unwrap() == 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "the breaker did not open");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // Until this node has seen its own transition.
        while self.get(0, "/api/billing").await.outcome() != "breaker_open" {
            assert!(began.elapsed() < Duration::from_secs(20), "the door stayed open");
        }
    }
}

/// How many of the answers had this outcome.
fn count(replies: &[Reply], outcome: &str) -> u64 {
    replies.iter().filter(|reply| reply.outcome() == outcome).count() as u64
}

/// An upstream that can be broken.
async fn breakable(broken: Arc<AtomicBool>) -> Origin {
    Origin::start(move |_| {
        let status = if broken.load(Ordering::SeqCst) { 503 } else { 200 };
        async move { http::Response::builder().status(status).body("body".into()).unwrap() }
    })
    .await
}

fn assert_names_nobody(said: &[String], partners: &[&str]) {
    for partner in partners {
        assert!(!said.iter().any(|text| text.contains(partner)), "{partner} is accused: {said:#?}");
    }
}
