//! What was before: requests of the window before, written by the ledger's own statement.

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
        let route: i64 = sqlx::query_scalar("select id from route where name = $1")
            .bind(route)
            .fetch_one(&self.toll.db.pool)
            .await
            .unwrap();
        let mut records = Vec::new();
        for slug in partners {
            let partner = self.partner(slug).await;
            let end = End {
                stage: Stage::Proxy,
                outcome: Outcome::Forwarded,
                status: 200,
                reached: true,
                upstream_status: 200,
            };
            let served = Record {
                end: Some(end),
                route,
                partner,
                key: partner,
                upstream_calls: 1,
                ..Record::new(Uuid::nil(), 0)
            };
            records.extend(std::iter::repeat_n(served, requests));
        }
        let minute = OffsetDateTime::now_utc().unix_timestamp() / 60 - 24;
        let mut past = Past::open(&self.toll.db.pool).await.unwrap();
        past.write(minute, records).await.unwrap();
        past.close().await.unwrap();
    }
}
