//! Reading the books: the funnel, from as few rollup rows as tile the window.

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Row, Transaction};
use time::{Duration, OffsetDateTime};

use crate::domain::funnel::{Counts, Door, Funnel, Line};
use crate::domain::histogram::Histogram;
use crate::domain::window::{Grain, Window};

pub mod audit;
mod bucket;
mod by_partner;
mod by_route;
mod recount;
mod routes;
mod tiles;
mod upstreams;

pub use bucket::quota_now;
pub(crate) use by_partner::standouts;
pub use by_partner::{PartnerEnds, ends_of, partners_ends};
pub use by_route::by_route;
pub use routes::routes;
pub(crate) use tiles::Tiles;
pub use upstreams::{UpstreamHealth, upstreams};

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
    // One snapshot: arrivals and outcomes move together, statement by statement.
    let mut tx = snapshot(db).await?;
    let mut counts = Counts::default();
    for row in lines(&mut tx, window, of).await? {
        add(&mut counts, &row)?;
    }
    if *of == Filter::default() {
        counts.door = Some(door(&mut tx, window).await?);
    }
    tx.commit().await?;
    Ok(Funnel::new(window, &counts))
}

/// Everything that is read by it is of one moment.
async fn snapshot(db: &PgPool) -> sqlx::Result<Transaction<'static, Postgres>> {
    db.begin_with("begin isolation level repeatable read read only").await
}

/// The same for who reads the log too. It is locked before the snapshot is taken, and who makes a partition waits: rows that
/// move into one that is newer than the snapshot would be found in neither place.
pub(crate) async fn snapshot_with_log(db: &PgPool) -> sqlx::Result<Transaction<'static, Postgres>> {
    let mut tx = snapshot(db).await?;
    sqlx::query("lock table request_log in access share mode").execute(&mut *tx).await?;
    Ok(tx)
}

/// Operators' totals know no partner; that keeps them flat however many keys there are.
async fn lines(db: &mut PgConnection, window: Window, of: &Filter) -> sqlx::Result<Vec<PgRow>> {
    let (family, whose) = match of.partner {
        Some(_) => ("rollup", "partner_id = $2 and"),
        None => ("total", "$2::bigint is null and"),
    };
    let mut tiles = Tiles::default();
    let pieces = tiles.union(window, |grain| {
        format!(
            "select stage, outcome, reached, status_class, requests, upstream_calls, metered_locally,
                 b0, b1, b2, b3, b4, b5, b6, b7, b8
             from {family}_{} where {whose} ($3::bigint is null or route_id = $3)",
            grain.name()
        )
    });
    let select = format!(
        "select stage, outcome, reached, status_class, {} from ({pieces}) as piece group by 1, 2, 3, 4",
        sums(&MEASURES)
    );
    tiles.query(select).bind(of.partner).bind(of.route).fetch_all(db).await
}

/// What is summed for a funnel.
const MEASURES: [&str; 12] =
    ["requests", "upstream_calls", "metered_locally", "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"];

fn sums(names: &[&str]) -> String {
    names.iter().map(|name| format!("sum({name})::bigint as {name}")).collect::<Vec<_>>().join(", ")
}

fn add(counts: &mut Counts, row: &PgRow) -> sqlx::Result<()> {
    let number = |name: &str| row.try_get::<i64, _>(name).map(|n| n as u64);
    let requests = number("requests")?;
    // A row without requests is of calls in the background.
    if requests > 0 {
        let upstream_class = row.try_get::<i16, _>("status_class")? as u8;
        counts.lines.push(Line {
            stage: row.try_get("stage")?,
            outcome: row.try_get("outcome")?,
            reached: row.try_get("reached")?,
            upstream_class,
            requests,
        });
    }
    counts.upstream_calls += number("upstream_calls")?;
    counts.metered_locally += number("metered_locally")?;
    let mut latency = Histogram::default();
    for (bucket, count) in latency.counts.iter_mut().enumerate() {
        *count = number(&format!("b{bucket}"))?;
    }
    counts.latency.add(&latency);
    Ok(())
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
