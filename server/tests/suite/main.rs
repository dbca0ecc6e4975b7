//! Toll through its real router, its real binary and a real PostgreSQL: one behaviour a test, a database a test.
//!
//! Needs `TOLL_TEST_DATABASE_URL`; `end2end/with-postgres.sh cargo test` sets it.
#![cfg(test)]
#![allow(clippy::unwrap_used, reason = "a test may panic: that is how it fails")]

mod announce;
mod breaker;
mod cache;
mod changes;
mod command_line;
mod demo;
mod ending;
mod front;
mod hanging;
mod key_stage;
mod keys;
mod ledger;
mod letting_go;
mod manifest;
mod metrics;
mod outcomes;
mod over_time;
mod people;
mod portal;
mod private_postgres;
mod processes;
mod quota;
mod requests;
mod routes;
mod schema;
mod screens;
mod sheets;
#[allow(dead_code, reason = "not every helper has its suite yet")]
mod support;
mod upstream;
mod verdicts;
