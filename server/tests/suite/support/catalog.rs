//! A catalog in a test's database, by the way that operators take.

use sqlx::PgPool;
use toll::manifest::apply::{ApplyError, Options, apply};
use toll::manifest::diff::Difference;
use toll::manifest::file;

/// The sample that stands beside the browser tests.
pub const SAMPLE: &str = include_str!("../../../../end2end/fixtures/catalog.toml");

/// A file with one route, `/orders`, to an upstream at `url`, and one partner, `acme`, on a plan of this size. `upstream`
/// are further lines of the first.
pub fn orders(url: &str, upstream: &str, capacity: u32, refill: f64) -> String {
    format!(
        r#"
[[upstream]]
name = "orders"
urls = ["{url}"]
{upstream}

[[route]]
name = "orders"
path = "/orders"
upstream = "orders"

[[plan]]
name = "free"
capacity = {capacity}
refill_per_second = {refill:?}

[[partner]]
slug = "acme"
plan = "free"
"#
    )
}

/// The same where nobody asks the upstream.
pub fn plain() -> String {
    orders("http://127.0.0.1:9", "", 60, 1.0)
}

/// Applies the text of a file; whatever is wrong with it fails the test.
pub async fn declare(db: &PgPool, text: &str) -> Difference {
    declare_with(db, text, Options::default()).await
}

pub async fn declare_with(db: &PgPool, text: &str, options: Options<'_>) -> Difference {
    apply(db, &file::read(text), options).await.unwrap()
}

/// What is wrong with the text, as `LINE: message`; fails the test if nothing is.
pub async fn faults(db: &PgPool, text: &str, options: Options<'_>) -> Vec<String> {
    match apply(db, &file::read(text), options).await {
        Err(ApplyError::Wrong(problems)) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("not refused: {other:?}\n{text}"),
    }
}
