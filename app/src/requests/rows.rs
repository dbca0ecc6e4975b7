//! Rows of the log, as a list shows them.

use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, FromRow, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Place;
use super::filter::Filter;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::window::Window;

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromRow)]
pub struct Logged {
    pub id: Uuid,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub method: String,
    /// Without the query.
    pub path: String,
    pub route: Option<String>,
    /// Slug.
    pub partner: Option<String>,
    /// The key's name.
    pub key: Option<String>,
    pub stage: Stage,
    pub outcome: Outcome,
    pub reached: bool,
    /// What the client got; 0 if nothing.
    #[sqlx(try_from = "i16")]
    pub status: u16,
    #[sqlx(try_from = "i64")]
    pub duration_us: u64,
    #[sqlx(try_from = "i64")]
    pub bytes_in: u64,
    #[sqlx(try_from = "i64")]
    pub bytes_out: u64,
}

const COLUMNS: &str = "id, at, method, path, route_id, partner_id, key_id, stage, outcome, reached, status, duration_us, \
    bytes_in, bytes_out";

/// The newest of the window, by index.
pub(super) async fn newest(
    db: &PgPool,
    window: Window,
    filter: &Filter,
    before: Place,
    limit: usize,
) -> sqlx::Result<Vec<Logged>> {
    let on = filter.on_log();
    let select = named(&format!(
        "select {COLUMNS} from request_log
         where at >= $1 and at < $2 and at <= $3 and (at, id) < ($3, $4) {on}
         order by at desc, id desc limit $5"
    ));
    let query = sqlx::query_as(AssertSqlSafe(select)).bind(window.from).bind(window.to);
    query.bind(before.at).bind(before.id).bind(limit as i64).fetch_all(db).await
}

/// The newest of some minutes.
pub(super) async fn of_minutes(
    db: &PgPool,
    window: Window,
    filter: &Filter,
    minutes: &[OffsetDateTime],
    before: Place,
    limit: usize,
) -> sqlx::Result<Vec<Logged>> {
    let on = filter.on_log();
    let select = named(&format!(
        "select l.* from unnest($6::timestamptz[]) as minute (start)
         cross join lateral (
             select {COLUMNS} from request_log
             where at >= minute.start and at < minute.start + interval '1 minute'
               and at >= $1 and at < $2 and at <= $3 and (at, id) < ($3, $4) {on}
             order by at desc, id desc limit $5
         ) as l
         order by l.at desc, l.id desc limit $5"
    ));
    let query = sqlx::query_as(AssertSqlSafe(select)).bind(window.from).bind(window.to).bind(before.at);
    query.bind(before.id).bind(limit as i64).bind(minutes).fetch_all(db).await
}

/// With the names that people know.
fn named(select: &str) -> String {
    format!(
        "select l.*, route.name as route, partner.slug as partner, api_key.name as key
         from ({select}) as l
         left join route on route.id = l.route_id
         left join partner on partner.id = l.partner_id
         left join api_key on api_key.id = l.key_id
         order by l.at desc, l.id desc"
    )
}
