//! A catalog in a test's database, by the way that operators take.

use sqlx::PgPool;
use toll::manifest::apply::{ApplyError, Options, apply};
use toll::manifest::diff::Difference;
use toll::manifest::file;

/// The sample that stands beside the browser tests.
pub const SAMPLE: &str = include_str!("../../../../end2end/fixtures/catalog.toml");

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
