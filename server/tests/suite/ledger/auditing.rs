//! The audit finds what does not agree, and says where.

use std::collections::BTreeMap;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use sqlx::AssertSqlSafe;
use toll::cli::audit::{AuditArgs, run};
use toll::cli::window::WindowArgs;

use super::{Books, end, flush, forward, start};

/// Six requests in the books of one node.
async fn six() -> Books {
    let books = Books::new().await;
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    for n in 0..6 {
        let mut entry = ledger.lane(0).arrive().unwrap();
        if n < 2 { entry.settle(end(Stage::Route, Outcome::NoRoute)) } else { forward(entry) }
    }
    flush(&ledger).await;
    books.assert_closed(6).await;
    books
}

async fn exit(books: &Books) -> String {
    let last = WindowArgs { last: Some(time::Duration::HOUR), ..WindowArgs::default() };
    let args = AuditArgs { window: last, json: false };
    format!("{:?}", run(args, &books.db.pool).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn books_that_agree_exit_0_and_those_that_do_not_exit_1() {
    let books = six().await;
    assert_eq!(exit(&books).await, format!("{:?}", std::process::ExitCode::SUCCESS));
    sqlx::query("update door_minute set arrived = arrived + 1").execute(&books.db.pool).await.unwrap();
    assert_eq!(exit(&books).await, format!("{:?}", std::process::ExitCode::FAILURE));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_counts_is_caught_when_it_lies() {
    let lies = [
        ("update door_minute set arrived = arrived + 1", "minute", ("door", 7)),
        ("update total_minute set requests = requests + 1 where outcome = 1", "minute", ("totals", 7)),
        ("update rollup_minute set requests = requests - 1 where outcome = 1", "minute", ("rollups", 5)),
        ("update ends_minute set at_route = at_route + 2", "minute", ("ends", 8)),
        ("delete from request_log where seq = 1", "minute", ("log", 5)),
    ];
    for (lie, grain, (counter, says)) in lies {
        let books = six().await;
        sqlx::query(lie).execute(&books.db.pool).await.unwrap();
        let audit = books.audit().await;
        assert!(!audit.agrees, "{lie}");
        let found = audit.differences.iter().find(|d| d.grain == grain && d.outcome.is_none()).unwrap();
        let mut counts =
            BTreeMap::from([("door", 6), ("totals", 6), ("rollups", 6), ("ends", 6), ("log", 6)]);
        counts.insert(counter, says);
        assert_eq!(found.counts, counts, "{lie}");
        assert_eq!(found.host, "here");
        let (node, minute): (uuid::Uuid, time::OffsetDateTime) =
            sqlx::query_as("select identity, door_minute.at from node, door_minute")
                .fetch_one(&books.db.pool)
                .await
                .unwrap();
        assert_eq!((found.node, found.at), (node, minute));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_a_wrong_outcome_is_caught_though_the_sums_agree() {
    let books = six().await;
    sqlx::query("update request_log set outcome = 2 where seq = 1").execute(&books.db.pool).await.unwrap();
    let audit = books.audit().await;
    let named: Vec<_> = audit.differences.iter().map(|d| (d.stage, d.outcome, d.counts["log"])).collect();
    assert_eq!(named, [(Some("route"), Some("no_route"), 1), (Some("route"), Some("route_off"), 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partners_request_under_a_wrong_stage_is_caught_though_the_sums_agree() {
    let lies = [
        ("at_route = at_route - 1, at_key = at_key + 1", vec![(Some("route"), None), (Some("key"), None)]),
        (
            "at_route = at_route - 1, reached = reached + 1",
            vec![(Some("route"), None), (Some("proxy"), None)],
        ),
        ("early = early + 1", vec![(Some("quota"), Some("quota_early_retry"))]),
    ];
    for (lie, caught) in lies {
        let books = six().await;
        let lie = format!("update ends_minute set {lie}");
        sqlx::query(AssertSqlSafe(lie.as_str())).execute(&books.db.pool).await.unwrap();
        let audit = books.audit().await;
        let named: Vec<_> = audit.differences.iter().map(|d| (d.stage, d.outcome)).collect();
        assert_eq!(named, caught, "{lie}");
        assert!(audit.differences.iter().all(|d| d.counts["ends"] != d.counts["totals"]), "{lie}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hours_and_days_are_held_against_their_minutes() {
    for grain in ["hour", "day"] {
        for family in ["door", "total", "rollup", "ends"] {
            let books = six().await;
            // The window reaches to tomorrow; make the day whole by moving everything to yesterday.
            for table in ["door", "total", "rollup", "ends"] {
                for grain in ["minute", "hour", "day"] {
                    let back = format!("update {table}_{grain} set at = at - interval '2 days'");
                    sqlx::query(AssertSqlSafe(back)).execute(&books.db.pool).await.unwrap();
                }
            }
            sqlx::query("update request_log set at = at - interval '2 days'")
                .execute(&books.db.pool)
                .await
                .unwrap();
            let now = time::OffsetDateTime::now_utc();
            let window = app::domain::window::Window::new(now - time::Duration::days(4), now).unwrap();
            let agrees = app::books::audit::audit(&books.db.pool, window).await.unwrap();
            assert!(agrees.agrees, "{:?}", agrees.differences);
            let column = match family {
                "door" => "arrived",
                "ends" => "reached",
                _ => "requests",
            };
            let lie = format!("update {family}_{grain} set {column} = {column} + 1");
            sqlx::query(AssertSqlSafe(lie)).execute(&books.db.pool).await.unwrap();
            let audit = app::books::audit::audit(&books.db.pool, window).await.unwrap();
            let grains: Vec<_> = audit.differences.iter().map(|d| d.grain).collect();
            assert_eq!(grains, [grain], "{family} {:?}", audit.differences);
        }
    }
}
