//! The statements that make the tables as the file says, a row each.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use sqlx::types::Json;

use super::{Kind, Partner, Plan, Route, Upstream};

/// Ids of the rows that names stand for.
pub type Ids = BTreeMap<(Kind, String), i64>;

/// Inserts the row, or makes the one that `id` names as `upstream`.
pub async fn upstream(
    conn: &mut PgConnection,
    id: Option<i64>,
    name: &str,
    upstream: &Upstream,
) -> sqlx::Result<i64> {
    let statement = match id {
        None => {
            "with made as (
                 insert into upstream (name, urls, connect_timeout_ms, timeout_ms, health, headers, breaker_failures,
                                       breaker_window_ms, breaker_open_ms, max_in_flight, tls_ca, tls_cert, tls_key)
                 values ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                 returning id
             ),
             -- Nodes count on a row to lock from the first call on.
             closed as (insert into breaker (upstream_id) select id from made)
             select id from made"
        }
        Some(_) => {
            "update upstream
             set name = $2, urls = $3, connect_timeout_ms = $4, timeout_ms = $5, health = $6, headers = $7,
                 breaker_failures = $8, breaker_window_ms = $9, breaker_open_ms = $10, max_in_flight = $11,
                 tls_ca = $12, tls_cert = $13, tls_key = $14
             where id = $1
             returning id"
        }
    };
    sqlx::query_scalar(statement)
        .bind(id)
        .bind(name)
        .bind(&upstream.urls)
        .bind(upstream.connect_timeout_ms)
        .bind(upstream.timeout_ms)
        .bind(&upstream.health)
        .bind(Json(&upstream.headers))
        .bind(upstream.breaker.failures)
        .bind(upstream.breaker.window_ms)
        .bind(upstream.breaker.open_ms)
        .bind(upstream.breaker.max_in_flight)
        .bind(&upstream.tls.ca)
        .bind(&upstream.tls.cert)
        .bind(&upstream.tls.key)
        .fetch_one(conn)
        .await
}

/// Inserts the row, or makes the one that `id` names as `plan`.
pub async fn plan(conn: &mut PgConnection, id: Option<i64>, name: &str, plan: &Plan) -> sqlx::Result<i64> {
    let statement = match id {
        None => {
            "insert into plan (name, capacity, refill_per_second, max_keys, routes, sign_up)
             values ($2, $3, $4, $5, $6, $7)
             returning id"
        }
        Some(_) => {
            "update plan
             set name = $2, capacity = $3, refill_per_second = $4, max_keys = $5, routes = $6, sign_up = $7
             where id = $1
             returning id"
        }
    };
    sqlx::query_scalar(statement)
        .bind(id)
        .bind(name)
        .bind(plan.capacity)
        .bind(plan.refill_per_second)
        .bind(plan.max_keys)
        .bind(&plan.routes)
        .bind(plan.sign_up)
        .fetch_one(conn)
        .await
}

/// Takes their paths from routes that are about to be given others: two routes may exchange theirs, and the index that
/// keeps paths apart looks after each statement. No request can ask for a path with a line feed.
pub async fn park_paths(conn: &mut PgConnection, routes: &[i64]) -> sqlx::Result<()> {
    sqlx::query("update route set path = '/' || chr(10) || id where id = any($1)")
        .bind(routes)
        .execute(conn)
        .await?;
    Ok(())
}

/// Inserts the row, or makes the one that `id` names as `route`, in a new generation: what is stored of it is forgotten.
pub async fn route(
    conn: &mut PgConnection,
    id: Option<i64>,
    upstream: i64,
    name: &str,
    route: &Route,
) -> sqlx::Result<i64> {
    let statement = match id {
        None => {
            "insert into route (name, path, upstream_id, strip, methods, access, body_limit, identity, cache,
                                cache_ttl_ms, cors, is_off)
             values ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
             returning id"
        }
        Some(_) => {
            "update route
             set name = $2, path = $3, upstream_id = $4, strip = $5, methods = $6, access = $7, body_limit = $8,
                 identity = $9, cache = $10, cache_ttl_ms = $11, cors = $12, is_off = $13, generation = generation + 1
             where id = $1
             returning id"
        }
    };
    sqlx::query_scalar(statement)
        .bind(id)
        .bind(name)
        .bind(&route.path)
        .bind(upstream)
        .bind(route.strip)
        .bind(&route.methods)
        .bind(route.access.word())
        .bind(route.body_limit)
        .bind(route.identity)
        .bind(route.cache)
        .bind(route.cache_ttl_ms)
        .bind(&route.cors)
        .bind(route.off)
        .fetch_one(conn)
        .await
}

/// Another generation for the routes of `upstreams` that did not get one already: they answer from somewhere else now.
pub async fn renew_routes(conn: &mut PgConnection, upstreams: &[i64], but: &[i64]) -> sqlx::Result<()> {
    sqlx::query(
        "update route set generation = generation + 1
         where upstream_id = any($1) and id <> all($2) and retired_at is null",
    )
    .bind(upstreams)
    .bind(but)
    .execute(conn)
    .await?;
    Ok(())
}

/// Inserts the row with a full bucket, or makes the one that `id` names as `partner`.
pub async fn partner(
    conn: &mut PgConnection,
    id: Option<i64>,
    plan: i64,
    slug: &str,
    partner: &Partner,
) -> sqlx::Result<i64> {
    let statement = match id {
        None => {
            "with made as (
                 insert into partner (slug, name, plan_id, suspended) values ($2, $3, $4, $5)
                 returning id, plan_id
             ),
             full_bucket as (
                 insert into bucket (partner_id, tokens)
                 select made.id, plan.capacity from made join plan on plan.id = made.plan_id
             )
             select id from made"
        }
        Some(_) => {
            "update partner set slug = $2, name = $3, plan_id = $4, suspended = $5 where id = $1
             returning id"
        }
    };
    sqlx::query_scalar(statement)
        .bind(id)
        .bind(slug)
        .bind(&partner.name)
        .bind(plan)
        .bind(partner.suspended)
        .fetch_one(conn)
        .await
}

/// Retires the row. Of a partner, its keys are revoked too; gives their hashes.
pub async fn retire(conn: &mut PgConnection, kind: Kind, id: i64) -> sqlx::Result<Vec<[u8; 32]>> {
    let statement = match kind {
        Kind::Upstream => "update upstream set retired_at = now() where id = $1",
        Kind::Plan => "update plan set retired_at = now() where id = $1",
        Kind::Route => "update route set retired_at = now() where id = $1",
        Kind::Partner => "update partner set retired_at = now() where id = $1",
    };
    sqlx::query(statement).bind(id).execute(&mut *conn).await?;
    if kind != Kind::Partner {
        return Ok(Vec::new());
    }
    sqlx::query_scalar(
        "update api_key set revoked_at = now()
         where partner_id = $1 and (revoked_at is null or revoked_at > now())
         returning hash",
    )
    .bind(id)
    .fetch_all(conn)
    .await
}
