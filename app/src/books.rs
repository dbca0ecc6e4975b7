//! Reading the books: the funnel, from as few rollup rows as tile the window.

use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Row, Transaction};
use time::{Duration, OffsetDateTime};

use crate::domain::funnel::{Door, Funnel};
use crate::domain::window::{Grain, Window};

pub mod audit;
mod bucket;
mod by_partner;
mod recount;
mod tiles;
mod totals;
mod upstreams;

pub use bucket::quota_now;
pub use by_partner::{PartnerEnds, ends_of};
pub(crate) use by_partner::{partners_ends, standouts};
pub(crate) use tiles::Tiles;
pub use totals::Totals;
pub(crate) use totals::until;
pub use upstreams::{Upstream, UpstreamHealth, upstreams};

/// A node whose last heartbeat is older does not live: what it had inside is in flight no more, but unaccounted until its
/// journal is found. Seconds.
const LIVES: i32 = 30;

/// Up to this length a window of totals is read minute by minute, where steps are to be seen.
pub(crate) const MINUTES_OF_ALL: Duration = Duration::hours(25);

/// Whose requests; ids, none for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub partner: Option<i64>,
    pub route: Option<i64>,
}

/// The funnel of a window.
pub async fn funnel(db: &PgPool, window: Window, of: &Filter) -> sqlx::Result<Funnel> {
    Ok(totals(db, window, of).await?.funnel())
}

/// What a funnel is the sum of.
pub async fn totals(db: &PgPool, window: Window, of: &Filter) -> sqlx::Result<Totals> {
    // One snapshot: arrivals and outcomes move together, statement by statement.
    let mut tx = snapshot(db).await?;
    let totals = Totals::read(&mut tx, window, of).await?;
    tx.commit().await?;
    Ok(totals)
}

/// Everything that is read by it is of one moment.
async fn snapshot(db: &PgPool) -> sqlx::Result<Transaction<'static, Postgres>> {
    db.begin_with("begin isolation level repeatable read read only").await
}

/// The same for who reads the log too; of the moment in which this returns. The log is locked before the snapshot is taken,
/// and who makes a partition waits: rows that move into one that is newer than the snapshot would be found in neither place.
pub(crate) async fn snapshot_with_log(db: &PgPool) -> sqlx::Result<Transaction<'static, Postgres>> {
    let begin = "begin isolation level repeatable read read only; lock table request_log in access share mode; select";
    db.begin_with(begin).await
}

fn sums(names: &[&str]) -> String {
    names.iter().map(|name| format!("sum({name})::bigint as {name}")).collect::<Vec<_>>().join(", ")
}

async fn door(db: &mut PgConnection, window: Window) -> sqlx::Result<Door> {
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!("select node_id, arrived, open from door_{} where true", grain.name())
    });
    let select = format!(
        "select coalesce(sum(arrived), 0)::bigint as arrived,
             coalesce(sum(open) filter (where heartbeat_at > now() - make_interval(secs => $2)), 0)::bigint as open
         from ({pieces}) as piece join node on node.id = piece.node_id"
    );
    let row = tiles.query(select).bind(LIVES).fetch_one(db).await?;
    let (arrived, open): (i64, i64) = (row.try_get("arrived")?, row.try_get("open")?);
    Ok(Door { arrived: arrived as u64, in_flight: open as u64 })
}

/// The hour that ends with the newest request, of one partner or of everybody: as exactly as it is still known.
pub async fn newest(db: &PgPool, partner: Option<i64>) -> sqlx::Result<Option<Window>> {
    let whose = if partner.is_some() { "partner_id = $1" } else { "$1::bigint is null" };
    let grains = Grain::ALL.map(|grain| {
        format!(
            "(select at, {} as seconds from ends_{} where {whose} and requests > 0 order by at desc limit 1)",
            grain.seconds(),
            grain.name()
        )
    });
    let select = format!("{} order by seconds limit 1", grains.join("\nunion all\n"));
    let found: Option<(OffsetDateTime, i32)> =
        sqlx::query_as(AssertSqlSafe(select)).bind(partner).fetch_optional(db).await?;
    Ok(found.map(|(at, seconds)| {
        let length = Duration::seconds(seconds.into());
        Window { from: at + length - length.max(Duration::HOUR), to: at + length }
    }))
}

/// From when on the `log`, or rollups of a `minute` or `hour`, are whole; nothing if none was dropped yet.
pub async fn kept_since(db: &PgPool, what: &str) -> sqlx::Result<Option<OffsetDateTime>> {
    sqlx::query_scalar("select since from ledger_kept where what = $1").bind(what).fetch_optional(db).await
}
