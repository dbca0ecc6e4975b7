//! Reads the whole catalog from the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use app::manifest::TlsFiles;
use http::{HeaderName, HeaderValue, Method};
use sqlx::types::Json;
use sqlx::{PgPool, Row};

use super::tls::Tls;
use super::upstream::BreakerSettings;
use super::{Catalog, Plan, Route, Target, Upstream};

/// The catalog as the database has it now. Targets that `before` knew keep what was seen of them.
pub async fn load(db: &PgPool, before: &Catalog) -> sqlx::Result<Catalog> {
    let mut tx = db.begin().await?;
    sqlx::query("set transaction isolation level repeatable read, read only").execute(&mut *tx).await?;
    let version: i64 = sqlx::query_scalar("select version from catalog_version").fetch_one(&mut *tx).await?;
    let upstreams = sqlx::query(
        "select id, name, urls, connect_timeout_ms, timeout_ms, health, headers, breaker_failures,
                breaker_window_ms, breaker_open_ms, max_in_flight, tls_ca, tls_cert, tls_key
         from upstream where retired_at is null",
    )
    .fetch_all(&mut *tx)
    .await?;
    let plans = sqlx::query(
        "select id, name, capacity, refill_per_second, routes from plan where retired_at is null",
    )
    .fetch_all(&mut *tx)
    .await?;
    let routes = sqlx::query(
        "select id, name, path, upstream_id, strip, methods, access, body_limit, identity, cache, cache_ttl_ms,
                cors, is_off, generation
         from route where retired_at is null",
    )
    .fetch_all(&mut *tx)
    .await?;
    tx.commit().await?;

    let mut by_id = HashMap::new();
    for row in &upstreams {
        let upstream = upstream(row, before)?;
        by_id.insert(upstream.id, Arc::new(upstream));
    }
    let plans = plans.iter().map(plan).collect::<sqlx::Result<_>>()?;
    let mut known = Vec::with_capacity(routes.len());
    for row in &routes {
        if let Some(upstream) = by_id.get(&row.try_get("upstream_id")?) {
            known.push(route(row, upstream.clone())?);
        }
    }
    Ok(Catalog::new(version, known, plans, by_id))
}

fn upstream(row: &sqlx::postgres::PgRow, before: &Catalog) -> sqlx::Result<Upstream> {
    let id: i64 = row.try_get("id")?;
    let name: String = row.try_get("name")?;
    let urls: Vec<String> = row.try_get("urls")?;
    let known = before.upstreams.get(&id);
    let tls = match urls.iter().any(|url| url.starts_with("https://")) {
        true => tls(row, &name)?,
        false => None,
    };
    let tls = tls.as_ref();
    let targets = urls
        .iter()
        .filter_map(|url| {
            let mut targets = known.iter().flat_map(|upstream| &upstream.targets);
            let same = targets.find(|target| target.is_still(url, tls));
            match same {
                Some(target) => Some(target.clone()),
                None => Target::parse(url, tls)
                    .inspect_err(|error| tracing::error!(upstream = name, %error, "url left out"))
                    .map(Arc::new)
                    .ok(),
            }
        })
        .collect();
    let headers: Json<HashMap<String, String>> = row.try_get("headers")?;
    let headers = headers
        .0
        .iter()
        .filter_map(|(header, value)| {
            resolve(header, value)
                .map_err(|why| {
                    tracing::error!(upstream = name, header, why, "header left out");
                })
                .ok()
        })
        .collect();
    let breaker = BreakerSettings {
        failures: row.try_get("breaker_failures")?,
        window: millis(row, "breaker_window_ms")?,
        open_for: millis(row, "breaker_open_ms")?,
        max_in_flight: row.try_get::<i32, _>("max_in_flight")?.max(1) as usize,
    };
    Ok(Upstream::new(
        id,
        name,
        targets,
        millis(row, "connect_timeout_ms")?,
        millis(row, "timeout_ms")?,
        row.try_get("health")?,
        headers,
        breaker,
    ))
}

/// `None`, and told, if a file cannot be used: then no connection is made, rather than one that trusts others.
fn tls(row: &sqlx::postgres::PgRow, upstream: &str) -> sqlx::Result<Option<Arc<Tls>>> {
    let files =
        TlsFiles { ca: row.try_get("tls_ca")?, cert: row.try_get("tls_cert")?, key: row.try_get("tls_key")? };
    Ok(Tls::read(&files)
        .inspect_err(|error| tracing::error!(upstream, %error, "https urls cannot be called"))
        .map(Arc::new)
        .ok())
}

fn plan(row: &sqlx::postgres::PgRow) -> sqlx::Result<Plan> {
    let routes: Option<Vec<String>> = row.try_get("routes")?;
    Ok(Plan {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        capacity: row.try_get("capacity")?,
        refill_per_second: row.try_get("refill_per_second")?,
        routes: routes.map(|routes| routes.into_iter().collect()),
    })
}

fn route(row: &sqlx::postgres::PgRow, upstream: Arc<Upstream>) -> sqlx::Result<Route> {
    let methods: Option<Vec<String>> = row.try_get("methods")?;
    let body_limit: Option<i64> = row.try_get("body_limit")?;
    Ok(Route {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        path: row.try_get("path")?,
        upstream,
        strip: row.try_get("strip")?,
        methods: methods
            .map(|methods| methods.iter().filter_map(|m| Method::from_bytes(m.as_bytes()).ok()).collect()),
        public: row.try_get::<String, _>("access")? == "public",
        body_limit: body_limit.map(|limit| limit as u64),
        identity: row.try_get("identity")?,
        cache: row.try_get("cache")?,
        cache_ttl: millis(row, "cache_ttl_ms")?,
        cors: row.try_get("cors")?,
        off: row.try_get("is_off")?,
        generation: row.try_get("generation")?,
    })
}

fn millis(row: &sqlx::postgres::PgRow, column: &str) -> sqlx::Result<Duration> {
    Ok(Duration::from_millis(row.try_get::<i64, _>(column)?.max(0) as u64))
}

/// Puts environment variables in place of `${NAME}`. The value is marked sensitive: no `Debug` shows it.
fn resolve(header: &str, value: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name = HeaderName::from_bytes(header.as_bytes()).map_err(|_| "not the name of a header")?;
    let mut resolved = String::new();
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        resolved.push_str(&rest[..start]);
        let end = rest[start..].find('}').ok_or("`${` without `}`")? + start;
        let variable =
            std::env::var(&rest[start + 2..end]).map_err(|_| "its environment variable is not set")?;
        resolved.push_str(&variable);
        rest = &rest[end + 1..];
    }
    resolved.push_str(rest);
    let mut value = HeaderValue::from_str(&resolved).map_err(|_| "not the value of a header")?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_takes_its_secret_from_the_environment_and_never_shows_it() {
        let (name, value) = resolve("X-Service-Token", "v1 ${PATH}!").expect("PATH is set");
        assert_eq!(name, "x-service-token");
        assert!(value.to_str().expect("text").ends_with('!'));
        assert_eq!(format!("{value:?}"), "Sensitive");
        assert!(resolve("X-A", "${TOLL_NO_SUCH_VARIABLE}").is_err());
        assert!(resolve("X-A", "${PATH").is_err());
    }
}
