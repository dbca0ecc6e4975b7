//! Who calls during the demo, about eight requests a second in all: two busy partners, one that exports an archive which is
//! not there, one with bursts, one that retries its own refusals, one whose keys are wrong, and a stranger. The past has them
//! all at the same pace, so that a chart of both is of one piece.

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
    callers.spawn(busy(gateway.clone(), client()?, keys.acme.text, Duration::from_millis(355)));
    callers.spawn(busy(gateway.clone(), client()?, keys.globex.text.clone(), Duration::from_millis(730)));
    callers.spawn(analyst(gateway.clone(), client()?, keys.globex.text.clone()));
    callers.spawn(exporter(gateway.clone(), client()?, keys.globex.text));
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
            _ => format!("/billing/invoices/{}", random(1_000)),
        };
        gateway.send(&client, Method::GET, &path, Some(&key)).await;
        sleep(jitter(pause)).await;
    }
}

async fn analyst(gateway: Gateway, client: Client, key: String) {
    loop {
        let path = format!("/reports/{}", random(50));
        gateway.send(&client, Method::GET, &path, Some(&key)).await;
        sleep(jitter(Duration::from_secs(8))).await;
    }
}

/// Begins with enough of it to open the archive's breaker, and tries again each minute.
async fn exporter(gateway: Gateway, client: Client, key: String) {
    let mut year = 0;
    loop {
        let (least, most) = if year == 0 { (8, 30) } else { (3, 3) };
        for asked in 1..=most {
            let reply = gateway.send(&client, Method::GET, &format!("/archive/{year}"), Some(&key)).await;
            year += 1;
            let is_shut = reply.is_some_and(|reply| reply.status == 503);
            if asked >= least && is_shut {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        sleep(jitter(Duration::from_secs(60))).await;
    }
}

/// A job on a plan that is too small for it: all at once, and then nothing. No retries.
async fn bursts(gateway: Gateway, client: Client, key: String) {
    loop {
        for order in 0..45 {
            gateway.send(&client, Method::GET, &format!("/orders/{}", order % 12), Some(&key)).await;
            sleep(Duration::from_millis(20)).await;
        }
        sleep(jitter(Duration::from_secs(20 * 60))).await;
    }
}

/// Takes a refusal for an invitation to try again.
async fn hasty(gateway: Gateway, client: Client, key: String) {
    loop {
        let reply = gateway.send(&client, Method::GET, "/orders/1", Some(&key)).await;
        let refused = reply.is_some_and(|reply| reply.status == 429);
        sleep(jitter(Duration::from_millis(if refused { 250 } else { 80 }))).await;
    }
}

/// Each of its wrong keys in turn, once a minute.
async fn lost(gateway: Gateway, client: Client, keys: Lost) {
    let mut unknown = [0; 32];
    rand::rng().fill(&mut unknown);
    let unknown = key_text::key_from(unknown);
    let limited = Some(keys.limited.text.as_str());
    let wrong = [
        None,
        Some("toll_was-pasted-with-a-typo"),
        Some(unknown.as_str()),
        Some(keys.revoked.text.as_str()),
        limited,
        // Last, for it was made with a second to live.
        Some(keys.expired.text.as_str()),
    ];
    loop {
        for key in wrong {
            gateway.send(&client, Method::GET, "/billing/invoices/7", key).await;
            sleep(jitter(Duration::from_millis(500))).await;
        }
        gateway.send(&client, Method::GET, "/orders/7", limited).await;
        sleep(jitter(Duration::from_secs(60))).await;
    }
}

/// Asks for what is not there, and for what must not be done.
async fn stranger(gateway: Gateway, client: Client) {
    loop {
        gateway.send(&client, Method::GET, "/inventory/7", None).await;
        sleep(jitter(Duration::from_secs(2))).await;
        gateway.send(&client, Method::DELETE, "/search/all", None).await;
        sleep(jitter(Duration::from_secs(28))).await;
    }
}

fn random(below: u32) -> u32 {
    rand::rng().random_range(0..below)
}

/// Half to one and a half of it.
fn jitter(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..1.5))
}
