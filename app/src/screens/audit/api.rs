//! Who changed what, and whether the books agree.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::books::audit::{Audit, Difference, NodeState};
use crate::changes::{Change, What};
use crate::domain::funnel::Funnel;
use crate::error::Error;
use crate::session::require_ops;
use crate::site::Site;

/// Changes on one page.
const PAGE: i64 = 50;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    pub changes: Vec<Change>,
    /// Where the next page begins.
    pub older: Option<i64>,
}

/// Door against rollups; against the log too, if it was recounted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    pub funnel: Funnel,
    pub nodes: Vec<NodeState>,
    pub recount: Option<Recount>,
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

/// Requests of a window by who counted them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recount {
    pub arrived: u64,
    pub open: u64,
    pub totals: u64,
    pub rollups: u64,
    pub log: u64,
    pub differences: Vec<Differs>,
}

/// A node and a time for which they do not agree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Differs {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// How long: `minute`, `hour` or `day`.
    pub grain: String,
    pub host: String,
    /// Requests that ended how.
    pub of: String,
    pub counts: Vec<(String, i64)>,
}

impl From<Audit> for Recount {
    fn from(audit: Audit) -> Recount {
        let count = |n: i64| n.max(0) as u64;
        Recount {
            arrived: count(audit.arrived),
            open: count(audit.open),
            totals: count(audit.totals),
            rollups: count(audit.rollups),
            log: count(audit.log),
            differences: audit.differences.into_iter().map(Differs::from).collect(),
        }
    }
}

impl From<Difference> for Differs {
    fn from(difference: Difference) -> Differs {
        let of = match (difference.stage, difference.outcome) {
            (Some(stage), Some(outcome)) => format!("{outcome} at the {stage} stage"),
            _ => "all requests".to_owned(),
        };
        Differs {
            at: difference.at,
            grain: difference.grain.to_owned(),
            host: difference.host,
            of,
            counts: difference.counts.into_iter().map(|(who, count)| (who.to_owned(), count)).collect(),
        }
    }
}

impl Ledger {
    /// Requests by who counted them.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        match &self.recount {
            Some(recount) => vec![
                ("Arrived at the door", recount.arrived),
                ("Still open", recount.open),
                ("Ended, by the totals", recount.totals),
                ("Ended, by the rollups", recount.rollups),
                ("Rows of the log", recount.log),
            ],
            None => vec![
                ("Arrived at the door", self.funnel.arrived),
                ("Ended, by the rollups", self.funnel.settled()),
                ("Still in flight", self.funnel.in_flight.unwrap_or(0)),
            ],
        }
    }
}

/// The kind of thing that is called so; empty for all.
pub fn kind(word: &str) -> Result<Option<What>, Error> {
    let unknown = || Error::Invalid(format!("Nothing is called {word:?}."));
    if word.is_empty() { Ok(None) } else { What::from_word(word).ok_or_else(unknown).map(Some) }
}

/// The newest changes; `what` is a kind of thing, or empty for all; `before` the id that an earlier page ended with.
#[server(endpoint = "ops_changes")]
pub async fn ops_changes(
    #[server(default)] what: String,
    #[server(default)] before: Option<i64>,
) -> Result<Changes, Error> {
    crate::error::answer(async {
        require_ops().await?;
        let what = kind(&what)?;
        // One more than is shown tells whether there is another page.
        let db = Site::current()?.db;
        let mut changes = crate::changes::list(&db, what, before, PAGE + 1).await?;
        let more = changes.len() as i64 > PAGE;
        changes.truncate(PAGE as usize);
        let older = changes.last().filter(|_| more).map(|change| change.id);
        Ok(Changes { changes, older })
    })
    .await
}

/// The recount reads the log of the whole window, so it is made only when asked for.
#[server(endpoint = "ops_ledger")]
pub async fn ops_ledger(span: String, #[server(default)] recount: bool) -> Result<Ledger, Error> {
    use crate::books::{Filter, audit, funnel};

    crate::error::answer(async {
        require_ops().await?;
        let site = Site::current()?;
        let window = site.window(&span).await?;
        Ok(Ledger {
            funnel: funnel(&site.db, window, &Filter::default()).await?,
            nodes: audit::nodes(&mut *site.db.acquire().await?).await?,
            recount: match recount {
                true => Some(audit::audit(&site.db, window).await?.into()),
                false => None,
            },
            now: site.now().await?,
        })
    })
    .await
}
