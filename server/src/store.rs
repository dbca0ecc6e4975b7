//! The database as the gateway sees it.

/// The schema, compiled in; `toll serve` and `toll migrate` bring a database up to it.
pub static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");
