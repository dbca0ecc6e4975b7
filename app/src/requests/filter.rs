//! A restriction of the log, as conditions on its rows and on the rollups.

use sqlx::{AssertSqlSafe, PgPool};

use super::asked::{self, Asked};
use crate::books::Tiles;
use crate::domain::histogram::BOUNDS_MS;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::window::{Grain, Window};
use crate::error::Error;

/// What a client got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Code(u16),
    /// First digit.
    Class(u8),
}

/// What became of it at the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It got there.
    Any,
    Unsent,
    /// It got there, and nothing came back.
    Silent,
    /// First digit of the upstream's status.
    Class(u8),
}

/// Ids instead of names. Only numbers go into the statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub partner: Option<i64>,
    /// A name may have belonged to several, of which all but one are retired.
    pub routes: Option<Vec<i64>>,
    pub key: Option<i64>,
    pub stage: Option<Stage>,
    pub outcome: Option<Outcome>,
    pub status: Option<Status>,
    pub answer: Option<Answer>,
    /// A latency bucket, 0 to 8: of those that reached the upstream, as in the histogram.
    pub latency: Option<usize>,
}

impl Filter {
    /// Looks up what `asked` names. `partner` comes from the session and goes before what is asked.
    pub(super) async fn find(db: &PgPool, asked: &Asked, partner: Option<i64>) -> Result<Filter, Error> {
        let mut filter = Filter {
            partner,
            stage: asked.get("stage").map(asked::stage).transpose()?,
            outcome: asked.get("outcome").map(asked::outcome).transpose()?,
            status: asked.get("status").map(asked::status).transpose()?,
            answer: asked.get("answer").map(asked::answer).transpose()?,
            latency: asked.get("latency").map(asked::latency).transpose()?,
            ..Filter::default()
        };
        if let Some(name) = asked.get("route") {
            let ids = sqlx::query_scalar("select id from route where name = $1");
            filter.routes = Some(some(ids.bind(name).fetch_all(db).await?, "route", name)?);
        }
        if let Some(name) = asked.get("upstream") {
            // What stands behind a route is no partner's business: to it there is none.
            let ids = sqlx::query_scalar(
                "select route.id from route join upstream on upstream.id = upstream_id
                 where upstream.name = $1 and $2::bigint is null",
            );
            let leading = some(ids.bind(name).bind(partner).fetch_all(db).await?, "upstream", name)?;
            let routes = filter.routes.get_or_insert_with(|| leading.clone());
            routes.retain(|id| leading.contains(id));
        }
        if let (Some(slug), None) = (asked.get("partner"), partner) {
            let id = sqlx::query_scalar("select id from partner where slug = $1 order by retired_at desc");
            filter.partner = some(id.bind(slug).fetch_all(db).await?, "partner", slug)?.into_iter().next();
        }
        if let Some(key) = asked.get("key") {
            let owners = sqlx::query_as::<_, (i64, i64)>(
                "select id, partner_id from api_key where id::text = $1 and ($2::bigint is null or partner_id = $2)",
            );
            let found = owners.bind(key).bind(filter.partner).fetch_all(db).await?;
            let (id, owner) = some(found, "key", key)?[0];
            // With it, the index by partner serves.
            (filter.key, filter.partner) = (Some(id), Some(owner));
        }
        Ok(filter)
    }

    /// The log's indexes are by time and by partner and time; all else is looked up in the rollups first.
    pub(super) fn needs_rollups(&self) -> bool {
        *self != Filter { partner: self.partner, ..Filter::default() }
    }

    /// On rows of the log: `and …` or nothing.
    pub(super) fn on_log(&self) -> String {
        let status = self.status.map(|status| match status {
            Status::Code(code) => format!("status = {code}"),
            Status::Class(class) => format!("status between {class}00 and {class}99"),
        });
        let answer = self.answer.map(|answer| match answer {
            Answer::Class(class) => format!("reached and upstream_status between {class}00 and {class}99"),
            Answer::Silent => "reached and upstream_status = 0".into(),
            reached => on_reached(reached),
        });
        let latency = self.latency.map(|bucket| {
            let above = bucket.checked_sub(1).map_or(-1, |below| i64::from(BOUNDS_MS[below]) * 1000);
            let up_to = BOUNDS_MS.get(bucket).map_or(i64::MAX, |bound| i64::from(*bound) * 1000);
            format!("reached and timed and duration_us > {above} and duration_us <= {up_to}")
        });
        all([self.ids(), status, answer, latency])
    }

    /// On rollups: never less than `on_log` takes, more for some statuses.
    pub(super) fn on_rollups(&self) -> String {
        let status = self.status.map(|status| {
            let (class, may) = match status {
                Status::Code(code) => (code / 100, code),
                Status::Class(class) => (u16::from(class), 0),
            };
            // What a client got is known of Toll's own answers by their outcome, of those passed on by the upstream's class.
            let outcomes = Outcome::ALL.iter().filter(|o| may == 0 || [0, may].contains(&o.status()));
            let outcomes = list(outcomes.map(|outcome| i64::from(outcome.code())));
            let forwarded = Outcome::Forwarded.code();
            format!(
                "outcome in ({outcomes}) and (status_class = {class} or reached and outcome <> {forwarded})"
            )
        });
        let answer = self.answer.map(|answer| match answer {
            Answer::Class(class) => format!("reached and status_class = {class}"),
            Answer::Silent => "reached and status_class = 0".into(),
            reached => on_reached(reached),
        });
        all([self.ids(), status, answer, None])
    }

    /// What is counted in a rollup, of the rows that match.
    pub(super) fn measure(&self) -> String {
        self.latency.map_or("requests".into(), |bucket| format!("b{bucket}"))
    }

    /// The rollups to read: totals know no partner, and stay small.
    pub(super) fn family(&self) -> &'static str {
        if self.partner.is_some() || self.key.is_some() { "rollup" } else { "total" }
    }

    /// How many requests of the window match, unless only the log knows.
    pub(super) async fn count(&self, db: &PgPool, window: Window) -> sqlx::Result<Option<u64>> {
        if self.status.is_some() {
            return Ok(None);
        }
        let mut tiles = Tiles::default();
        let pieces = tiles.union(window, |grain: Grain| {
            let (measure, family, on) = (self.measure(), self.family(), self.on_rollups());
            format!("select {measure} as n from {family}_{} where true {on}", grain.name())
        });
        let count = format!("select coalesce(sum(n), 0)::bigint from ({pieces}) as piece");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(count)).bind(tiles.times()).fetch_one(db).await?;
        Ok(Some(count as u64))
    }

    /// Columns that log and rollups share.
    fn ids(&self) -> Option<String> {
        let one = |column: &str, id: Option<i64>| id.map(|id| format!("{column} = {id}"));
        let routes = self
            .routes
            .as_ref()
            .map(|ids| format!("route_id = any(array[{}]::bigint[])", list(ids.iter().copied())));
        let conditions = [
            one("partner_id", self.partner),
            one("key_id", self.key),
            one("stage", self.stage.map(|stage| stage.code().into())),
            one("outcome", self.outcome.map(|outcome| outcome.code().into())),
            routes,
        ];
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }
}

fn on_reached(answer: Answer) -> String {
    if answer == Answer::Unsent { "not reached".into() } else { "reached".into() }
}

fn all(conditions: [Option<String>; 4]) -> String {
    conditions.into_iter().flatten().map(|condition| format!(" and ({condition})")).collect()
}

fn list(ids: impl Iterator<Item = i64>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
}

fn some<T>(found: Vec<T>, what: &str, name: &str) -> Result<Vec<T>, Error> {
    match found.is_empty() {
        true => Err(Error::Invalid(format!("There is no {what} {name:?}."))),
        false => Ok(found),
    }
}
