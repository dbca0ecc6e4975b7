//! What was before: requests of minutes that are over, written by the ledger's own statement.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use time::OffsetDateTime;
use toll::ledger::past::Past;
use toll::ledger::record::{End, Record};
use uuid::Uuid;

use super::Scene;

impl Scene {
    /// So many served requests of each partner, 24 minutes ago.
    pub async fn had_before(&self, partners: &[&str], route: &str, requests: usize) {
        let mut records = Vec::new();
        for slug in partners {
            let served = self.record(slug, route, Stage::Proxy, Outcome::Forwarded).await;
            records.extend(std::iter::repeat_n(served, requests));
        }
        // Where the books begin, early in the window of 15 minutes before; while a test runs, the clock goes on.
        self.write_past(27, records).await;
    }

    /// A request of the partner, without its time.
    pub async fn record(&self, partner: &str, route: &str, stage: Stage, outcome: Outcome) -> Record {
        let route = sqlx::query_scalar("select id from route where name = $1")
            .bind(route)
            .fetch_one(&self.toll.db.pool)
            .await
            .unwrap();
        let partner = self.partner(partner).await;
        let reached = stage == Stage::Proxy;
        let status = if reached { 200 } else { outcome.status() };
        let upstream_status = if reached { 200 } else { 0 };
        Record {
            end: Some(End { stage, outcome, status, reached, upstream_status }),
            route,
            partner,
            key: partner,
            upstream_calls: u16::from(reached),
            ..Record::new(Uuid::nil(), 0)
        }
    }

    /// Requests evenly over a minute; what begins it was so many minutes ago.
    pub async fn write_past(&self, minutes_ago: i64, records: Vec<Record>) {
        let minute = OffsetDateTime::now_utc().unix_timestamp() / 60 - minutes_ago;
        let mut past = Past::open(&self.toll.db.pool).await.unwrap();
        past.write(minute, records).await.unwrap();
        past.close().await.unwrap();
    }

    /// What the breaker of `billing` did, so many seconds before the present minute.
    pub async fn event_of_billing(&self, seconds_ago: i32, state: &str) {
        sqlx::query(
            "insert into breaker_event (upstream_id, at, state, generation, reason)
             select id, date_trunc('minute', now()) - $1 * interval '1 second', $2, 1, '5 timeouts in 10 s'
             from upstream where name = 'billing'",
        )
        .bind(seconds_ago)
        .bind(state)
        .execute(&self.toll.db.pool)
        .await
        .unwrap();
    }
}
