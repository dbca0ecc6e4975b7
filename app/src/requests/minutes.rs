//! In which minutes the requests are that are asked for: the rollups of hours, then those of the minutes in them.

use sqlx::{AssertSqlSafe, PgPool};
use time::{Duration, OffsetDateTime};

use super::filter::Filter;
use crate::domain::window::{Grain, Window};

/// Newest first.
pub(super) struct Minutes {
    pub at: Vec<OffsetDateTime>,
    /// There are no others in the window.
    pub are_all: bool,
}

/// As few of the newest minutes as hold `wanted` requests before `before`, that is counted from the minute before: how many
/// of `before`'s own minute are older than it, a rollup cannot know.
pub(super) async fn newest(
    db: &PgPool,
    window: Window,
    filter: &Filter,
    before: OffsetDateTime,
    wanted: usize,
) -> sqlx::Result<Minutes> {
    let (family, measure, on) = (filter.family(), filter.measure(), filter.on_rollups());
    let before = before.min(window.to);
    let (hour, minute) = (floor(before, Grain::Hour), floor(before, Grain::Minute));
    let select = format!(
        "with
         -- How many are in the hours that are newer, for each hour with any.
         hour as (
             select at, sum(sum({measure}) filter (where at < $3)) over (order by at desc) as up_to_here,
                    sum({measure}) filter (where at < $3) as here
             from {family}_hour where at > $1 - interval '1 hour' and at <= $3 {on}
             group by at having sum({measure}) > 0
         ),
         minute as (
             select m.at, coalesce(sum(sum({measure}) filter (where m.at < $4)) over (order by m.at desc), 0) as up_to_here,
                    coalesce(sum({measure}) filter (where m.at < $4), 0) as here
             from (select at from hour where coalesce(up_to_here, 0) - coalesce(here, 0) < $5) as h
             cross join lateral (
                 select * from {family}_minute
                 where at >= h.at and at < h.at + interval '1 hour' and at >= $1 and at < $2 and at <= $4 {on}
             ) as m
             group by m.at having sum({measure}) > 0
         )
         select at, up_to_here::bigint from minute where up_to_here - here < $5 order by at desc"
    );
    let rows: Vec<(OffsetDateTime, i64)> = sqlx::query_as(AssertSqlSafe(select))
        .bind(window.from)
        .bind(window.to)
        .bind(hour)
        .bind(minute)
        .bind(wanted as i64)
        .fetch_all(db)
        .await?;
    let are_all = rows.last().is_none_or(|(_, up_to_here)| *up_to_here < wanted as i64);
    Ok(Minutes { at: rows.into_iter().map(|(at, _)| at).collect(), are_all })
}

fn floor(at: OffsetDateTime, grain: Grain) -> OffsetDateTime {
    at - Duration::seconds(at.unix_timestamp().rem_euclid(grain.seconds()))
        - Duration::nanoseconds(at.nanosecond().into())
}
