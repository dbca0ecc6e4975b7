//! A gateway with a cached route before a scripted origin, and a partner who calls.

use std::time::Duration;

use app::books::audit::audit;
use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::window::Window;
use http::Method;
use time::OffsetDateTime;

use super::origin::{Answer, Origin};
use crate::support::catalog::declare;
use crate::support::client::{Reply, client};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway, create_key};

pub struct World {
    pub origin: Origin,
    pub toll: TestGateway,
    pub key: String,
    pub client: reqwest::Client,
}

impl World {
    pub async fn new() -> World {
        World::with("").await
    }

    /// `more`: lines of the route beside `cache = true`.
    pub async fn with(more: &str) -> World {
        World::of(|origin| catalog(origin, more)).await
    }

    pub async fn of(catalog: impl Fn(&Origin) -> String) -> World {
        let (origin, db) = (Origin::start().await, TestDatabase::new().await);
        declare(&db.pool, &catalog(&origin)).await;
        let key = create_key(&db, "acme").await;
        World { origin, toll: TestGateway::on(db, &Options::default()).await, key, client: client() }
    }

    pub fn url(&self, target: &str) -> String {
        self.toll.url(&format!("/api/c{target}"))
    }

    pub async fn get(&self, target: &str) -> Reply {
        self.ask(Method::GET, target, &[]).await
    }

    pub async fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask(Method::GET, target, headers).await
    }

    pub async fn head(&self, target: &str) -> Reply {
        self.ask(Method::HEAD, target, &[]).await
    }

    pub async fn ask(&self, method: Method, target: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.client.request(method, self.url(target)).header("x-api-key", &self.key);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Reply::of(request).await
    }

    /// Asks `target` twice, once it has this script, and returns the second answer.
    pub async fn twice(&self, target: &str, answers: impl IntoIterator<Item = Answer>) -> Reply {
        self.origin.at(target, answers);
        self.get(target).await;
        self.get(target).await
    }

    /// Waits until the origin was asked so often for `target`.
    pub async fn asked(&self, target: &str, times: usize) {
        until(|| self.origin.asked(target) >= times, "the origin was not asked").await;
    }

    /// Waits until all is in the books: everything that the client asked, and every call that the origin saw.
    pub async fn books(&self, arrived: u64) -> Funnel {
        let calls = self.origin.seen().len() as u64;
        for _ in 0..1_000 {
            let funnel = funnel(&self.toll).await;
            if funnel.arrived == arrived && funnel.in_flight == Some(0) && funnel.upstream_calls == calls {
                assert_eq!(funnel.unaccounted, Some(0), "{funnel:?}");
                let window = window();
                let audit = audit(&self.toll.db.pool, window).await.unwrap();
                assert!(audit.agrees, "{audit:?}");
                return funnel;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{arrived} requests and {calls} calls are not in the books: {:?}", funnel(&self.toll).await);
    }
}

fn window() -> Window {
    let now = OffsetDateTime::now_utc();
    Window::new(now - time::Duration::HOUR, now + time::Duration::minutes(2)).unwrap()
}

async fn funnel(toll: &TestGateway) -> Funnel {
    books::funnel(&toll.db.pool, window(), &Filter::default()).await.unwrap()
}

/// Waits for a condition.
pub async fn until(holds: impl Fn() -> bool, otherwise: &str) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{otherwise} within fifteen seconds");
}

pub fn catalog(origin: &Origin, more: &str) -> String {
    format!(
        r#"
        [[upstream]]
        name = "origin"
        urls = ["{}"]
        timeout = "5s"
        breaker = {{ failures = 1000 }}
        [[plan]]
        name = "free"
        capacity = 100000
        refill_per_second = 0.0
        [[route]]
        name = "cached"
        path = "/c"
        upstream = "origin"
        cache = true
        {more}
        [[partner]]
        slug = "acme"
        name = "Acme"
        plan = "free"
        "#,
        origin.url()
    )
}
