//! A gateway in this process: real sockets, a database of its own, threads of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use app::domain::key_text;
use rand::Rng;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use toll::config::{Config, Layers};
use toll::node::Node;
use toll::sockets::Sockets;

use super::database::TestDatabase;
use super::toll::PATIENCE;

pub struct TestGateway {
    pub db: TestDatabase,
    pub node: Node,
    pub data: TempDir,
}

/// What a test may say about its gateway; the rest is as in production, on a free port.
#[derive(Default)]
pub struct Options {
    pub flags: Vec<(&'static str, &'static str)>,
}

impl TestGateway {
    pub async fn start() -> TestGateway {
        TestGateway::on(TestDatabase::new().await, &Options::default()).await
    }

    /// Another node on the same database is started the same way.
    pub async fn on(db: TestDatabase, options: &Options) -> TestGateway {
        let data = TempDir::new().unwrap();
        let mut flags = BTreeMap::from([
            ("listen", "127.0.0.1:0".to_owned()),
            ("admin_listen", "none".to_owned()),
            ("data_dir", data.path().to_str().unwrap().to_owned()),
            ("gateway_threads", "2".to_owned()),
            ("database_url", db.url.clone()),
        ]);
        flags.extend(options.flags.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let config = Config::load(&Layers { flags, environment: BTreeMap::new(), file: None }).ok().unwrap();
        let sockets = Sockets::bind(&config).unwrap();
        let node = Node::start(&config, sockets, db.pool.clone(), axum::Router::new()).await.unwrap();
        TestGateway { db, node, data }
    }

    pub fn address(&self) -> SocketAddr {
        self.node.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.node.address)
    }

    /// Waits until what was written to the catalog is in force here.
    pub async fn settled(&self) {
        let newest: i64 =
            sqlx::query_scalar("select version from catalog_version").fetch_one(&self.db.pool).await.unwrap();
        let deadline = Instant::now() + PATIENCE;
        while self.node.gateway.catalog.now().version != newest {
            assert!(Instant::now() < deadline, "the catalog did not come into force");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// A key of `partner`, as `toll keys create` makes it; returns the text.
pub async fn create_key(db: &TestDatabase, partner: &str) -> String {
    let key = key_text::key_from(rand::rng().random());
    sqlx::query(
        "insert into api_key (partner_id, name, hash, start)
         select id, 'test', $2, $3 from partner where slug = $1",
    )
    .bind(partner)
    .bind(Sha256::digest(key.as_bytes()).to_vec())
    .bind(key_text::start_of(&key))
    .execute(&db.pool)
    .await
    .unwrap();
    key
}
