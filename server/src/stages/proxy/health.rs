//! Asks each url of an upstream with `health` every five seconds whether it is well.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use http::header::HOST;
use http::{Request, StatusCode, Uri};
use sqlx::PgPool;
use uuid::Uuid;

use super::connect::{BoxError, Dialer, Fresh, is_short};
use crate::body;
use crate::catalog::{Live, Target, Upstream};

const EVERY: Duration = Duration::from_secs(5);

/// Runs until its task is aborted, on the background runtime. A target is well if it answers 2xx or 3xx in time, on a
/// connection of its own, made as those for requests are. What this node has found is written down for the screens;
/// nothing here depends on whether that succeeds.
pub async fn watch(catalog: Arc<Live>, db: PgPool, node: Uuid) {
    let dialer = Dialer::default();
    loop {
        let snapshot = catalog.now().clone();
        let all = snapshot.upstreams.values();
        let found = join_all(
            all.flat_map(|upstream| upstream.targets.iter().map(|target| check(&dialer, upstream, target))),
        )
        .await;
        let found: Vec<_> = found.into_iter().flatten().collect();
        // A database that is away must not keep the checks waiting.
        let _ = tokio::time::timeout(Duration::from_secs(1), write_down(&db, node, &found)).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// Nothing if the upstream has no path for it.
async fn check(dialer: &Dialer, upstream: &Upstream, target: &Target) -> Option<(i64, String, bool)> {
    let Some(path) = &upstream.health else {
        target.set_healthy(true);
        return None;
    };
    let patience = upstream.timeout.min(EVERY);
    let answer = tokio::time::timeout(patience, ask(dialer, target, path)).await;
    if matches!(&answer, Ok(Err(error)) if is_short(error)) {
        return None;
    }
    let healthy =
        answer.is_ok_and(|answer| answer.is_ok_and(|status| status.is_success() || status.is_redirection()));
    if target.set_healthy(healthy) != healthy {
        tracing::warn!(upstream = upstream.name, target = target.url, healthy, "health changed");
    }
    Some((upstream.id, target.url.clone(), healthy))
}

/// Rows change when health does, and now and then to say that it is still being looked at.
async fn write_down(db: &PgPool, node: Uuid, found: &[(i64, String, bool)]) -> sqlx::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let upstreams: Vec<i64> = found.iter().map(|(upstream, ..)| *upstream).collect();
    let urls: Vec<&str> = found.iter().map(|(_, url, _)| url.as_str()).collect();
    let healthy: Vec<bool> = found.iter().map(|(.., healthy)| *healthy).collect();
    sqlx::query(
        "insert into target_health as seen (node_id, upstream_id, url, healthy, since, checked_at)
         select distinct on (upstream_id, url) $1, upstream_id, url, healthy, now(), now()
         from unnest($2::bigint[], $3::text[], $4::boolean[]) as found (upstream_id, url, healthy)
         on conflict (node_id, upstream_id, url) do update
         set healthy = excluded.healthy, checked_at = now(),
             since = case when seen.healthy = excluded.healthy then seen.since else now() end
         where seen.healthy <> excluded.healthy or seen.checked_at < now() - interval '25 seconds'",
    )
    .bind(node)
    .bind(upstreams)
    .bind(urls)
    .bind(healthy)
    .execute(db)
    .await?;
    Ok(())
}

async fn ask(dialer: &Dialer, target: &Target, path: &str) -> Result<StatusCode, BoxError> {
    let path = format!("{}{path}", target.base);
    let response = match dialer.connect(target, false).await? {
        Fresh::Http1(mut connection) => {
            let mut request = Request::new(body::empty());
            *request.uri_mut() = path.parse()?;
            request.headers_mut().insert(HOST, target.host.clone());
            connection.sender.send_request(request).await?
        }
        Fresh::Http2(mut sender) => {
            let uri = Uri::builder().scheme(target.scheme.clone()).authority(target.authority.clone());
            let mut request = Request::new(body::empty());
            *request.uri_mut() = uri.path_and_query(path).build()?;
            sender.send_request(request).await?
        }
    };
    Ok(response.status())
}
