//! Where a request's end can be read: the answer, the log, six rollups, the funnel. They must all say the same.

use std::time::{Duration, Instant};

use app::domain::funnel::Funnel;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

use super::house::House;
use crate::support::books::closed_at;
use crate::support::client::Reply;
use crate::support::toll::PATIENCE;

/// How one request is expected to end.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub stage: Stage,
    pub outcome: Outcome,
    /// The client's; 0 if it got none.
    pub status: u16,
    /// What the upstream said, 0 for nothing; `None` if it was not reached.
    pub upstream: Option<u16>,
}

/// Of the log, as far as the books keep it for this.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: Uuid,
    pub request_id: String,
    pub timed: bool,
}

impl Ending {
    /// With the status of the contract's table, before any upstream was reached.
    pub fn early(stage: Stage, outcome: Outcome) -> Ending {
        Ending { stage, outcome, status: outcome.status(), upstream: None }
    }

    /// At the proxy stage, after the upstream was reached.
    pub fn late(outcome: Outcome, status: u16, upstream: u16) -> Ending {
        Ending { stage: Stage::Proxy, outcome, status, upstream: Some(upstream) }
    }
}

impl House {
    /// The answer says that the request ended so, and the books say it of the same request.
    pub async fn assert_ended(&self, reply: &Reply, ending: Ending) -> Funnel {
        assert_told(reply, ending);
        let (funnel, row) = self.in_the_books(ending).await;
        assert_eq!(reply.header("x-toll-id"), row.id.to_string());
        assert_eq!(reply.header("x-request-id"), row.request_id);
        funnel
    }

    /// One request ended so, according to the books, and the upstream has counted as many calls as they have.
    pub async fn in_the_books(&self, ending: Ending) -> (Funnel, Row) {
        let probe = self.toll.node.probe();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (funnel, row) = in_the_books(&self.toll.db.pool, || probe().arrived, ending).await;
            // Calls that no request waits for come to the books after the requests.
            if funnel.upstream_calls == self.origin.count() {
                return (funnel, row);
            }
            assert!(
                Instant::now() < deadline,
                "{} calls came, not {}",
                self.origin.count(),
                funnel.upstream_calls
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The head says how it ended, and a refusal's body repeats it.
pub fn assert_told(reply: &Reply, ending: Ending) {
    let Ending { stage, outcome, status, .. } = ending;
    assert_eq!((reply.stage(), reply.outcome(), reply.status), (stage.name(), outcome.name(), status));
    let id = Uuid::parse_str(reply.header("x-toll-id")).unwrap();
    assert_eq!(id.get_version_num(), 7);
    assert_eq!(reply.header("via"), "1.1 toll");
    if outcome.status() >= 400 {
        assert_problem(reply, ending);
    }
}

/// RFC 9457.
fn assert_problem(reply: &Reply, Ending { stage, outcome, status, .. }: Ending) {
    assert_eq!(reply.header("content-type"), "application/problem+json");
    let problem = reply.json();
    for (member, expected) in [
        ("type", Value::from(format!("urn:toll:outcome:{}", outcome.name()))),
        ("title", outcome.title().into()),
        ("status", status.into()),
        ("stage", stage.name().into()),
        ("outcome", outcome.name().into()),
        ("id", reply.header("x-toll-id").into()),
    ] {
        assert_eq!(problem[member], expected, "{member}");
    }
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{problem}");
    match reply.header("retry-after") {
        "" => assert!(problem["retry_after"].is_null() && ![429, 503].contains(&status), "{problem}"),
        seconds => {
            let seconds: u64 = seconds.parse().unwrap();
            assert!(seconds >= 1);
            assert_eq!(problem["retry_after"], seconds);
        }
    }
    let challenge = if status == 401 { "Bearer realm=\"toll\"" } else { "" };
    assert_eq!(reply.header("www-authenticate"), challenge);
}

/// Waits until the books are closed; then exactly one request has ended so in log, rollups and funnel.
pub async fn in_the_books(db: &PgPool, arrived: impl Fn() -> u64, ending: Ending) -> (Funnel, Row) {
    let Ending { stage, outcome, status, upstream } = ending;
    let funnel = closed_at(db, arrived).await;
    let line = funnel.stage(stage);
    assert_eq!(line.outcomes.get(outcome.name()), Some(&1), "{line:?}");
    assert_eq!(funnel.settled(), funnel.arrived);
    for stage in &funnel.stages {
        assert_eq!(stage.entered - stage.stopped, stage.passed);
    }

    let rows: Vec<(Uuid, String, bool, i16, bool, i16)> = sqlx::query_as(
        "select id, request_id, timed, status, reached, upstream_status from request_log
         where stage = $1 and outcome = $2",
    )
    .bind(stage.code())
    .bind(outcome.code())
    .fetch_all(db)
    .await
    .unwrap();
    let [(id, request_id, timed, said, reached, upstream_said)] = &rows[..] else { panic!("{rows:?}") };
    let expected = (status as i16, upstream.is_some(), upstream.unwrap_or(0) as i16);
    assert_eq!((*said, *reached, *upstream_said), expected, "status, reached and the upstream's status");

    let class = upstream.unwrap_or(status) / 100;
    for table in
        ["rollup", "total"].iter().flat_map(|f| ["minute", "hour", "day"].map(|g| format!("{f}_{g}")))
    {
        let count = format!(
            "select coalesce(sum(requests), 0)::bigint from {table}
             where stage = $1 and outcome = $2 and reached = $3 and status_class = $4 and requests > 0"
        );
        let requests: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(stage.code())
            .bind(outcome.code())
            .bind(upstream.is_some())
            .bind(class as i16)
            .fetch_one(db)
            .await
            .unwrap();
        assert_eq!(requests, 1, "{table}");
    }
    (funnel, Row { id: *id, request_id: request_id.clone(), timed: *timed })
}
