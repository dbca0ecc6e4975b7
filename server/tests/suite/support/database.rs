//! A database a test, cloned from a template that is migrated once.

use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use uuid::Uuid;

const TEMPLATE: &str = "toll_template";

pub struct TestDatabase {
    pub pool: PgPool,
    /// As `DATABASE_URL` takes it.
    pub url: String,
}

impl TestDatabase {
    pub async fn new() -> TestDatabase {
        TestDatabase::of(TEMPLATE).await
    }

    /// Not migrated.
    pub async fn empty() -> TestDatabase {
        TestDatabase::of("template0").await
    }

    async fn of(template: &str) -> TestDatabase {
        let server = std::env::var("TOLL_TEST_DATABASE_URL")
            .expect("TOLL_TEST_DATABASE_URL names no PostgreSQL; run: end2end/with-postgres.sh cargo test");
        let mut admin = PgConnection::connect(&server).await.unwrap();
        // Held until the connection closes: cloning needs the template to itself, and a database that nobody has connected to
        // yet looks like one that was left behind.
        sqlx::query("select pg_advisory_lock(7)").execute(&mut admin).await.unwrap();
        ensure_template(&server, &mut admin).await;
        drop_left_behind(&mut admin).await;
        let name = format!("toll_{}", Uuid::now_v7().simple());
        let clone = format!("create database {name} template {template}");
        sqlx::query(AssertSqlSafe(clone)).execute(&mut admin).await.unwrap();
        let url = server.replacen("/postgres?", &format!("/{name}?"), 1);
        let options = PgConnectOptions::from_str(&url).unwrap();
        let pool = PgPoolOptions::new().max_connections(8).connect_with(options).await.unwrap();
        admin.close().await.unwrap();
        TestDatabase { pool, url }
    }
}

/// A test keeps a session as long as it lives. All databases together would fill a small disk.
async fn drop_left_behind(admin: &mut PgConnection) {
    let left: Vec<String> = sqlx::query_scalar(
        "select datname::text from pg_database as d
         where datname ~ '^toll_[0-9a-f]{32}$'
             and not exists (select from pg_stat_activity as a where a.datname = d.datname)
         limit 8",
    )
    .fetch_all(&mut *admin)
    .await
    .unwrap();
    for name in left {
        // Not by force: a session that has come meanwhile keeps it.
        let _kept = sqlx::query(AssertSqlSafe(format!("drop database {name}"))).execute(&mut *admin).await;
    }
}

async fn ensure_template(server: &str, admin: &mut PgConnection) {
    let newest = toll::store::MIGRATIONS.iter().map(|m| hex(&m.checksum)).collect::<Vec<_>>().join("");
    let current: Option<String> = sqlx::query_scalar(
        "select shobj_description(oid, 'pg_database') from pg_database where datname = $1",
    )
    .bind(TEMPLATE)
    .fetch_optional(&mut *admin)
    .await
    .unwrap()
    .flatten();
    if current.as_deref() == Some(newest.as_str()) {
        return;
    }
    for sql in
        [format!("drop database if exists {TEMPLATE} with (force)"), format!("create database {TEMPLATE}")]
    {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut *admin).await.unwrap();
    }
    let url = server.replacen("/postgres?", &format!("/{TEMPLATE}?"), 1);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    toll::store::MIGRATIONS.run(&mut connection).await.unwrap();
    let comment = format!("comment on database {TEMPLATE} is '{newest}'");
    sqlx::query(AssertSqlSafe(comment)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
