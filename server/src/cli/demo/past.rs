//! What happened before the demo: a day that fell and has risen to where the demo begins, an outage of `billing`, a job that is
//! too large for its plan, and `hasty` in a loop for the last hours. Never were they requests; the ledger's own statement writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::keys::{self, MadeKey};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use sqlx::PgPool;
use uuid::Uuid;

use super::keys::Keys;
use crate::ledger::past::Past;
use crate::ledger::record::{End, Record};

/// Requests a minute of the busy partners when the day is at its highest, which is now.
const HIGHEST: f64 = 240.0;
/// Hours before the demo.
const OUTAGE: std::ops::Range<f64> = 4.6..5.0;
const LOOP: std::ops::Range<f64> = 0.0..2.5;
/// In a minute of the loop.
const RETRIES: usize = 200;

/// Who and what the records are of, by id.
struct Ids {
    routes: BTreeMap<String, i64>,
    /// Partner and key.
    keys: BTreeMap<&'static str, (i64, i64)>,
}

/// Fills the minutes of the window in which nothing has happened; returns how many requests that took.
pub async fn write(db: &PgPool, window: Window, keys: &Keys) -> anyhow::Result<u64> {
    let ids = Ids::read(db, keys).await?;
    let end = window.to.unix_timestamp().div_euclid(60);
    let mut past = Past::open(db).await?;
    let (mut written, mut outage) = (0, Vec::new());
    for minute in past.empty_minutes(window).await? {
        let hours_ago = (end - minute) as f64 / 60.0;
        let records = ids.minute(minute, hours_ago);
        written += records.len() as u64;
        past.write(minute, records).await?;
        outage.extend(OUTAGE.contains(&hours_ago).then_some(minute));
    }
    past.close().await?;
    keys.are_as_old_as(db, window).await?;
    if let (Some(first), Some(last)) = (outage.first(), outage.last()) {
        shut_door(db, *first, last + 1).await?;
    }
    Ok(written)
}

/// What the breaker of `billing` did in the outage, unless it has a story of its own: its events are in their order.
async fn shut_door(db: &PgPool, from: i64, to: i64) -> sqlx::Result<()> {
    sqlx::query(
        "insert into breaker_event (upstream_id, at, state, generation, reason)
         select id, to_timestamp(event.minute * 60), event.state, 1, event.reason
         from upstream, (values ($1, 'open', '5 failures in 10 s, the last: timeout'),
                                ($2, 'closed', 'the probe succeeded')) as event (minute, state, reason)
         where name = 'billing' and retired_at is null
           and not exists (select from breaker_event where upstream_id = upstream.id)
         order by event.minute",
    )
    .bind(from)
    .bind(to)
    .execute(db)
    .await?;
    Ok(())
}

impl Ids {
    async fn read(db: &PgPool, made: &Keys) -> anyhow::Result<Ids> {
        let routes: Vec<(String, i64)> =
            sqlx::query_as("select name, id from route where retired_at is null").fetch_all(db).await?;
        let mut ids = Ids { routes: routes.into_iter().collect(), keys: BTreeMap::new() };
        let Keys { acme, globex, initech, hasty, lost } = made;
        let known: [(&str, &MadeKey); 5] = [
            ("acme", acme),
            ("globex", globex),
            ("initech", initech),
            ("hasty", hasty),
            ("lost", &lost.revoked),
        ];
        for (slug, made) in known {
            ids.keys.insert(slug, (keys::partner_by_slug(db, slug).await?, made.key.id));
        }
        Ok(ids)
    }

    /// The same every time, for the same minute.
    fn minute(&self, minute: i64, hours_ago: f64) -> Vec<Record> {
        let mut dice = StdRng::seed_from_u64(minute as u64);
        let mut records = Vec::new();
        let busy = (HIGHEST * of_day(hours_ago) * dice.random_range(0.85..1.15)) as usize;
        for n in 0..busy {
            let who = if n % 3 == 0 { "globex" } else { "acme" };
            records.push(self.busy(&mut dice, who, OUTAGE.contains(&hours_ago)));
        }
        if minute % 20 == 0 {
            records.extend((0..20).map(|_| self.forwarded(&mut dice, "initech", "orders", 200, 4..25)));
            records.extend((0..25).map(|_| self.refused("initech", "orders", Outcome::QuotaSpent, None)));
        }
        // Out of its loop it gets what it asks for.
        records.extend((0..12).map(|_| self.hit(&mut dice, "hasty")));
        let archive =
            || self.stopped(Some("globex"), Some("archive"), Stage::Proxy, Outcome::UpstreamUnreachable);
        records.extend((0..3).map(|_| archive()));
        records.push(self.stopped(Some("lost"), Some("billing"), Stage::Key, Outcome::KeyRevoked));
        for outcome in [Outcome::KeyMissing, Outcome::KeyMalformed, Outcome::KeyUnknown] {
            records.push(self.stopped(None, Some("billing"), Stage::Key, outcome));
        }
        records.extend((0..2).map(|_| self.stopped(None, None, Stage::Route, Outcome::NoRoute)));
        records.push(self.stopped(None, Some("search"), Stage::Route, Outcome::MethodNotAllowed));
        records.shuffle(&mut dice);
        if LOOP.contains(&hours_ago) { self.looping(&mut dice, records) } else { records }
    }

    /// The same with `hasty` among them, which comes back at its own pace whatever it is told.
    fn looping(&self, dice: &mut StdRng, others: Vec<Record>) -> Vec<Record> {
        let all = others.len() + RETRIES;
        let place =
            |n: usize| ((n as f64 + dice.random_range(0.0..0.3)) * all as f64 / RETRIES as f64) as usize;
        let retries: BTreeSet<usize> = (0..RETRIES).map(place).collect();
        let mut others = others.into_iter();
        let mut record = |n: usize| match retries.contains(&n) {
            true => {
                let waited = dice.random_range(240..360);
                Some(self.refused("hasty", "orders", Outcome::QuotaEarlyRetry, Some(waited)))
            }
            false => others.next(),
        };
        (0..all).filter_map(&mut record).collect()
    }

    fn busy(&self, dice: &mut StdRng, who: &'static str, outage: bool) -> Record {
        match dice.random_range(0..100) {
            0..40 => self.hit(dice, who),
            40..55 => self.forwarded(dice, who, "orders", 200, 4..25),
            55..75 => self.forwarded(dice, who, "search", 200, 15..90),
            75..78 => self.forwarded(dice, who, "reports", 200, 250..1_500),
            78 => self.forwarded(dice, who, "orders", 404, 4..15),
            79..81 if outage => self.forwarded(dice, who, "billing", 503, 8..60),
            79.. if outage => self.stopped(Some(who), Some("billing"), Stage::Breaker, Outcome::BreakerOpen),
            _ => self.forwarded(dice, who, "billing", 200, 8..60),
        }
    }

    fn hit(&self, dice: &mut StdRng, who: &'static str) -> Record {
        let duration_us = dice.random_range(150..900);
        let hit = self.stopped(Some(who), Some("orders"), Stage::Cache, Outcome::CacheHit);
        Record { bytes_out: 34, duration_us, ..hit }
    }

    fn refused(&self, who: &'static str, route: &str, outcome: Outcome, waited_ms: Option<i64>) -> Record {
        Record {
            retry_asked_ms: Some(5_000),
            retry_waited_ms: waited_ms,
            same_again: waited_ms.is_some(),
            tokens_before: Some(0.2),
            tokens_after: Some(0.2),
            ..self.stopped(Some(who), Some(route), Stage::Quota, outcome)
        }
    }

    fn forwarded(
        &self,
        dice: &mut StdRng,
        who: &'static str,
        route: &str,
        status: u16,
        millis: std::ops::Range<u64>,
    ) -> Record {
        let us = dice.random_range(millis.start * 1000..millis.end * 1000);
        let end = End {
            stage: Stage::Proxy,
            outcome: Outcome::Forwarded,
            status,
            reached: true,
            upstream_status: status,
        };
        Record {
            end: Some(end),
            bytes_out: 34,
            duration_us: us + 600,
            stage_us: [20, 30, 400, 20, 10, us],
            cache_miss: Some(match route {
                "orders" => CacheMiss::Stale,
                "search" => CacheMiss::First,
                _ => CacheMiss::Off,
            }),
            upstream_calls: 1,
            ..self.stopped(Some(who), Some(route), Stage::Proxy, Outcome::Forwarded)
        }
    }

    /// Answered by the gateway itself. Its time and id are the ledger's to set.
    fn stopped(
        &self,
        who: Option<&'static str>,
        route: Option<&str>,
        stage: Stage,
        outcome: Outcome,
    ) -> Record {
        let (partner, key) = who.and_then(|who| self.keys.get(who)).copied().unwrap_or_default();
        let status = match outcome.status() {
            0 => 200,
            status => status,
        };
        let mut stage_us = [0; 6];
        stage_us[..=stage.index()].fill(20);
        Record {
            end: Some(End { stage, outcome, status, reached: false, upstream_status: 0 }),
            route: route.and_then(|name| self.routes.get(name)).copied().unwrap_or_default(),
            partner,
            key,
            method: "GET".into(),
            path: format!("/api/{}/7", route.unwrap_or("inventory")),
            address: "127.0.0.1".into(),
            user_agent: "toll-demo".into(),
            bytes_out: 300,
            duration_us: stage_us.iter().sum(),
            stage_us,
            ..Record::new(Uuid::nil(), 0)
        }
    }
}

/// 1 now and a day ago, 0.2 in between.
fn of_day(hours_ago: f64) -> f64 {
    0.6 + 0.4 * (TAU * hours_ago / 24.0).cos()
}

#[cfg(test)]
mod tests {
    use app::domain::verdict::evidence::Habit;
    use app::domain::verdict::habit::Refusal;
    use time::{Duration, OffsetDateTime};

    use super::*;

    #[test]
    fn the_loop_of_the_past_is_one_that_a_verdict_names() {
        let keys = ["acme", "globex", "initech", "hasty", "lost"].map(|slug| (slug, (slug.len() as i64, 1)));
        let ids = Ids { routes: BTreeMap::new(), keys: keys.into() };
        for minute in 0..60 {
            let records = ids.minute(minute, LOOP.start);
            let (all, hasty) = (records.len(), ids.keys["hasty"].0);
            // Evenly over the minute, as the ledger writes them.
            let refusals: Vec<Refusal> = (0..)
                .zip(&records)
                .filter(|(_, record)| record.partner == hasty && record.retry_asked_ms.is_some())
                .map(|(n, record)| {
                    let at = OffsetDateTime::UNIX_EPOCH + Duration::MINUTE * n / all as i32;
                    Refusal {
                        caller: 1,
                        request: 1,
                        at,
                        answered_at: at + Duration::microseconds(record.duration_us as i64),
                        is_early: true,
                        asked_ms: record.retry_asked_ms.unwrap() as u64,
                        waited_ms: record.retry_waited_ms.map(|ms| ms as u64),
                    }
                })
                .collect();
            let habit = Habit::of(&refusals).unwrap();
            assert!(refusals.len() == RETRIES && habit.is_hasty() && habit.is_steady, "{habit:?}");
        }
    }
}
