//! This node in the database: who it is, that it lives, and up to where each lane is shipped.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::statement::Mark;

/// The node's identity, made at the first start and kept beside its lanes: it goes where they go.
pub fn identity(dir: &Path) -> io::Result<Uuid> {
    let path = dir.join("node");
    match fs::read_to_string(&path) {
        Ok(text) => Uuid::parse_str(text.trim()).map_err(|_| {
            let text = format!("{} holds no identity of a node", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let identity = Uuid::new_v4();
            let draft = path.with_extension("new");
            let mut file = File::create(&draft)?;
            writeln!(file, "{identity}")?;
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            File::open(dir)?.sync_all()?;
            Ok(identity)
        }
        Err(error) => Err(error),
    }
}

/// What a node says of itself.
#[derive(Clone, Debug)]
pub struct Card {
    /// What people call the machine.
    pub host: String,
    /// Where people reach its portal; a node that serves nobody has none.
    pub public_url: Option<String>,
}

/// Takes over as the one process that writes for this node.
pub async fn register(
    db: &mut PgConnection,
    identity: Uuid,
    incarnation: Uuid,
    card: &Card,
) -> sqlx::Result<i32> {
    sqlx::query_scalar(
        "insert into node (identity, incarnation, host, public_url) values ($1, $2, $3, $4)
         on conflict (identity) do update set incarnation = excluded.incarnation, host = excluded.host,
             public_url = excluded.public_url, started_at = now(), heartbeat_at = now(), stopped_at = null
         returning id",
    )
    .bind(identity)
    .bind(incarnation)
    .bind(&card.host)
    .bind(&card.public_url)
    .fetch_one(db)
    .await
}

/// Where people reach the portal: of nodes that have not ended, the latest; else of that which ran last.
pub async fn public_url(db: &PgPool) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar(
        "select public_url from node where public_url is not null
         order by stopped_at is null desc, started_at desc limit 1",
    )
    .fetch_optional(db)
    .await
}

/// The node's number and the process that writes for it.
pub async fn writer(db: &mut PgConnection, identity: Uuid) -> sqlx::Result<Option<(i32, Uuid)>> {
    sqlx::query_as("select id, incarnation from node where identity = $1")
        .bind(identity)
        .fetch_optional(db)
        .await
}

/// Where the database stands with a lane; `shipped` is what this node remembers, for a lane that is new there.
pub async fn mark(db: &mut PgConnection, node: i32, lane: i16, shipped: u64) -> sqlx::Result<Mark> {
    sqlx::query(
        "insert into lane (node_id, lane, shipped) values ($1, $2, $3) on conflict (node_id, lane) do nothing",
    )
    .bind(node)
    .bind(lane)
    .bind(shipped as i64)
    .execute(&mut *db)
    .await?;
    let (shipped, batch) = sqlx::query_as("select shipped, batch from lane where node_id = $1 and lane = $2")
        .bind(node)
        .bind(lane)
        .fetch_one(db)
        .await?;
    Ok(Mark { shipped, batch })
}

/// Says that the node lives, and returns the database's time; `None` if another process writes for it now.
pub async fn heartbeat(
    db: &mut PgConnection,
    node: i32,
    incarnation: Uuid,
) -> sqlx::Result<Option<OffsetDateTime>> {
    sqlx::query_scalar(
        "update node set heartbeat_at = now() where id = $1 and incarnation = $2 returning heartbeat_at",
    )
    .bind(node)
    .bind(incarnation)
    .fetch_optional(db)
    .await
}

/// Ended in good order.
pub async fn stopped(db: &mut PgConnection, node: i32, incarnation: Uuid) -> sqlx::Result<()> {
    sqlx::query(
        "update node set stopped_at = now(), heartbeat_at = now() where id = $1 and incarnation = $2",
    )
    .bind(node)
    .bind(incarnation)
    .execute(db)
    .await?;
    Ok(())
}
