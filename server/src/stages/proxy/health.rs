//! Asks each url of an upstream with `health` every five seconds whether it is well.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::catalog::{Live, Target, Upstream};

const EVERY: Duration = Duration::from_secs(5);

/// Runs until its task is aborted, on the background runtime. A target is well if it answers 2xx or 3xx in time.
pub async fn watch(catalog: Arc<Live>) {
    let client = match reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build() {
        Ok(client) => client,
        Err(error) => return tracing::error!(%error, "no health checks"),
    };
    loop {
        let snapshot = catalog.now().clone();
        let all = snapshot.upstreams.values();
        join_all(
            all.flat_map(|upstream| upstream.targets.iter().map(|target| check(&client, upstream, target))),
        )
        .await;
        tokio::time::sleep(EVERY).await;
    }
}

async fn check(client: &reqwest::Client, upstream: &Upstream, target: &Target) {
    let Some(path) = &upstream.health else {
        target.set_healthy(true);
        return;
    };
    let url = format!("{}{path}", target.url.trim_end_matches('/'));
    let answer = client.get(url).timeout(upstream.timeout.min(EVERY)).send().await;
    let healthy = answer.is_ok_and(|answer| answer.status().is_success() || answer.status().is_redirection());
    if target.set_healthy(healthy) != healthy {
        tracing::warn!(upstream = upstream.name, target = target.url, healthy, "health changed");
    }
}
