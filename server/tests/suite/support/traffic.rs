//! Requests that have ended, put into the books by the ledger's own statement.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use sqlx::PgPool;
use time::OffsetDateTime;
use toll::ledger::past::Past;
use toll::ledger::record::{End, Record};
use uuid::Uuid;

/// Ids of what the requests are of.
#[derive(Clone, Copy, Debug)]
pub struct Catalog {
    pub upstream: i64,
    /// `orders` and `billing`.
    pub routes: [i64; 2],
    /// `acme` and `globex`.
    pub partners: [i64; 2],
    /// One of each.
    pub keys: [i64; 2],
}

pub async fn catalog(db: &PgPool) -> Catalog {
    let upstream = sqlx::query_scalar(
        "insert into upstream (name, urls) values ('billing', '{http://127.0.0.1:9}') returning id",
    );
    let upstream: i64 = upstream.fetch_one(db).await.unwrap();
    let mut catalog = Catalog { upstream, routes: [0; 2], partners: [0; 2], keys: [0; 2] };
    for (n, name) in ["orders", "billing"].into_iter().enumerate() {
        let route = sqlx::query_scalar(
            "insert into route (name, path, upstream_id) values ($1, '/' || $1, $2) returning id",
        );
        catalog.routes[n] = route.bind(name).bind(upstream).fetch_one(db).await.unwrap();
    }
    for (n, slug) in ["acme", "globex"].into_iter().enumerate() {
        catalog.partners[n] = crate::people::partner(db, slug).await;
        let key = sqlx::query_scalar(
            "insert into api_key (partner_id, name, hash, start) values ($1, $2, sha256($2::bytea), 'toll_12345') returning id",
        );
        catalog.keys[n] =
            key.bind(catalog.partners[n]).bind(format!("{slug}'s")).fetch_one(db).await.unwrap();
    }
    catalog
}

/// A request that ended like this; reached the upstream if it was forwarded.
pub fn ended(stage: Stage, outcome: Outcome) -> Record {
    let status = if outcome.status() == 0 { 200 } else { outcome.status() };
    let reached = outcome == Outcome::Forwarded;
    let mut record = Record::new(Uuid::nil(), 0);
    record.method = "GET".into();
    record.path = "/api/orders/7".into();
    record.duration_us = 3_000;
    record.end =
        Some(End { stage, outcome, status, reached, upstream_status: if reached { status } else { 0 } });
    record
}

/// All requests of some minutes, evenly over each.
pub async fn write(db: &PgPool, minutes: Vec<(OffsetDateTime, Vec<Record>)>) {
    let mut past = Past::open(db).await.unwrap();
    for (at, records) in minutes {
        past.write(at.unix_timestamp().div_euclid(60), records).await.unwrap();
    }
    past.close().await.unwrap();
}
