//! The catalog's tables, read as a manifest.

use std::collections::BTreeMap;

use sqlx::types::Json;
use sqlx::{PgConnection, Row};

use super::values::sorted;
use super::{Access, Breaker, Kind, Manifest, Partner, Plan, Route, TlsFiles, Upstream};

/// What the database declares now, and the ids of its rows. Retired ones are left out.
#[derive(Debug, Default)]
pub struct State {
    pub manifest: Manifest,
    pub ids: BTreeMap<(Kind, String), i64>,
}

/// Makes a transaction that has just begun see one moment only, for those who read and do not write.
pub async fn freeze(conn: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("set transaction isolation level repeatable read, read only").execute(conn).await?;
    Ok(())
}

pub async fn read(conn: &mut PgConnection) -> sqlx::Result<State> {
    let mut state = State::default();
    let upstreams = sqlx::query(
        "select id, name, urls, connect_timeout_ms, timeout_ms, health, headers, breaker_failures, breaker_window_ms,
                breaker_open_ms, max_in_flight, tls_ca, tls_cert, tls_key
         from upstream
         where retired_at is null",
    );
    for row in upstreams.fetch_all(&mut *conn).await? {
        let name: String = row.try_get("name")?;
        let upstream = Upstream {
            urls: row.try_get("urls")?,
            connect_timeout_ms: row.try_get("connect_timeout_ms")?,
            timeout_ms: row.try_get("timeout_ms")?,
            health: row.try_get("health")?,
            headers: row.try_get::<Json<BTreeMap<String, String>>, _>("headers")?.0,
            tls: TlsFiles {
                ca: row.try_get("tls_ca")?,
                cert: row.try_get("tls_cert")?,
                key: row.try_get("tls_key")?,
            },
            breaker: Breaker {
                failures: row.try_get("breaker_failures")?,
                window_ms: row.try_get("breaker_window_ms")?,
                open_ms: row.try_get("breaker_open_ms")?,
                max_in_flight: row.try_get("max_in_flight")?,
            },
        };
        state.ids.insert((Kind::Upstream, name.clone()), row.try_get("id")?);
        state.manifest.upstreams.insert(name, upstream);
    }

    let plans = sqlx::query(
        "select id, name, capacity, refill_per_second, max_keys, routes, sign_up from plan where retired_at is null",
    );
    for row in plans.fetch_all(&mut *conn).await? {
        let name: String = row.try_get("name")?;
        let plan = Plan {
            capacity: row.try_get("capacity")?,
            refill_per_second: row.try_get("refill_per_second")?,
            max_keys: row.try_get("max_keys")?,
            routes: row.try_get::<Option<Vec<String>>, _>("routes")?.map(sorted),
            sign_up: row.try_get("sign_up")?,
        };
        state.ids.insert((Kind::Plan, name.clone()), row.try_get("id")?);
        state.manifest.plans.insert(name, plan);
    }

    // A row that goes to a retired one reads as going nowhere, so that a successor of the same name is a difference.
    let routes = sqlx::query(
        "select route.id, route.name, path, coalesce(upstream.name, '') as upstream, strip, methods, access,
                body_limit, identity, cache, cache_ttl_ms, cors, is_off
         from route left join upstream on upstream.id = upstream_id and upstream.retired_at is null
         where route.retired_at is null",
    );
    for row in routes.fetch_all(&mut *conn).await? {
        let name: String = row.try_get("name")?;
        let route = Route {
            path: row.try_get("path")?,
            upstream: row.try_get("upstream")?,
            strip: row.try_get("strip")?,
            methods: row.try_get::<Option<Vec<String>>, _>("methods")?.map(sorted),
            access: match row.try_get::<&str, _>("access")? {
                "public" => Access::Public,
                _ => Access::Key,
            },
            body_limit: row.try_get("body_limit")?,
            identity: row.try_get("identity")?,
            cache: row.try_get("cache")?,
            cache_ttl_ms: row.try_get("cache_ttl_ms")?,
            cors: sorted(row.try_get("cors")?),
            off: row.try_get("is_off")?,
        };
        state.ids.insert((Kind::Route, name.clone()), row.try_get("id")?);
        state.manifest.routes.insert(name, route);
    }

    let partners = sqlx::query(
        "select partner.id, slug, partner.name, coalesce(plan.name, '') as plan, suspended
         from partner left join plan on plan.id = plan_id and plan.retired_at is null
         where partner.retired_at is null",
    );
    for row in partners.fetch_all(&mut *conn).await? {
        let slug: String = row.try_get("slug")?;
        let partner = Partner {
            name: row.try_get("name")?,
            plan: row.try_get("plan")?,
            suspended: row.try_get("suspended")?,
        };
        state.ids.insert((Kind::Partner, slug.clone()), row.try_get("id")?);
        state.manifest.partners.insert(slug, partner);
    }
    Ok(state)
}
