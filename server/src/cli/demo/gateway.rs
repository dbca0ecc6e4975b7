//! The running `toll serve`: found by its settings, asked over loopback only, and what it answered counted by stage.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, bail};
use app::domain::stage::Stage;
use reqwest::{Client, Method, redirect};
use tokio::time::{Instant, sleep};

use crate::config::Config;

/// Above the slowest upstream of the demo.
const ANSWER: Duration = Duration::from_secs(20);
/// For how long a change of the catalog may take to be in force.
const IN_FORCE: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Gateway {
    url: Arc<str>,
    pub tally: Arc<Tally>,
}

/// Requests so far.
#[derive(Default)]
pub struct Tally {
    pub sent: AtomicU64,
    by_stage: [AtomicU64; 6],
    /// Sent, and nobody was there.
    pub unanswered: AtomicU64,
}

/// What a caller learns from an answer.
pub struct Reply {
    pub status: u16,
}

impl Gateway {
    /// Fails with the mend unless a gateway answers where the settings say.
    pub async fn find(config: &Config) -> anyhow::Result<Gateway> {
        let ip = match config.listen.ip() {
            ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
            ip if ip.is_loopback() => ip,
            ip => bail!(
                "the demo sends to loopback only, and toll serve listens on {ip}: let it listen on 127.0.0.1"
            ),
        };
        let address = SocketAddr::new(ip, config.listen.port());
        let gateway = Gateway { url: config.url_of(address).into(), tally: Arc::default() };
        let healthy = client()?.get(format!("{}/healthz", gateway.url)).send().await;
        if !healthy.is_ok_and(|answer| answer.status().is_success()) {
            bail!(
                "no toll serve answers on {}: start it with `toll serve` and the same settings \
                 (`make demo` does so by itself)",
                gateway.url
            );
        }
        Ok(gateway)
    }

    /// Waits until the demo's routes and keys are known there; if they never are, it serves from another database.
    pub async fn knows(&self, key: &str) -> anyhow::Result<()> {
        let (client, deadline) = (client()?, Instant::now() + IN_FORCE);
        let stranger = |reply: Option<Reply>| reply.is_none_or(|reply| matches!(reply.status, 401 | 404));
        while stranger(self.send(&client, Method::GET, "/orders/0", Some(key)).await) {
            if Instant::now() > deadline {
                bail!(
                    "the toll serve on {} does not know the demo's keys: it uses another database; \
                     give the demo the same --data-dir or DATABASE_URL",
                    self.url
                );
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// Sends one request below `/api`; None if nobody answered.
    pub async fn send(
        &self,
        client: &Client,
        method: Method,
        path: &str,
        key: Option<&str>,
    ) -> Option<Reply> {
        let mut request = client.request(method, format!("{}/api{path}", self.url));
        if let Some(key) = key {
            request = request.header("x-api-key", key);
        }
        self.tally.sent.fetch_add(1, Relaxed);
        let Ok(answer) = request.send().await else {
            self.tally.unanswered.fetch_add(1, Relaxed);
            return None;
        };
        let stage = answer.headers().get("x-toll-stage").and_then(|value| value.to_str().ok());
        if let Some(stage) = stage.and_then(Stage::from_name) {
            self.tally.by_stage[stage.index()].fetch_add(1, Relaxed);
        }
        let reply = Reply { status: answer.status().as_u16() };
        // Read to its end, so that the connection serves again.
        let _body = answer.bytes().await;
        Some(reply)
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

/// One for each caller: a connection of its own. Its target is this machine, so that any certificate will do.
pub fn client() -> anyhow::Result<Client> {
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .tls_danger_accept_invalid_certs(true)
        .timeout(ANSWER)
        .user_agent("toll-demo")
        .build()
        .context("no HTTP client")
}

impl Tally {
    pub fn answered(&self) -> u64 {
        self.by_stage.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// `sent 262: route 5, key 20, …`: the stage that answered.
    pub fn line(&self) -> String {
        let counts = Stage::ALL
            .map(|stage| format!("{} {}", stage.name(), self.by_stage[stage.index()].load(Relaxed)));
        let unanswered = match self.unanswered.load(Relaxed) {
            0 => String::new(),
            n => format!(", nobody {n}"),
        };
        format!("sent {}, answered by {}{unanswered}", self.sent.load(Relaxed), counts.join(", "))
    }
}
