//! Who calls during the demo, about fifty requests a second in all: two busy partners, one with bursts, one that retries its
//! own refusals, one whose keys are wrong, and a stranger.

use std::time::Duration;

use app::domain::key_text;
use rand::Rng;
use reqwest::{Client, Method};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::gateway::{Gateway, client};
use super::keys::{Keys, Lost};

/// All of them, until the set is dropped.
pub fn start(gateway: &Gateway, keys: Keys) -> anyhow::Result<JoinSet<()>> {
    let mut callers = JoinSet::new();
    // Each waits for its answer, so slow ones need company: a report takes a second.
    for _ in 0..3 {
        callers.spawn(busy(gateway.clone(), client()?, keys.acme.text.clone(), Duration::from_millis(110)));
    }
    callers.spawn(busy(gateway.clone(), client()?, keys.globex.text.clone(), Duration::from_millis(90)));
    callers.spawn(analyst(gateway.clone(), client()?, keys.globex.text));
    callers.spawn(bursts(gateway.clone(), client()?, keys.initech.text));
    callers.spawn(hasty(gateway.clone(), client()?, keys.hasty.text));
    callers.spawn(lost(gateway.clone(), client()?, keys.lost));
    callers.spawn(stranger(gateway.clone(), client()?));
    Ok(callers)
}

/// A shop: mostly the same few orders, some searches and invoices.
async fn busy(gateway: Gateway, client: Client, key: String, pause: Duration) {
    loop {
        let path = match random(100) {
            0..55 => format!("/orders/{}", random(12)),
            55..75 => format!("/search/all?q={}", random(u32::MAX)),
            75..97 => format!("/billing/invoices/{}", random(1_000)),
            _ => format!("/archive/{}", random(1_000)),
        };
        gateway.send(&client, Method::GET, &path, Some(&key)).await;
        sleep(jitter(pause)).await;
    }
}

async fn analyst(gateway: Gateway, client: Client, key: String) {
    loop {
        let path = format!("/reports/{}", random(50));
        gateway.send(&client, Method::GET, &path, Some(&key)).await;
        sleep(jitter(Duration::from_millis(700))).await;
    }
}

/// A nightly job on a plan that is too small for it: all at once, and then nothing. No retries.
async fn bursts(gateway: Gateway, client: Client, key: String) {
    loop {
        for order in 0..30 {
            gateway.send(&client, Method::GET, &format!("/orders/{}", order % 12), Some(&key)).await;
            sleep(Duration::from_millis(20)).await;
        }
        sleep(jitter(Duration::from_secs(45))).await;
    }
}

/// Takes a refusal for an invitation to try again.
async fn hasty(gateway: Gateway, client: Client, key: String) {
    loop {
        let reply = gateway.send(&client, Method::GET, "/orders/1", Some(&key)).await;
        let refused = reply.is_some_and(|reply| reply.status == 429);
        sleep(jitter(Duration::from_millis(if refused { 80 } else { 160 }))).await;
    }
}

async fn lost(gateway: Gateway, client: Client, keys: Lost) {
    let mut unknown = [0; 32];
    rand::rng().fill(&mut unknown);
    let unknown = key_text::key_from(unknown);
    let wrong = [
        None,
        Some("toll_was-pasted-with-a-typo"),
        Some(unknown.as_str()),
        Some(keys.revoked.text.as_str()),
        Some(keys.expired.text.as_str()),
        Some(keys.limited.text.as_str()),
    ];
    loop {
        for key in wrong {
            gateway.send(&client, Method::GET, "/billing/invoices/7", key).await;
            sleep(jitter(Duration::from_millis(250))).await;
        }
        gateway.send(&client, Method::GET, "/orders/7", wrong[5]).await;
    }
}

/// Asks for what is not there, and for what must not be done.
async fn stranger(gateway: Gateway, client: Client) {
    loop {
        gateway.send(&client, Method::GET, "/inventory/7", None).await;
        sleep(jitter(Duration::from_secs(1))).await;
        gateway.send(&client, Method::DELETE, "/search/all", None).await;
        sleep(jitter(Duration::from_secs(2))).await;
    }
}

fn random(below: u32) -> u32 {
    rand::rng().random_range(0..below)
}

/// Half to one and a half of it.
fn jitter(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..1.5))
}
