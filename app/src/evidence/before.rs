//! The window of the same length before, as far as the books reach back.

use sqlx::{AssertSqlSafe, PgConnection};
use time::{Duration, OffsetDateTime};

use crate::books::{Filter, Totals};
use crate::domain::window::Window;

#[derive(Default)]
pub struct Before {
    /// Where the books begin that a window of such a length is read from; nothing while they are empty.
    pub begun: Option<OffsetDateTime>,
    /// Of half of the window or more: a day old, Toll has no week to compare with.
    pub totals: Option<Totals>,
    /// Whether they are of all of it.
    pub is_whole: bool,
}

pub async fn read(db: &mut PgConnection, window: Window) -> sqlx::Result<Before> {
    // Minutes are dropped sooner than hours.
    let family = if window.length() < Duration::DAY { "total_minute" } else { "total_hour" };
    let begun: Option<OffsetDateTime> =
        sqlx::query_scalar(AssertSqlSafe(format!("select min(at) from {family}")))
            .fetch_one(&mut *db)
            .await?;
    let before = window.before();
    let reach_back = |to: OffsetDateTime| begun.is_some_and(|begun| begun <= to);
    let totals = match reach_back(before.from + before.length() / 2) {
        true => Some(Totals::read(db, before, &Filter::default()).await?),
        false => None,
    };
    Ok(Before { begun, totals, is_whole: reach_back(before.from) })
}
