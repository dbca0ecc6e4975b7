//! The log, a page at a time, newest first.
//!
//! A log of millions is never searched: the rollups say in which minutes the requests are that are asked for, and only these
//! minutes are read.

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::books;
use crate::domain::window::Window;
use crate::error::Error;
use crate::over_time;
use crate::site::Site;

pub mod asked;
mod choices;
mod filter;
mod minutes;
mod rows;

pub use asked::Asked;
pub use choices::{Choices, choices};
pub use filter::{Answer, Filter, Status};
pub use rows::Logged;

/// Rows of a page.
pub const PAGE: usize = 50;
/// So many times the rollups are asked for one page. They cannot tell every status: what they name may turn out not to match.
const ROUNDS: usize = 8;

/// A part of the log.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Page {
    /// What was looked through.
    pub window: Window,
    pub rows: Vec<Logged>,
    /// How many there are in the window, if the rollups can tell: they know classes of status, not each status.
    pub count: Option<u64>,
    /// Where the next page begins, as `Asked::before` takes it.
    pub older: Option<String>,
    /// From when on the log is kept, if the window begins before.
    #[serde(with = "time::serde::rfc3339::option")]
    pub kept_since: Option<OffsetDateTime>,
    /// What is wrong with what was asked for; then nothing was looked for.
    pub wrong: Option<String>,
}

impl Page {
    fn empty(window: Window) -> Page {
        Page { window, rows: Vec::new(), count: None, older: None, kept_since: None, wrong: None }
    }
}

/// A place between two requests of the log: everything before it is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: OffsetDateTime,
    pub id: Uuid,
}

/// The newest requests of the window that are asked for, at most `size` of them; of one partner if `partner` names one,
/// whatever `asked` says.
pub async fn page(
    db: &PgPool,
    window: Window,
    asked: &Asked,
    partner: Option<i64>,
    size: usize,
) -> Result<Page, Error> {
    let filter = Filter::find(db, asked, partner).await?;
    let start = asked.place()?.unwrap_or(Place { at: window.to, id: Uuid::nil() });
    let kept = books::kept_since(db, "log").await?;
    let from = kept.map_or(window.from, |kept| kept.max(window.from));
    let mut page = Page {
        count: filter.count(db, window).await?,
        kept_since: kept.filter(|kept| *kept > window.from),
        ..Page::empty(window)
    };
    if from < window.to {
        let looked = Window { from, to: window.to };
        let (rows, older) = match filter.needs_rollups() {
            false => rows::newest(db, looked, &filter, start, size + 1).await.map(|rows| (rows, None))?,
            true => search(db, looked, &filter, start, size + 1).await?,
        };
        page.older = older.map(|place| place.to_string());
        page.rows = rows;
    }
    if page.rows.len() > size {
        page.rows.truncate(size);
        page.older = page.rows.last().map(|last| Place { at: last.at, id: last.id }.to_string());
    }
    Ok(page)
}

/// Minute by minute that the rollups name. Gives where it stopped, if that is before the window's beginning.
async fn search(
    db: &PgPool,
    window: Window,
    filter: &Filter,
    mut before: Place,
    wanted: usize,
) -> sqlx::Result<(Vec<Logged>, Option<Place>)> {
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let missing = wanted - found.len();
        let minutes = minutes::newest(db, window, filter, before.at, missing).await?;
        let Some(oldest) = minutes.at.last() else { return Ok((found, None)) };
        found.extend(rows::of_minutes(db, window, filter, &minutes.at, before, missing).await?);
        if found.len() >= wanted || minutes.are_all {
            return Ok((found, None));
        }
        before = Place { at: *oldest, id: Uuid::nil() };
    }
    Ok((found, Some(before)))
}

/// What a screen of requests shows, of one partner or of everybody. The caller has asked who is asking.
pub async fn shown(span: &str, asked: &Asked, partner: Option<i64>) -> Result<(Page, Choices), Error> {
    let site = Site::current()?;
    let window = over_time::window(span, site.now().await?)?;
    let page = match page(&site.db, window, asked, partner, PAGE).await {
        // The page says so beside the form in which it can be mended.
        Err(Error::Invalid(wrong)) => Page { wrong: Some(wrong), ..Page::empty(window) },
        read => read?,
    };
    Ok((page, choices(&site.db, partner).await?))
}
